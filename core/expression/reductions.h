#pragma once

#include "core/expression/promotion.h"

namespace sonde::expression {

enum class Reduction : std::uint8_t { Mean, Std, Var, Min, Max, Sum, Prod, Any, All, Median, Norm };

/// Of all elements (axis None), or along one axis or several; `keepdims` is true or not (None). Floats are summed in
/// float64 and rounded to their dtype, integers wrap in int64 or uint64, NaN goes through. An array of rank 0 where no
/// axis is left. Throws Problem: no such axis; min and max of nothing.
tensor::Tensor reduced(Workspace& workspace, Reduction reduction, const tensor::Value& a, const tensor::Value& axis,
                       const tensor::Value& keepdims);
/// The index of the first smallest or largest element, NaN before all others, along an axis or in all elements; int64.
tensor::Tensor extremeIndex(Workspace& workspace, bool isMax, const tensor::Value& a, const tensor::Value& axis);
/// Reordered axes; None reverses them.
tensor::Tensor transposed(Workspace& workspace, const tensor::Value& a, const tensor::Value& axes);

}  // namespace sonde::expression
