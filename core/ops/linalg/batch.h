#pragma once

#include <complex>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/support/eager.h"
#include "core/tensor/dispatch.h"

// Between tensors and the decompositions: the matrices of a tensor [..., rows, cols] as columns, loops over them, and
// the names of their dimensions.

namespace sonde::ops::linalg {

using tensor::dtypeOf;

/// The dimensions in front of the last `kept`.
Shape batchOf(const Shape& shape, std::size_t kept = 2);
Shape joined(Shape batch, std::initializer_list<std::int64_t> last);
DType realOf(DType dtype);     ///< float32 of complex64; others stay
DType complexOf(DType dtype);  ///< complex64 of float32; complex numbers stay

/// The matrices of a tensor, stored by columns one behind the other.
class Batch {
  public:
    /// Copies of the matrices of x [..., m, n], transposed if asked for; repeated along `batch` by broadcasting. They
    /// may be written.
    static Batch of(Eager& e, const Tensor& x, const Shape& batch, Transform transform = Transform::None);
    static Batch of(Eager& e, const Tensor& x, Transform transform = Transform::None) {
        return of(e, x, batchOf(x.shape()), transform);
    }
    /// `eye`: ones on the diagonal.
    static Batch zeros(Eager& e, DType dtype, const Shape& batch, std::int64_t rows, std::int64_t cols,
                       bool eye = false);

    std::int64_t count() const { return m_count; }
    std::int64_t rows() const { return m_rows; }
    std::int64_t cols() const { return m_cols; }
    DType dtype() const { return m_columns.dtype(); }
    template <typename T>
    Matrix<T> at(std::int64_t index) {
        return {m_columns.mutableData<T>() + index * m_rows * m_cols, m_rows, m_cols};
    }
    /// The matrices as a contiguous tensor [..., rows, cols], or transposed. This batch keeps its own.
    Tensor tensor(Eager& e, Transform transform = Transform::None) const;

  private:
    Tensor m_columns;  ///< [..., cols, rows], contiguous
    std::int64_t m_count = 0, m_rows = 0, m_cols = 0;
};

/// The same number of items for each matrix: pivots, singular values, or one number (count 1).
template <typename T>
T* itemsOf(Tensor& tensor, std::int64_t index, std::int64_t count) {
    return tensor.mutableData<T>() + index * count;
}

/// Calls body(i) for each matrix, on the run's threads. Between two of them it asks whether the run was cancelled, and
/// fails if so.
void forEachMatrix(Eager& e, const Batch& batch, const std::function<void(std::int64_t)>& body);

/// Calls f with the tag of one of the four element types of linear algebra; the dtype was checked before.
template <typename F>
void dispatch(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Float32: f(tensor::TypeTag<float>{}); break;
        case DType::Float64: f(tensor::TypeTag<double>{}); break;
        case DType::Complex64: f(tensor::TypeTag<std::complex<float>>{}); break;
        case DType::Complex128: f(tensor::TypeTag<std::complex<double>>{}); break;
        default: break;
    }
}

/// eps · max(m, n) of matrices m × n: singular values below this times the largest count as zero.
double defaultTolerance(const Tensor& x);

/// Zeros of another dtype, one for each matrix or `last` of them.
Tensor zeros(Eager& e, DType dtype, const Shape& batch, std::initializer_list<std::int64_t> last = {});
/// An output that is not computed: one dimension of 0.
Tensor nothing(Eager& e, DType dtype);

}  // namespace sonde::ops::linalg
