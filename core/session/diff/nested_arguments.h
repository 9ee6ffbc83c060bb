#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/graph/argument.h"

namespace sonde::session::diff {

/// What a value in an argument is by itself: the text of a constant, "" of what an operation computes.
using LeafText = std::function<std::string(const graph::Argument&)>;

/// How two arguments differ that hold others, as x[:, 0] and view(x, [n, -1]) have them: "[:, 0] -> [:, -1]"; "" if
/// they do not, or neither holds any. Values that operations compute are compared elsewhere: here only their places
/// count, where both have as many. Of an index (`isIndex`) a part alone is the list of it, full slices behind it say
/// nothing, and "..." is as many of them as the rank of the value says (-1: it is not known).
std::string nestedChange(const graph::Argument& ours, const LeafText& textOfOurs, const graph::Argument& theirs,
                         const LeafText& textOfTheirs, bool isIndex, std::int64_t rank);

}  // namespace sonde::session::diff
