#include "core/expression/reductions.h"

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/expression/elementwise.h"
#include "core/expression/indexing.h"
#include "core/tensor/dispatch.h"

namespace sonde::expression {

namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

/// Each row is reduced to one element.
template <typename T>
using Rows = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <typename T>
using Column = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

/// An array with the axes that are reduced behind the others.
struct Arranged {
    Tensor tensor;  ///< contiguous
    Shape result;   ///< with dims of 1 for the reduced ones if they are kept
    std::int64_t rows = 1, columns = 1;
};

Arranged arranged(Workspace& workspace, const Tensor& a, const Value& axis, bool keeps) {
    std::vector<bool> isReduced(a.rank(), axis.isNone());
    if (!axis.isNone())
        for (const std::size_t each : axesFrom(axis, a.rank())) isReduced[each] = true;
    Arranged all;
    std::vector<std::size_t> order, behind;
    for (std::size_t i = 0; i < a.rank(); ++i) {
        if (!isReduced[i]) {
            order.push_back(i);
            all.rows *= a.dim(i);
        } else {
            behind.push_back(i);
            all.columns *= a.dim(i);
        }
        if (!isReduced[i] || keeps) all.result.push_back(isReduced[i] ? 1 : a.dim(i));
    }
    order.insert(order.end(), behind.begin(), behind.end());
    all.tensor = workspace.contiguous(a.permuted(order));
    return all;
}

template <typename T>
T medianOf(const T* row, std::int64_t count) {
    std::vector<T> sorted(row, row + count);
    const bool hasNan = std::ranges::any_of(sorted, [](T x) { return x != x; });
    if (sorted.empty() || hasNan) return std::numeric_limits<T>::quiet_NaN();
    const auto middle = sorted.begin() + count / 2;
    std::ranges::nth_element(sorted, middle);
    if (count % 2 != 0) return *middle;
    return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

/// Statistics of floats, and of bools as 0 and 1; the result is float64.
template <typename T>
void reduceFloats(Reduction reduction, const Rows<T>& rows, Column<double> out) {
    const auto count = static_cast<double>(rows.cols());
    const auto& wide = rows.template cast<double>();
    switch (reduction) {
        case Reduction::Sum: out = wide.rowwise().sum(); return;
        case Reduction::Prod: out = wide.rowwise().prod(); return;
        case Reduction::Mean: out = wide.rowwise().sum() / count; return;
        case Reduction::Norm: out = wide.square().rowwise().sum().sqrt(); return;
        case Reduction::Median:
            if constexpr (std::is_floating_point_v<T>)
                for (Eigen::Index i = 0; i < rows.rows(); ++i)
                    out[i] = static_cast<double>(medianOf(rows.data() + i * rows.cols(), rows.cols()));
            return;
        default: {
            const Eigen::ArrayXd means = wide.rowwise().sum() / count;
            out = (wide.colwise() - means).square().rowwise().sum() / count;
            if (reduction == Reduction::Std) out = out.sqrt();
        }
    }
}

/// The smallest or largest element of each row; NaN goes through.
template <typename T>
void reduceExtremes(bool isMax, const Rows<T>& rows, Column<T> out) {
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        const auto row = rows.row(i);
        out[i] = isMax ? row.template maxCoeff<Eigen::PropagateNaN>() : row.template minCoeff<Eigen::PropagateNaN>();
    }
}

/// What elements are compared in.
DType orderedType(DType dtype) {
    if (dtype == DType::Float16) return DType::Float32;
    return dtype == DType::Bool ? DType::UInt8 : dtype;
}

Tensor extremes(Workspace& workspace, bool isMax, const Arranged& all) {
    if (all.columns == 0) throw Problem{"there are no elements"};
    const DType dtype = all.tensor.dtype();
    const Tensor x = workspace.cast(all.tensor, orderedType(dtype));
    Tensor result = workspace.allocate(x.dtype(), all.result);
    tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_arithmetic_v<T>)
            reduceExtremes<T>(isMax, Rows<T>(x.data<T>(), all.rows, all.columns),
                              Column<T>(result.mutableData<T>(), all.rows));
    });
    return workspace.cast(result, dtype);
}

