// x[index] = value as a value: what comes out is x but there. x itself stays what it is.

#include <algorithm>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/prim_row.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/views.h"
#include "core/tensor/casting.h"

namespace sonde::ops {

namespace {

base::Result<Tensor> partOf(KernelContext& context, const Tensor& x, const Value& index) {
    SONDE_ASSIGN(auto part, invoke(context, "prim", "getitem", {Value(x), index}));
    return part.front().tensor();
}

/// Only numbers, slices, None and `...`: the part is a view.
bool isView(const Value& index) {
    if (index.kind() == ValueKind::Tuple) return std::ranges::all_of(index.items(), isView);
    if (index.isTensor()) return index.tensor().rank() == 0 && index.tensor().dtype() != DType::Bool;
    return index.isNone() || (index.isNumber() && index.kind() != ValueKind::Bool) || index.kind() == ValueKind::Object;
}

/// The value in x's dtype, laid out as the part. As in an assignment, dimensions of 1 in front are dropped.
base::Result<Tensor> fitted(const Value& value, DType dtype, const Shape& part) {
    SONDE_ASSIGN(Tensor source, asTensor(value, dtype));
    if (source.rank() > part.rank()) {
        const std::vector<std::int64_t> dims = source.shape().dims();
        const std::size_t extra = dims.size() - part.rank();
        if (std::ranges::all_of(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(extra),
                                [](std::int64_t dim) { return dim == 1; })) {
            SONDE_ASSIGN(source, source.reshaped(Shape(std::vector<std::int64_t>(
                                     dims.begin() + static_cast<std::ptrdiff_t>(extra), dims.end()))));
        }
    }
    auto wide = source.expanded(part);
    if (!wide) return opError("a value " + value.typeText() + " does not match a part of shape " + part.text());
    return *wide;
}

base::Result<Tensor> assigned(KernelContext& context, const Tensor& x, const Value& index, const Value& value) {
    SONDE_ASSIGN(Tensor result, x.clone());
    if (isView(index)) {
        SONDE_ASSIGN(const Tensor part, partOf(context, result, index));
        SONDE_ASSIGN(const Tensor source, fitted(value, x.dtype(), part.shape()));
        kernels::copyInto(context.pool(), source, part);
        return result;
    }
    // Any other index says by itself which elements it means, if it is applied to their numbers.
    SONDE_ASSIGN(Tensor numbers, context.scratch(DType::Int64, x.shape()));
    std::iota(numbers.mutableData<std::int64_t>(), numbers.mutableData<std::int64_t>() + numbers.numel(), 0);
    SONDE_ASSIGN(const Tensor part, partOf(context, numbers, index));
    SONDE_ASSIGN(const Tensor places, part.contiguous());
    SONDE_ASSIGN(const Tensor wide, fitted(value, x.dtype(), places.shape()));
    SONDE_ASSIGN(const Tensor source, wide.contiguous());
    const std::size_t bytes = tensor::itemSize(x.dtype());
    for (std::int64_t i = 0; i < places.numel(); ++i) {
        std::copy_n(source.bytes() + static_cast<std::size_t>(i) * bytes, bytes,
                    result.mutableBytes() + static_cast<std::size_t>(places.data<std::int64_t>()[i]) * bytes);
    }
    return result;
}

base::Result<void> setItem(KernelContext& context) {
    const Value& x = context.value("self");
    if (x.isTensor()) {
        SONDE_ASSIGN(Tensor result, assigned(context, x.tensor(), context.value("index"), context.value("value")));
        context.setOutput(Value(std::move(result)));
        return {};
    }
    if (x.kind() != ValueKind::List && x.kind() != ValueKind::Tuple)
        return opError(x.typeText() + " has no items that can be set");
    SONDE_ASSIGN(const std::int64_t at, indexOf(context.value("index")));
    tensor::ValueList items = x.items();
    const auto size = static_cast<std::int64_t>(items.size());
    if (at < -size || at >= size)
        return opError("index " + std::to_string(at) + " is out of range for " + std::to_string(size) + " elements");
    items[static_cast<std::size_t>(at < 0 ? at + size : at)] = context.value("value");
    context.setOutput(x.kind() == ValueKind::Tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items)));
    return {};
}

/// What `out=` holds behind the call: the result in out's dtype. (PyTorch gives `out` another shape where it does not
/// fit, and warns; here that is an error.)
base::Result<void> writeOut(KernelContext& context) {
    const Tensor& result = context.in("result");
    const Tensor& out = context.in("out");
    if (result.shape() != out.shape())
        return opError("the result is " + result.typeText() + " and out is " + out.typeText());
    if (!tensor::canCast(result.dtype(), out.dtype())) {
        return opError("result type " + std::string(tensor::name(result.dtype())) +
                       " can't be cast to the desired output type " + std::string(tensor::name(out.dtype())));
    }
    SONDE_ASSIGN(Tensor cast, result.cast(out.dtype()));
    context.setOutput(Value(std::move(cast)));
    return {};
}

base::Result<void> inferWriteOut(InferContext& context) {
    TypeInfo type = context.in("result");
    if (context.in("out").dtype != DType::Undefined) type.dtype = context.in("out").dtype;
    context.set(std::move(type));
    return {};
}

/// x in which functions of one number, (("exp", ()), …), are applied one after the other to the part.
base::Result<void> transformItem(KernelContext& context) {
    if (!context.value("self").isTensor()) return opError("only a tensor's part can be transformed");
    const Value& steps = context.value("transformations");
    if (!steps.isListLike() || steps.items().empty()) return opError("there are no transformations");
    SONDE_ASSIGN(Tensor part, partOf(context, context.in("self"), context.value("index")));
    for (const Value& step : steps.items()) {
        const bool isPair =
            step.isListLike() && step.items().size() == 2 && step.items()[0].kind() == ValueKind::String;
        if (!isPair) return opError("a transformation is a name with its arguments, not " + step.text());
        const std::string& name = step.items()[0].toString();
        if (name != "exp" && name != "sigmoid")
            return opError("the transformation '" + name + "' is not supported; known are exp and sigmoid");
        if (!step.items()[1].isListLike() || !step.items()[1].items().empty())
            return opError("the transformation '" + name + "' takes no arguments");
        SONDE_ASSIGN(const Tensor packed, part.contiguous());
        SONDE_ASSIGN(part, invokeAten(context, name, {Value(packed)}));
    }
    SONDE_ASSIGN(Tensor result, assigned(context, context.in("self"), context.value("index"), Value(part)));
    context.setOutput(Value(std::move(result)));
    return {};
}

}  // namespace

void define_prim_setitem(Registry& registry) {
    registry.add(primRow("setitem(t self, t index, t value) -> t", "x with x[index] = value", Category::Tensor, setItem,
                         inferSame));
    registry.add(primRow("write_out(t result, t out) -> t", "a result in the form that out= requires", Category::Tensor,
                         writeOut, inferWriteOut));
    registry.add(primRow("setitem_with_transformation(t self, t index, t transformations) -> t",
                         "x with functions applied to x[index]", Category::Tensor, transformItem, inferSame));
    explain("prim", "setitem", dependence::moved, "self value");
}

}  // namespace sonde::ops
