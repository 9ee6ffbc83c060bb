#pragma once

#include <span>
#include <vector>

#include "core/expression/promotion.h"

namespace sonde::expression {

/// What is inside the brackets of an index, computed.
struct IndexItem {
    enum class Kind : std::uint8_t { Value, Slice, Ellipsis };
    Kind kind = Kind::Value;
    tensor::Value value;                   ///< an int; None: a new axis; an array of ints or bools
    tensor::Value start, stop, step = {};  ///< of a Slice
};

/// x[items] as numpy has it, for arrays, and as Python has it, for lists and tuples. At most one item is an array, and
/// then there are no ints. Throws Problem: out of bounds, too many items.
tensor::Value indexed(Workspace& workspace, const tensor::Value& value, std::span<const IndexItem> items);

/// An int of Python or an array of one integer. Throws Problem: "WHAT must be an integer".
std::int64_t integerFrom(const tensor::Value& value, std::string_view what);
/// One integer or a list of them, as axes of an array. Throws Problem: not an axis, given twice.
std::vector<std::size_t> axesFrom(const tensor::Value& value, std::size_t rank);

}  // namespace sonde::expression
