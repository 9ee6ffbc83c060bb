#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/count_text.h"

namespace sonde::base {

/// A count with what is counted: "1 operation", "1,200 operations". `unit` has a plural with "s".
inline std::string countedText(std::int64_t count, std::string_view unit) {
    return countText(count) + " " + std::string(unit) + (count == 1 ? "" : "s");
}

}  // namespace sonde::base
