#pragma once

#include <string>
#include <string_view>

#include "core/ops/support/eager.h"

// What torch.linalg asks of its arguments, in its words. `api` is the name in front of a message: "linalg.inv".

namespace sonde::ops::linalg {

/// "Float", "ComplexDouble", "Long": c10::toString.
std::string scalarTypeName(DType dtype);

/// "[2, 3]": a shape as torch's messages have it.
std::string sizesText(const Shape& shape);

/// At least two dimensions.
void requireMatrices(Eager& e, const Tensor& x, std::string_view api, std::string_view name = "A");
void requireSquare(Eager& e, const Tensor& x, std::string_view api);
/// float32, float64 or complex.
void requireFloating(Eager& e, const Tensor& x, std::string_view api);
void requireSameDType(Eager& e, const Tensor& a, const Tensor& b, std::string_view api, std::string_view first = "A",
                      std::string_view second = "B");
/// Square matrices of floating point: what most decompositions take.
void requireSquareFloating(Eager& e, const Tensor& x, std::string_view api);
/// A·X = B or X·A = B for square A: the sizes go together.
void requireSolvable(Eager& e, const Tensor& a, const Tensor& b, bool left, std::string_view api);
/// The older solvers: as many rows in B as in A.
void requireSameSize(Eager& e, const Tensor& a, const Tensor& b, std::string_view api);
/// All from 1 to `rows`; `message` if one is not.
void requirePivots(Eager& e, const Tensor& pivots, std::int64_t rows, std::string_view message);

/// The batch dimensions that both have after broadcasting.
Shape commonBatch(Eager& e, const Tensor& a, const Tensor& b);

/// Fails by the first entry of `info`, one for each matrix, that is not 0.
void checkInfo(Eager& e, const Tensor& info, std::string_view api);

}  // namespace sonde::ops::linalg
