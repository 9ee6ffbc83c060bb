#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/tensor/tensor.h"

namespace sonde::tensor {

/// A two-dimensional view of a tensor: x [d0, …, dn] -> [d_rowAxis, d_columnAxis], every other axis at index[axis].
/// An axis of -1 gives the plane a single row or a single column, so that vectors and scalars are planes too.
/// No element is copied. The axes differ and lie inside the rank, `index` has an entry for each axis, and those of
/// selected axes lie inside their dim sizes (asserts); if a selected axis is empty, so is the plane: [0, 0].
Tensor plane(const Tensor& tensor, int rowAxis, int columnAxis, std::span<const std::int64_t> index);

/// Reads element (row, column) of a plane as Tensor::toDouble does, quickly enough to be asked once for each pixel.
/// Keeps the plane's storage alive; thread-safe; the caller stays inside the dim sizes.
std::function<double(std::int64_t row, std::int64_t column)> planeReader(const Tensor& plane);

}  // namespace sonde::tensor
