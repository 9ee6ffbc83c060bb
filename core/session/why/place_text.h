#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::session::why {

/// NODE[INDEX] as it is written: `out[0, 283]`, with the name in backticks if it has a bracket or a blank.
struct PlaceText {
    std::string node;
    std::vector<std::int64_t> index;
    bool hasBrackets = false;
    std::size_t indexColumn = 1;  ///< of what is inside the brackets, in code points from 1
    std::string_view rest = {};   ///< what follows
    std::size_t restColumn = 1;
};

/// What is wrong with a text, and where: columns are code points from 1.
struct PlaceProblem {
    base::Error error;
    std::size_t column = 1;
};

/// Reads the beginning of a text as a place. Without brackets the index is empty.
std::optional<PlaceText> readPlace(std::string_view text, PlaceProblem& problem);

}  // namespace sonde::session::why
