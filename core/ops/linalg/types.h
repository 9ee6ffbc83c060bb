#pragma once

#include <initializer_list>
#include <optional>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::linalg {

/// What inference knows of an input [..., rows, cols].
struct MatrixType {
    Dims batch;
    Dim rows, cols;

    Dim shorter() const { return smaller(tensor::Symbolic::of(rows), tensor::Symbolic::of(cols)).dim(); }
    Dims with(std::initializer_list<Dim> last) const;
};

/// Nothing if the input's rank is not known or below 2 (which the run says).
std::optional<MatrixType> matrixType(const InferContext& context, Name input);
std::optional<MatrixType> matrixType(const TypeInfo& type);

/// Sets an output's type; `dims` may be nothing.
void setType(InferContext& context, std::size_t output, DType dtype, std::optional<Dims> dims);

/// A flag that is known before the run; nothing otherwise.
std::optional<bool> knownFlag(const InferContext& context, Name input);

/// Output 0 is one number of input 0's dtype for each of its matrices.
base::Result<void> inferPerMatrix(InferContext& context);
/// Output 0 is X of A·X = B: B's type with both batches broadcast.
base::Result<void> inferSolution(InferContext& context, Name matrix, Name right);

}  // namespace sonde::ops::linalg
