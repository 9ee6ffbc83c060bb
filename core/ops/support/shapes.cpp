#include "core/ops/support/shapes.h"

#include <algorithm>
#include <cmath>

namespace sonde::ops {

base::Error opError(std::string what) { return base::runError(std::move(what)); }

base::Result<std::size_t> axisOf(std::int64_t axis, std::size_t rank) {
    const std::optional<std::size_t> found = tensor::normalizedAxis(axis, rank);
    if (found) return *found;
    return opError("axis " + std::to_string(axis) + " is outside a tensor of " + std::to_string(rank) + " dimensions");
}

base::Result<std::vector<std::size_t>> axesOf(const std::vector<std::int64_t>& axes, std::size_t rank) {
    std::vector<std::size_t> result;
    for (std::int64_t axis : axes) {
        SONDE_ASSIGN(const std::size_t one, axisOf(axis, rank));
        if (std::ranges::find(result, one) != result.end())
            return opError("axis " + std::to_string(axis) + " is given twice");
        result.push_back(one);
    }
    return result;
}

base::Result<std::vector<std::int64_t>> intsOf(const Value& value) {
    std::vector<std::int64_t> result;
    switch (value.kind()) {
        case tensor::ValueKind::Int: result.push_back(value.toInt()); return result;
        case tensor::ValueKind::Bool: result.push_back(value.toBool()); return result;
        case tensor::ValueKind::Tensor: {
            const Tensor& tensor = value.tensor();
            if (tensor.rank() > 1) return opError("expected a list of integers, but found " + tensor.typeText());
            for (std::int64_t i = 0; i < tensor.numel(); ++i) result.push_back(tensor.toInt64(i));
            return result;
        }
        case tensor::ValueKind::List:
        case tensor::ValueKind::Tuple:
            for (const Value& item : value.items()) {
                SONDE_ASSIGN(const std::int64_t one, intOf(item));
                result.push_back(one);
            }
            return result;
        default: return opError("expected integers, but found " + value.typeText());
    }
}

base::Result<std::int64_t> intOf(const Value& value) {
    if (value.kind() == tensor::ValueKind::Int) return value.toInt();
    if (value.isTensor() && value.tensor().numel() == 1) return value.tensor().toInt64(0);
    if (value.isNumber() && std::abs(value.number()) < 0x1p63) return static_cast<std::int64_t>(value.number());
    return opError("expected an integer, but found " + value.typeText());
}

base::Result<double> numberOf(const Value& value) {
    if (value.isNumber()) return value.number();
    if (value.isTensor() && value.tensor().numel() == 1) return value.tensor().toDouble(0);
    return opError("expected a number, but found " + value.typeText());
}

base::Result<Shape> broadcast(const Shape& a, const Shape& b) {
    const std::optional<Shape> shape = tensor::broadcastShapes(a, b);
    if (shape) return *shape;
    return opError("shapes " + a.text() + " and " + b.text() + " cannot be broadcast together");
}

base::Result<Dims> broadcastDims(const Dims& a, const Dims& b) {
    const std::size_t rank = std::max(a.size(), b.size());
    Dims result(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        const tensor::Dim x = i + a.size() < rank ? tensor::Dim::of(1) : a[i + a.size() - rank];
        const tensor::Dim y = i + b.size() < rank ? tensor::Dim::of(1) : b[i + b.size() - rank];
        if (x == y || (y.known() && y.value == 1)) result[i] = x;
        else if (x.known() && x.value == 1) result[i] = y;
        else if (x.known() && y.known())
            return opError("dimensions " + std::to_string(x.value) + " and " + std::to_string(y.value) +
                           " cannot be broadcast together");
        else if (x.known()) result[i] = x;
        else if (y.known()) result[i] = y;
        else result[i] = larger(tensor::Symbolic::of(x), tensor::Symbolic::of(y)).dim();
    }
    return result;
}

std::optional<std::int64_t> knownProduct(const Dims& dims) {
    std::vector<std::int64_t> dimSizes;
    for (const tensor::Dim& dim : dims) {
        if (!dim.known()) return std::nullopt;
        dimSizes.push_back(dim.value);
    }
    return Shape(std::move(dimSizes)).checkedNumel();
}

Dims dimsOf(const Shape& shape) {
    Dims dims;
    for (std::int64_t dimSize : shape) dims.push_back(tensor::Dim::of(dimSize));
    return dims;
}

Dims dimsOf(const Elements& elements) {
    Dims dims;
    for (const tensor::Symbolic& element : elements) dims.push_back(element.dim());
    return dims;
}

std::optional<Dims> unknownDimsFrom(const TypeInfo& request) {
    const std::optional<Shape> count = request.staticShape();
    if (!count || count->rank() != 1 || (*count)[0] >= 64) return std::nullopt;
    return unknownDims(static_cast<std::size_t>((*count)[0]));
}

std::vector<std::int64_t> dimSizesOf(const Dims& dims) {
    std::vector<std::int64_t> dimSizes;
    for (const tensor::Dim& dim : dims) dimSizes.push_back(dim.value);
    return dimSizes;
}

Dims unknownDims(std::size_t rank) { return Dims(rank); }

void setLike(InferContext& context, Name like, std::optional<Dims> shape, std::size_t output) {
    context.set(output, TypeInfo::tensor(context.in(like).dtype, std::move(shape)));
}

base::Result<void> inferSame(InferContext& context) {
    context.set(context.in(kOperand));
    return {};
}

namespace {

base::Result<void> inferBroadcastTo(InferContext& context, DType dtype) {
    std::optional<Dims> shape = Dims{};
    for (std::size_t i = 0; i < context.inputCount() && shape; ++i) {
        const TypeInfo& type = context.in(i);
        if (!type.isTensor() || !type.shape) {
            shape.reset();
            break;
        }
        SONDE_ASSIGN(shape, broadcastDims(*shape, *type.shape));
    }
    context.set(TypeInfo::tensor(dtype, std::move(shape)));
    return {};
}

}  // namespace

base::Result<void> inferBroadcast(InferContext& context) { return inferBroadcastTo(context, context.in(kLeft).dtype); }
base::Result<void> inferBroadcastBool(InferContext& context) { return inferBroadcastTo(context, DType::Bool); }

}  // namespace sonde::ops
