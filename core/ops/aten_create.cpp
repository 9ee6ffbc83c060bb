// ATen's tensors from nothing, or like another one.

#include <algorithm>
#include <cmath>

#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

base::Result<void> filled(KernelContext& context, DType dtype, const Shape& shape, const Value& number) {
    if (!shape.checkedNumel()) return opError("no tensor has the shape " + shape.text());
    SONDE_ASSIGN(const Tensor scalar, asTensor(number, dtype));
    SONDE_ASSIGN(const Tensor view, scalar.expanded(shape));
    SONDE_ASSIGN(Tensor result, view.clone());
    context.setOutput(0, Value(std::move(result)));
    return {};
}

/// The dtype that an argument asks for, else `fallback`.
base::Result<DType> dtypeOr(const KernelContext& context, std::size_t argument, DType fallback) {
    if (!context.has(argument)) return fallback;
    SONDE_ASSIGN(const std::int64_t number, intOf(context.value(argument)));
    const auto dtype = dtypeFromTorch(number);
    if (!dtype) return opError("there is no element type " + std::to_string(number));
    return *dtype;
}

/// zeros, ones, empty (size, dtype, …)
base::Result<void> ofSize(KernelContext& context, double value) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, 1, DType::Float32));
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value(0)));
    return filled(context, dtype, Shape(size), Value::ofFloat(value));
}

base::Result<void> inferOfSize(InferContext& context) {
    if (context.constant(0).isNone()) return {};
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.constant(0)));
    const Value& dtype = context.constant(1);
    context.set(0, TypeInfo::tensor(dtype.kind() == ValueKind::Int ? dtypeFromTorch(dtype.toInt()).value_or(DType::Undefined) : DType::Float32, Shape(size)));
    return {};
}

DType naturalType(const Value& value) {
    return value.kind() == ValueKind::Int ? DType::Int64 : value.kind() == ValueKind::Bool ? DType::Bool : DType::Float32;
}

base::Result<void> full(KernelContext& context) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, 2, naturalType(context.value(1))));
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value(0)));
    return filled(context, dtype, Shape(size), context.value(1));
}

base::Result<void> like(KernelContext& context, double value) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, 1, context.in(0).dtype()));
    return filled(context, dtype, context.in(0).shape(), Value::ofFloat(value));
}

base::Result<void> fullLike(KernelContext& context) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, 2, context.in(0).dtype()));
    return filled(context, dtype, context.in(0).shape(), context.value(1));
}

base::Result<void> inferLike(InferContext& context) {
    const Value& dtype = context.constant(1);
    context.set(0, TypeInfo::tensor(dtype.kind() == ValueKind::Int ? dtypeFromTorch(dtype.toInt()).value_or(DType::Undefined) : context.in(0).dtype,
                                    context.in(0).shape));
    return {};
}

/// new_zeros, new_full (self, size, …)
base::Result<void> newFilled(KernelContext& context, std::size_t dtypeAt, const Value& number) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, dtypeAt, context.in(0).dtype()));
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value(1)));
    return filled(context, dtype, Shape(size), number);
}

/// start + i step for i = 0 … ceil((end - start) / step) - 1
base::Result<void> arange(KernelContext& context, std::size_t parameters) {
    Value start = Value::ofInt(0);
    Value step = Value::ofInt(1);
    const Value& end = context.value(parameters == 1 ? 0 : 1);
    if (parameters > 1) start = context.value(0);
    if (parameters > 2) step = context.value(2);
    SONDE_ASSIGN(const double first, numberOf(start));
    SONDE_ASSIGN(const double last, numberOf(end));
    SONDE_ASSIGN(const double by, numberOf(step));
    const double count = std::ceil((last - first) / by);
    if (by == 0 || !(count < 1e15)) return opError("arange has no end");
    const bool whole = naturalType(start) == DType::Int64 && naturalType(end) == DType::Int64 && naturalType(step) == DType::Int64;
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, parameters, whole ? DType::Int64 : DType::Float32));
    SONDE_ASSIGN(Tensor values, Tensor::allocate(whole ? DType::Int64 : DType::Float64, {std::max<std::int64_t>(static_cast<std::int64_t>(count), 0)}));
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        if (whole) values.mutableData<std::int64_t>()[i] = static_cast<std::int64_t>(first) + i * static_cast<std::int64_t>(by);
        else values.mutableData<double>()[i] = first + static_cast<double>(i) * by;
    }
    SONDE_ASSIGN(Tensor result, values.cast(dtype));
    context.setOutput(0, Value(std::move(result)));
    return {};
}

