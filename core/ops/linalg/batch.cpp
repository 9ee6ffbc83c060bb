#include "core/ops/linalg/batch.h"

#include <algorithm>
#include <limits>

namespace sonde::ops::linalg {

namespace {

/// Sizes below which several matrices are one piece of work.
constexpr std::int64_t kElementsPerPiece = 2048;

void conjugate(Tensor& x) {
    dispatch(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!std::is_same_v<T, Real<T>>) {
            for (T& z : x.mutableSpan<T>()) z = std::conj(z);
        }
    });
}

/// A contiguous copy.
Tensor copied(Eager& e, const Tensor& x) {
    Tensor packed = e.get(x.contiguous());
    return packed.storage() == x.storage() ? e.get(packed.clone()) : packed;
}

}  // namespace

Shape batchOf(const Shape& shape, std::size_t kept) {
    return Shape(std::vector<std::int64_t>(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(kept)));
}

Shape joined(Shape batch, std::initializer_list<std::int64_t> last) {
    for (std::int64_t dim : last) batch.push_back(dim);
    return batch;
}

DType realOf(DType dtype) {
    return dtype == DType::Complex64 ? DType::Float32 : dtype == DType::Complex128 ? DType::Float64 : dtype;
}

DType complexOf(DType dtype) {
    return dtype == DType::Float32 ? DType::Complex64 : dtype == DType::Float64 ? DType::Complex128 : dtype;
}

Batch Batch::of(Eager& e, const Tensor& x, const Shape& batch, Transform transform) {
    const std::size_t rank = x.rank();
    const std::int64_t m = x.dim(rank - 2), n = x.dim(rank - 1);
    const Tensor repeated = e.get(x.expanded(joined(batch, {m, n})));
    const std::size_t last = repeated.rank() - 1;
    Batch made;
    made.m_columns = copied(e, transform == Transform::None ? repeated.transposed(last - 1, last) : repeated);
    made.m_rows = transform == Transform::None ? m : n;
    made.m_cols = transform == Transform::None ? n : m;
    made.m_count = batch.numel();
    if (transform == Transform::Adjoint) conjugate(made.m_columns);
    return made;
}

Batch Batch::zeros(Eager& e, DType dtype, const Shape& batch, std::int64_t rows, std::int64_t cols, bool eye) {
    Batch made;
    made.m_columns = e.get(Tensor::zeros(dtype, joined(batch, {cols, rows})));
    made.m_rows = rows;
    made.m_cols = cols;
    made.m_count = batch.numel();
    if (!eye) return made;
    dispatch(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < made.m_count; ++i) {
            const Matrix<T> matrix = made.at<T>(i);
            for (std::int64_t k = 0; k < std::min(rows, cols); ++k) matrix(k, k) = T(1);
        }
    });
    return made;
}

Tensor Batch::tensor(Eager& e, Transform transform) const {
    const std::size_t last = m_columns.rank() - 1;
    if (transform == Transform::None) return copied(e, m_columns.transposed(last - 1, last));
    Tensor result = copied(e, m_columns);
    if (transform == Transform::Adjoint) conjugate(result);
    return result;
}

void forEachMatrix(Eager& e, const Batch& batch, const std::function<void(std::int64_t)>& body) {
    const std::int64_t elements = std::max<std::int64_t>(batch.rows() * batch.cols(), 1);
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(kElementsPerPiece / elements, 1));
    KernelContext& context = e.context();
    context.pool().parallelFor(static_cast<std::size_t>(batch.count()), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && !context.cancelled(); ++i) body(static_cast<std::int64_t>(i));
    });
    if (context.cancelled()) e.fail(base::cancelled());
}

double defaultTolerance(const Tensor& x) {
    const double epsilon = realOf(x.dtype()) == DType::Float32 ? std::numeric_limits<float>::epsilon()
                                                               : std::numeric_limits<double>::epsilon();
    return epsilon * static_cast<double>(std::max(x.dim(x.rank() - 2), x.dim(x.rank() - 1)));
}

Tensor zeros(Eager& e, DType dtype, const Shape& batch, std::initializer_list<std::int64_t> last) {
    return e.get(Tensor::zeros(dtype, joined(batch, last)));
}

Tensor nothing(Eager& e, DType dtype) { return zeros(e, dtype, Shape{0}); }

}  // namespace sonde::ops::linalg
