#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/session/value_readings/read_value.h"

namespace sonde::session {

/// One way to tell what is in a tensor, as the views of the window show it: here in lines of text.
struct ValueReading {
    std::string_view id;           ///< "attention": the word of commands
    std::string_view description;  ///< what the lines have
    bool (*accepts)(const ReadValue& value);
    base::Result<std::vector<std::string>> (*lines)(const ReadValue& value, const std::stop_token& stop);
};

/// All of them: a row of value_readings.cpp adds one.
const std::vector<ValueReading>& valueReadings();

/// At most this many lines are made of a value, and one that says how many are left out.
inline constexpr std::size_t kMaxReadingLines = 512;

/// The lines of a reading by its id. Blocks, on any thread. Errors (Usage): there is none of that id, or the value has
/// nothing of the kind: the hint names those that it has; Cancelled.
base::Result<std::vector<std::string>> readingLines(const ReadValue& value, std::string_view id,
                                                    const std::stop_token& stop = {});

}  // namespace sonde::session