/// x where column - row <= diagonal (tril) or >= diagonal (triu), 0 elsewhere; over the last two dimensions.
base::Result<void> triangle(KernelContext& context, bool lower) {
    const Tensor& x = context.in(0);
    if (x.rank() < 2) return opError("a matrix is wanted, not " + x.typeText());
    SONDE_ASSIGN(const std::int64_t diagonal, intOf(context.value(1)));
    SONDE_ASSIGN(Tensor result, x.clone());
    const std::int64_t rows = x.dim(x.rank() - 2);
    const std::int64_t columns = x.dim(x.rank() - 1);
    const std::size_t item = tensor::itemSize(x.dtype());
    for (std::int64_t row = 0; row * columns < result.numel(); ++row) {
        std::byte* line = result.mutableBytes() + static_cast<std::size_t>(row * columns) * item;
        const std::int64_t edge = row % rows + diagonal;  // the last column of the lower part
        const std::int64_t from = std::clamp<std::int64_t>(lower ? edge + 1 : 0, 0, columns);
        const std::int64_t to = std::clamp<std::int64_t>(lower ? columns : edge, 0, columns);
        if (from < to) std::fill(line + static_cast<std::size_t>(from) * item, line + static_cast<std::size_t>(to) * item, std::byte{0});
    }
    context.setOutput(0, Value(std::move(result)));
    return {};
}

/// one_hot(x, classes): 1 at x, 0 elsewhere.
base::Result<void> oneHot(KernelContext& context) {
    const Tensor& x = context.in(0);
    SONDE_ASSIGN(std::int64_t classes, intOf(context.value(1)));
    std::int64_t largest = -1;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        if (x.toInt64(i) < 0) return opError("a class is negative");
        largest = std::max(largest, x.toInt64(i));
    }
    if (classes < 0) classes = largest + 1;
    if (largest >= classes) return opError("class " + std::to_string(largest) + " of " + std::to_string(classes));
    Shape shape = x.shape();
    shape.push_back(classes);
    SONDE_ASSIGN(Tensor result, Tensor::zeros(DType::Int64, shape));
    for (std::int64_t i = 0; i < x.numel(); ++i) result.mutableData<std::int64_t>()[i * classes + x.toInt64(i)] = 1;
    context.setOutput(0, Value(std::move(result)));
    return {};
}

void add(Registry& registry, std::string_view schema, std::string_view summary, std::function<base::Result<void>(KernelContext&)> kernel,
         std::function<base::Result<void>(InferContext&)> infer = {}) {
    OpDef def = atenRow(schema, summary, Category::Data, std::move(kernel), std::move(infer));
    for (Formal& input : def.inputs) input.tensorOnly = false;
    registry.add(std::move(def));
}

}  // namespace

void define_aten_create(Registry& registry) {
    add(registry, "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", "zeros",
        [](KernelContext& c) { return ofSize(c, 0); }, inferOfSize);
    add(registry, "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", "ones",
        [](KernelContext& c) { return ofSize(c, 1); }, inferOfSize);
    add(registry, "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "a new tensor, here zeros", [](KernelContext& c) { return ofSize(c, 0); }, inferOfSize);
    add(registry, "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "one number everywhere", full);
    add(registry, "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "zeros in x's shape", [](KernelContext& c) { return like(c, 0); }, inferLike);
    add(registry, "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "ones in x's shape", [](KernelContext& c) { return like(c, 1); }, inferLike);
    add(registry, "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "a new tensor in x's shape, here zeros", [](KernelContext& c) { return like(c, 0); }, inferLike);
    add(registry, "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "one number in x's shape", fullLike);
    add(registry, "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", "zeros of x's type",
        [](KernelContext& c) { return newFilled(c, 2, Value::ofInt(0)); });
    add(registry, "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", "ones of x's type",
        [](KernelContext& c) { return newFilled(c, 2, Value::ofInt(1)); });
    add(registry, "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "one number of x's type", [](KernelContext& c) { return newFilled(c, 3, c.value(2)); });
    add(registry, "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", "0, 1, 2 …",
        [](KernelContext& c) { return arange(c, 1); });
    add(registry, "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor", "start, start + 1 …",
        [](KernelContext& c) { return arange(c, 2); });
    add(registry, "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "start, start + step …", [](KernelContext& c) { return arange(c, 3); });
    add(registry, "tril(Tensor self, int diagonal=0) -> Tensor", "the lower triangle, 0 elsewhere", [](KernelContext& c) { return triangle(c, true); }, inferSame);
    add(registry, "triu(Tensor self, int diagonal=0) -> Tensor", "the upper triangle, 0 elsewhere", [](KernelContext& c) { return triangle(c, false); }, inferSame);
    add(registry, "one_hot(Tensor self, int num_classes=-1) -> Tensor", "1 at the class, 0 elsewhere", oneHot);
}

}  // namespace sonde::ops
