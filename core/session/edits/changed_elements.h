#pragma once

#include "core/session/edits/edit.h"
#include "core/tensor/value.h"

namespace sonde::session {

/// Elements broadcast to a shape and converted to a dtype. Errors (Usage): the shapes do not go together; a number that
/// the dtype does not hold (floats are rounded), with its index.
base::Result<tensor::Tensor> fittingElements(const tensor::Tensor& elements, tensor::DType dtype,
                                             const tensor::Shape& shape);

/// What a Zero, Noise, Scale, Swap or Remove makes of contiguous elements, which it may write to. Computed in the
/// dtype; in float for those that are narrower. Errors (Usage): no such axis or index; a factor that integers do not
/// hold; a dtype without arithmetic.
base::Result<tensor::Tensor> changedElements(const Edit& edit, tensor::Tensor elements);

/// One element as an int, float or bool like `value`. Error (Usage): there are more, or it is none.
base::Result<tensor::Value> changedNumber(const tensor::Value& value, const tensor::Tensor& element);

}  // namespace sonde::session
