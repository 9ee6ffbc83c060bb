#include "core/ops/linalg/checks.h"

#include <algorithm>

#include "core/ops/linalg/batch.h"

namespace sonde::ops::linalg {

namespace {

std::string text(std::string_view api, std::string rest) { return std::string(api) + ": " + std::move(rest); }

std::string sizeText(std::int64_t rows, std::int64_t cols, std::string_view by) {
    return std::to_string(rows) + std::string(by) + std::to_string(cols);
}

/// What LAPACK's info above 0 means for a function.
std::string opClass(std::string_view api, std::int32_t info) {
    const std::string number = std::to_string(info);
    const auto isOf = [&](std::string_view name) { return api.find(name) != std::string_view::npos; };
    if (isOf("inv")) {
        return "The diagonal element " + number +
               " is zero, the inversion could not be completed because the input matrix is singular.";
    }
    if (isOf("solve")) return "The solver failed because the input matrix is singular.";
    if (isOf("cholesky")) {
        return "The factorization could not be completed because the input is not positive-definite (the leading minor "
               "of order " +
               number + " is not positive-definite).";
    }
    if (isOf("lu_factor")) {
        return "U[" + number + "," + number +
               "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
               "the "
               "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)";
    }
    if (isOf("lstsq")) {
        return "The least squares solution could not be computed because the input matrix does not have full rank "
               "(error code: " +
               number + ").";
    }
    if (isOf("svd")) return "The algorithm failed to converge because the input matrix contained non-finite values.";
    if (isOf("eigh") || isOf("symeig")) {
        return "The algorithm failed to converge because the input matrix is ill-conditioned, has too many repeated "
               "eigenvalues or "
               "contained non-finite values.";
    }
    if (isOf("eig")) return "The algorithm failed to converge.";
    if (isOf("ldl")) return "D[" + number + "," + number + "] is zero, so ldl_solve would divide by zero.";
    return "error code " + number;
}

}  // namespace

std::string scalarTypeName(DType dtype) {
    switch (dtype) {
        case DType::Float32: return "Float";
        case DType::Float64: return "Double";
        case DType::Complex64: return "ComplexFloat";
        case DType::Complex128: return "ComplexDouble";
        case DType::Float16: return "Half";
        case DType::BFloat16: return "BFloat16";
        case DType::Int64: return "Long";
        case DType::Int32: return "Int";
        case DType::Int16: return "Short";
        case DType::Int8: return "Char";
        case DType::UInt8: return "Byte";
        case DType::Bool: return "Bool";
        default: return std::string(tensor::name(dtype));
    }
}

std::string sizesText(const Shape& shape) {
    std::string text;
    for (std::int64_t dim : shape) text += (text.empty() ? "[" : ", ") + std::to_string(dim);
    return text.empty() ? "[]" : text + "]";
}

void requireMatrices(Eager& e, const Tensor& x, std::string_view api, std::string_view name) {
    if (x.rank() < 2) e.fail(text(api, "The input tensor " + std::string(name) + " must have at least 2 dimensions."));
}

void requireSquare(Eager& e, const Tensor& x, std::string_view api) {
    requireMatrices(e, x, api);
    const std::int64_t m = x.dim(x.rank() - 2), n = x.dim(x.rank() - 1);
    if (m != n)
        e.fail(text(api, "A must be batches of square matrices, but they are " + sizeText(m, n, " by ") + " matrices"));
}

void requireFloating(Eager& e, const Tensor& x, std::string_view api) {
    const DType dtype = x.dtype();
    if (dtype == DType::Float32 || dtype == DType::Float64 || tensor::isComplex(dtype)) return;
    if (tensor::isFloating(dtype)) {
        e.fail(text(api, "Low precision dtypes not supported. Got " + scalarTypeName(dtype)));
    }
    e.fail(text(api, "Expected a floating point or complex tensor as input. Got " + scalarTypeName(dtype)));
}

void requireSameDType(Eager& e, const Tensor& a, const Tensor& b, std::string_view api, std::string_view first,
                      std::string_view second) {
    if (a.dtype() == b.dtype()) return;
    const std::string one(first), other(second);
    e.fail(text(api, "Expected " + one + " and " + other + " to have the same dtype, but found " + one + " of type " +
                         scalarTypeName(a.dtype()) + " and " + other + " of type " + scalarTypeName(b.dtype()) +
                         " instead"));
}

void requireSquareFloating(Eager& e, const Tensor& x, std::string_view api) {
    requireSquare(e, x, api);
    requireFloating(e, x, api);
}

void requireSolvable(Eager& e, const Tensor& a, const Tensor& b, bool left, std::string_view api) {
    requireSquare(e, a, api);
    requireMatrices(e, b, api, "B");
    const std::int64_t n = a.dim(a.rank() - 1), m = b.dim(b.rank() - 2), k = b.dim(b.rank() - 1);
    if (n == (left ? m : k)) return;
    e.fail(text(api, std::string("Incompatible shapes of A and B for the equation ") + (left ? "AX = B" : "XA = B") +
                         " (" + sizeText(n, n, "x") + " and " + sizeText(m, k, "x") + ")"));
}

void requireSameSize(Eager& e, const Tensor& a, const Tensor& b, std::string_view api) {
    const std::int64_t n = a.dim(a.rank() - 1), m = b.dim(b.rank() - 2), k = b.dim(b.rank() - 1);
    if (m == n) return;
    e.fail("Incompatible matrix sizes for " + std::string(api) + ": each A matrix is " + sizeText(n, n, " by ") +
           " but each b matrix is " + sizeText(m, k, " by "));
}

void requirePivots(Eager& e, const Tensor& pivots, std::int64_t rows, std::string_view message) {
    const auto isOutside = [rows](std::int32_t pivot) { return pivot < 1 || pivot > rows; };
    if (std::ranges::any_of(pivots.span<std::int32_t>(), isOutside)) e.fail(std::string(message));
}

Shape commonBatch(Eager& e, const Tensor& a, const Tensor& b) {
    const Shape one = batchOf(a.shape()), other = batchOf(b.shape());
    if (const auto common = tensor::broadcastShapes(one, other)) return *common;
    std::size_t behind = 1;
    const auto dim = [&behind](const Shape& shape) {
        return behind <= shape.rank() ? shape[shape.rank() - behind] : 1;
    };
    while (dim(one) == dim(other) || dim(one) == 1 || dim(other) == 1) ++behind;
    e.fail("The size of tensor a (" + std::to_string(dim(one)) + ") must match the size of tensor b (" +
           std::to_string(dim(other)) + ") at non-singleton dimension " +
           std::to_string(std::max(one.rank(), other.rank()) - behind));
}

void checkInfo(Eager& e, const Tensor& info, std::string_view api) {
    const auto all = info.span<std::int32_t>();
    const auto failed = std::ranges::find_if(all, [](std::int32_t code) { return code != 0; });
    if (failed == all.end()) return;
    const std::string where = info.rank() == 0 ? "" : "(Batch element " + std::to_string(failed - all.begin()) + "): ";
    e.fail(text(api, where + opClass(api, *failed)));
}

}  // namespace sonde::ops::linalg
