#pragma once

#include <vector>

#include "core/tensor/type_info.h"

namespace sonde::analysis {

using Dims = std::vector<tensor::Dim>;

/// Both cannot hold at once.
bool disagree(const tensor::TypeInfo& a, const tensor::TypeInfo& b);

/// What both say together. An inferred expression of the inputs' symbols says more than a declared name, unless it is
/// long.
tensor::TypeInfo merged(const tensor::TypeInfo& declared, const tensor::TypeInfo& inferred);

/// `count` values along a new axis of the result.
tensor::TypeInfo stacked(tensor::TypeInfo element, tensor::Dim count, std::int64_t axis);

tensor::TypeInfo kindOf(tensor::ValueKind kind);

}  // namespace sonde::analysis