/// Sums and products of integers and bools wrap in 64 bits.
Tensor integerSum(Workspace& workspace, bool isProduct, const Arranged& all) {
    const bool isSigned = all.tensor.dtype() == DType::Bool || tensor::isSigned(all.tensor.dtype());
    Tensor result = workspace.allocate(isSigned ? DType::Int64 : DType::UInt64, all.result);
    Column<std::uint64_t> out(result.mutableData<std::uint64_t>(), all.rows);
    const auto compute = [&](auto tag) {
        using T = typename decltype(tag)::type;
        const Rows<T> rows(all.tensor.data<T>(), all.rows, all.columns);
        if (isProduct) out = rows.template cast<std::uint64_t>().rowwise().prod();
        else out = rows.template cast<std::uint64_t>().rowwise().sum();
    };
    if (all.tensor.dtype() == DType::Bool) compute(tensor::TypeTag<std::uint8_t>{});
    else tensor::dispatchIntegers(all.tensor.dtype(), compute);
    return result;
}

Tensor anyOrAll(Workspace& workspace, bool isAll, const Arranged& all) {
    const Tensor x = workspace.cast(all.tensor, DType::Bool);
    Tensor result = workspace.allocate(DType::Bool, all.result);
    const Rows<bool> rows(x.data<bool>(), all.rows, all.columns);
    Column<bool> out(result.mutableData<bool>(), all.rows);
    if (isAll) out = rows.rowwise().all();
    else out = rows.rowwise().any();
    return result;
}

Tensor statistics(Workspace& workspace, Reduction reduction, const Arranged& all) {
    const DType dtype = all.tensor.dtype();
    Tensor result = workspace.allocate(DType::Float64, all.result);
    const Column<double> out(result.mutableData<double>(), all.rows);
    const auto compute = [&](auto tag, const Tensor& x) {
        using T = typename decltype(tag)::type;
        reduceFloats<T>(reduction, Rows<T>(x.data<T>(), all.rows, all.columns), out);
    };
    if (dtype == DType::Bool && reduction != Reduction::Median) compute(tensor::TypeTag<std::uint8_t>{}, all.tensor);
    else if (dtype == DType::Float32) compute(tensor::TypeTag<float>{}, all.tensor);
    else if (dtype == DType::Float16) compute(tensor::TypeTag<float>{}, workspace.cast(all.tensor, DType::Float32));
    else compute(tensor::TypeTag<double>{}, workspace.cast(all.tensor, DType::Float64));
    return workspace.cast(result, tensor::isFloating(dtype) ? dtype : DType::Float64);
}

/// Of a row without elements there is none.
template <typename T>
std::int64_t extremePosition(bool isMax, const T* row, std::int64_t count) {
    std::int64_t best = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (row[i] != row[i]) return i;
        if (isMax ? row[i] > row[best] : row[i] < row[best]) best = i;
    }
    return best;
}

}  // namespace

Tensor reduced(Workspace& workspace, Reduction reduction, const Value& a, const Value& axis, const Value& keepdims) {
    const Arranged all = arranged(workspace, arrayOf(workspace, a), axis, truth(keepdims));
    const bool isFloat = tensor::isFloating(all.tensor.dtype());
    switch (reduction) {
        case Reduction::Min:
        case Reduction::Max: return extremes(workspace, reduction == Reduction::Max, all);
        case Reduction::Any:
        case Reduction::All: return anyOrAll(workspace, reduction == Reduction::All, all);
        case Reduction::Sum:
        case Reduction::Prod:
            if (!isFloat) return integerSum(workspace, reduction == Reduction::Prod, all);
            break;
        default: break;
    }
    return statistics(workspace, reduction, all);
}

Tensor extremeIndex(Workspace& workspace, bool isMax, const Value& a, const Value& axis) {
    const Tensor array = arrayOf(workspace, a);
    const Arranged all =
        arranged(workspace, array, axis.isNone() ? axis : Value::ofInt(integerFrom(axis, "an axis")), false);
    if (all.columns == 0) throw Problem{"there are no elements"};
    const DType dtype = all.tensor.dtype();
    const Tensor x = workspace.cast(all.tensor, orderedType(dtype));
    Tensor result = workspace.allocate(DType::Int64, all.result);
    tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_arithmetic_v<T>)
            for (std::int64_t i = 0; i < all.rows; ++i)
                result.mutableData<std::int64_t>()[i] =
                    extremePosition(isMax, x.data<T>() + i * all.columns, all.columns);
    });
    return result;
}

Tensor transposed(Workspace& workspace, const Value& a, const Value& axes) {
    const Tensor array = arrayOf(workspace, a);
    std::vector<std::size_t> order(array.rank());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    if (!axes.isNone()) order = axesFrom(axes, array.rank());
    if (order.size() != array.rank())
        throw Problem{"transpose needs " + std::to_string(array.rank()) + " axes, not " + std::to_string(order.size())};
    return array.permuted(order);
}

}  // namespace sonde::expression
