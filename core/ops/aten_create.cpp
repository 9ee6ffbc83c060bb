// ATen's tensors from nothing, or like another one.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

base::Result<void> filled(KernelContext& context, DType dtype, const Shape& shape, const Value& number) {
    if (!shape.checkedNumel()) return opError("no tensor has the shape " + shape.text());
    SONDE_ASSIGN(const Tensor scalar, asTensor(number, dtype));
    SONDE_ASSIGN(const Tensor view, scalar.expanded(shape));
    SONDE_ASSIGN(Tensor result, view.clone());
    context.setOutput(Value(std::move(result)));
    return {};
}

/// The dtype that an argument asks for, else `fallback`.
base::Result<DType> dtypeOr(const KernelContext& context, Name argument, DType fallback) {
    if (!context.has(argument)) return fallback;
    SONDE_ASSIGN(const std::int64_t number, intOf(context.value(argument)));
    const auto dtype = dtypeFromTorch(number);
    if (!dtype) return opError("there is no element type " + std::to_string(number));
    return *dtype;
}

/// zeros, ones, empty (size, dtype, …)
base::Result<void> ofSize(KernelContext& context, double value) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, "dtype", DType::Float32));
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value("size")));
    return filled(context, dtype, Shape(size), Value::ofFloat(value));
}

/// The dtype that an argument names, else the other one.
DType dtypeNamed(const InferContext& context, Name argument, DType otherwise) {
    const Value& dtype = context.constant(argument);
    if (dtype.kind() == ValueKind::Int) return dtypeFromTorch(dtype.toInt()).value_or(DType::Undefined);
    // One that is only known in a run is no default.
    return context.in(argument).kind == ValueKind::None ? otherwise : DType::Undefined;
}

base::Result<void> inferFilled(InferContext& context, Name size, DType dtype) {
    const auto wanted = context.elements(size);
    context.set(TypeInfo::tensor(dtype, wanted ? std::optional(dimsOf(*wanted)) : std::nullopt));
    return {};
}

base::Result<void> inferOfSize(InferContext& context) {
    return inferFilled(context, "size", dtypeNamed(context, "dtype", DType::Float32));
}

/// full(size, number, dtype): of the number's kind.
base::Result<void> inferFull(InferContext& context) {
    const auto kind = context.in("fill_value").kind;
    const DType natural = kind == ValueKind::Int     ? DType::Int64
                          : kind == ValueKind::Bool  ? DType::Bool
                          : kind == ValueKind::Float ? DType::Float32
                                                     : DType::Undefined;
    return inferFilled(context, "size", dtypeNamed(context, "dtype", natural));
}

/// new_zeros, new_full (self, size, …)
base::Result<void> inferNew(InferContext& context) {
    return inferFilled(context, "size", dtypeNamed(context, "dtype", context.in("self").dtype));
}

/// arange(end), (start, end), (start, end, step): ceil((end - start) / step) elements.
base::Result<void> inferArange(InferContext& context) {
    DType natural = DType::Int64;
    for (const char* name : {"start", "end", "step"}) {
        if (!context.has(name)) continue;
        if (context.in(name).kind == ValueKind::Float) natural = DType::Float32;
        else if (context.in(name).kind != ValueKind::Int && natural == DType::Int64) natural = DType::Undefined;
    }
    const auto one = [&](Name name, std::int64_t otherwise) {
        if (!context.has(name)) return tensor::Symbolic::of(otherwise);
        const auto elements = context.elements(name);
        return elements && elements->size() == 1 ? elements->front() : tensor::Symbolic();
    };
    const tensor::Symbolic count = ceilDiv(one("end", 0) - one("start", 0), one("step", 1));
    const auto known = count.constant();
    context.set(TypeInfo::tensor(dtypeNamed(context, "dtype", natural),
                                 Dims{known ? tensor::Dim::of(std::max<std::int64_t>(*known, 0)) : count.dim()}));
    return {};
}

DType naturalType(const Value& value) {
    return value.kind() == ValueKind::Int    ? DType::Int64
           : value.kind() == ValueKind::Bool ? DType::Bool
                                             : DType::Float32;
}

base::Result<void> full(KernelContext& context) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, "dtype", naturalType(context.value("fill_value"))));
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value("size")));
    return filled(context, dtype, Shape(size), context.value("fill_value"));
}

base::Result<void> like(KernelContext& context, double value) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, "dtype", context.in("self").dtype()));
    return filled(context, dtype, context.in("self").shape(), Value::ofFloat(value));
}

base::Result<void> fullLike(KernelContext& context) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, "dtype", context.in("self").dtype()));
    return filled(context, dtype, context.in("self").shape(), context.value("fill_value"));
}

base::Result<void> inferLike(InferContext& context) {
    const Value& dtype = context.constant("dtype");
    context.set(TypeInfo::tensor(dtype.kind() == ValueKind::Int
                                     ? dtypeFromTorch(dtype.toInt()).value_or(DType::Undefined)
                                     : context.in("self").dtype,
                                 context.in("self").shape));
    return {};
}

/// new_zeros, new_full (self, size, …)
base::Result<void> newFilled(KernelContext& context, const Value& number) {
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, "dtype", context.in("self").dtype()));
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value("size")));
    return filled(context, dtype, Shape(size), number);
}

/// start + i step for i = 0 … ceil((end - start) / step) - 1
base::Result<void> arange(KernelContext& context) {
    const Value start = context.has("start") ? context.value("start") : Value::ofInt(0);
    const Value step = context.has("step") ? context.value("step") : Value::ofInt(1);
    const Value& end = context.value("end");
    SONDE_ASSIGN(const double first, numberOf(start));
    SONDE_ASSIGN(const double last, numberOf(end));
    SONDE_ASSIGN(const double by, numberOf(step));
    const double count = std::ceil((last - first) / by);
    if (by == 0 || !(count < 1e15)) return opError("arange has no end");
    const bool whole =
        naturalType(start) == DType::Int64 && naturalType(end) == DType::Int64 && naturalType(step) == DType::Int64;
    SONDE_ASSIGN(const DType dtype, dtypeOr(context, "dtype", whole ? DType::Int64 : DType::Float32));
    SONDE_ASSIGN(Tensor values, Tensor::allocate(whole ? DType::Int64 : DType::Float64,
                                                 {std::max<std::int64_t>(static_cast<std::int64_t>(count), 0)}));
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        if (whole)
            values.mutableData<std::int64_t>()[i] =
                static_cast<std::int64_t>(first) + i * static_cast<std::int64_t>(by);
        else values.mutableData<double>()[i] = first + static_cast<double>(i) * by;
    }
    SONDE_ASSIGN(Tensor result, values.cast(dtype));
    context.setOutput(Value(std::move(result)));
    return {};
}

/// x where column - row <= diagonal (tril) or >= diagonal (triu), 0 elsewhere; over the last two dimensions.
base::Result<void> triangle(KernelContext& context, bool lower) {
    const Tensor& x = context.in("self");
    if (x.rank() < 2) return opError("expected a matrix, not " + x.typeText());
    SONDE_ASSIGN(const std::int64_t diagonal, intOf(context.value("diagonal")));
    SONDE_ASSIGN(Tensor result, x.clone());
    const std::int64_t rows = x.dim(x.rank() - 2);
    const std::int64_t columns = x.dim(x.rank() - 1);
    const std::size_t item = tensor::itemSize(x.dtype());
    for (std::int64_t row = 0; row * columns < result.numel(); ++row) {
        std::byte* line = result.mutableBytes() + static_cast<std::size_t>(row * columns) * item;
        const std::int64_t edge = row % rows + diagonal;  // the last column of the lower part
        const std::int64_t from = std::clamp<std::int64_t>(lower ? edge + 1 : 0, 0, columns);
        const std::int64_t to = std::clamp<std::int64_t>(lower ? columns : edge, 0, columns);
        if (from < to)
            std::fill(line + static_cast<std::size_t>(from) * item, line + static_cast<std::size_t>(to) * item,
                      std::byte{0});
    }
    context.setOutput(Value(std::move(result)));
    return {};
}

constexpr auto kData = Category::Data;

/// Zeros with ones on the diagonal.
EagerResult eye(Eager& e, std::int64_t rows, std::int64_t columns) {
    if (rows < 0 || columns < 0) e.fail("a matrix of " + std::to_string(rows) + " by " + std::to_string(columns));
    Tensor y = e.get(wideZeros(Shape{rows, columns}));
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) y.mutableData<double>()[i * columns + i] = 1;
    return e.as(y, e.dtype("dtype", DType::Float32));
}

/// Evenly spaced from start to end, both included; as powers of a base.
EagerResult spaced(Eager& e, std::optional<double> base) {
    const double start = e.number("start"), end = e.number("end");
    const std::int64_t steps = e.integer("steps");
    if (steps < 0) e.fail(std::to_string(steps) + " steps");
    Tensor y = e.get(wideZeros(Shape{steps}));
    for (std::int64_t i = 0; i < steps; ++i) {
        const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
        // From the nearer end, so that both ends are exact.
        const double at = i < steps / 2 || steps == 1 ? start + step * static_cast<double>(i)
                                                      : end - step * static_cast<double>(steps - 1 - i);
        y.mutableData<double>()[i] = base ? std::pow(*base, at) : at;
    }
    return e.as(y, e.dtype("dtype", DType::Float32));
}

/// torch.tensor(number or nested list)
Tensor fromData(Eager& e, const Value& data, std::optional<DType> wanted) {
    if (data.isTensor()) return wanted ? e.as(data.tensor(), *wanted) : data.tensor();
    if (data.isListLike()) {
        if (data.items().empty()) return e.get(Tensor::zeros(wanted.value_or(DType::Float32), Shape{0}));
        std::vector<Tensor> parts;
        for (const Value& item : data.items()) parts.push_back(fromData(e, item, wanted));
        return e("stack", parts);
    }
    return e.get(asTensor(data, wanted.value_or(naturalType(data))));
}

EagerResult tensorOf(Eager& e) {
    return fromData(e, e.value({"data", "t"}),
                    e.has("dtype") ? std::optional(e.dtype("dtype", DType::Float32)) : std::nullopt);
}

/// a0 − a1·cos(2πn/N) + a2·cos(4πn/N); one point less for windows that are not periodic.
EagerResult windowOf(Eager& e, double a0, double a1, double a2, bool periodic) {
    const std::int64_t size = e.integer("window_length");
    if (size < 0) e.fail("a window of " + std::to_string(size));
    Tensor y = e.get(wideZeros(Shape{size}));
    const auto period = static_cast<double>(periodic ? size : size - 1);
    for (std::int64_t i = 0; i < size; ++i) {
        const double phase = period > 0 ? 2 * M_PI * static_cast<double>(i) / period : 0;
        y.mutableData<double>()[i] = size == 1 ? 1 : a0 - a1 * std::cos(phase) + a2 * std::cos(2 * phase);
    }
    return e.as(y, e.dtype("dtype", DType::Float32));
}

void defineMore(Registry& registry) {
    registry.add(eagerRow(
        "eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "ones on the diagonal", kData, [](Eager& e) { return eye(e, e.integer("n"), e.integer("n")); }));
    registry.add(eagerRow(
        "eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "ones on the diagonal", kData, [](Eager& e) { return eye(e, e.integer("n"), e.integer("m")); }));
    registry.add(eagerRow(
        "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "evenly spaced numbers", kData, [](Eager& e) { return spaced(e, std::nullopt); }));
    registry.add(eagerRow(
        "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "powers of a base", kData, [](Eager& e) { return spaced(e, e.number("base")); }));
    registry.add(eagerRow(
        "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "a new tensor of x's type, here zeros", kData, [](Eager& e) -> EagerResult {
            return e("zeros", e.integers("size"), torchFromDType(e.dtype("dtype", e.tensor("self").dtype())));
        }));
    registry.add(eagerRow(
        "empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "a new tensor, here zeros", kData, [](Eager& e) -> EagerResult {
            return e("zeros", e.integers("size"), torchFromDType(e.dtype("dtype", DType::Float32)));
        }));
    registry.add(eagerRow(
        "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "a number as a tensor", kData,
        [](Eager& e) -> EagerResult { return e.get(asTensor(e.value("s"), e.dtype("dtype", DType::Float32))); }));
    for (std::string_view schema :
         {"tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
          "tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
          "tensor.int(int t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
          "tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
          "as_tensor(Tensor data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
          "as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
          "as_tensor.float(float t, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
          "as_tensor.int(int t, *, ScalarType? dtype=None, Device? device=None) -> Tensor"}) {
        registry.add(eagerRow(schema, "numbers as a tensor", kData, tensorOf));
    }
    const struct {
        std::string_view plain, periodic, summary;
        double a0, a1, a2;
    } windows[] = {
        {"hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "Hann's window", 0.5, 0.5, 0},
        {"hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "Hamming's window", 0.54, 0.46, 0},
        {"blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
         "Blackman's window", 0.42, 0.5, 0.08},
    };
    for (const auto& row : windows) {
        registry.add(eagerRow(row.plain, row.summary, kData,
                              [row](Eager& e) { return windowOf(e, row.a0, row.a1, row.a2, true); }));
        registry.add(eagerRow(row.periodic, row.summary, kData,
                              [row](Eager& e) { return windowOf(e, row.a0, row.a1, row.a2, e.flag("periodic")); }));
    }
}

/// one_hot(x, classes): 1 at x, 0 elsewhere.
base::Result<void> atenOneHot(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(std::int64_t classes, intOf(context.value("num_classes")));
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
    context.setOutput(Value(std::move(result)));
    return {};
}

void add(Registry& registry, std::string_view schema, std::string_view summary,
         std::function<base::Result<void>(KernelContext&)> kernel,
         std::function<base::Result<void>(InferContext&)> infer = {}) {
    OpDef def = atenRow(schema, summary, Category::Data, std::move(kernel), std::move(infer));
    for (Formal& input : def.inputs) input.tensorOnly = false;
    registry.add(std::move(def));
}

}  // namespace

void define_aten_create(Registry& registry) {
    add(
        registry,
        "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "zeros", [](KernelContext& c) { return ofSize(c, 0); }, inferOfSize);
    add(
        registry,
        "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "ones", [](KernelContext& c) { return ofSize(c, 1); }, inferOfSize);
    add(
        registry,
        "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "a new tensor, here zeros", [](KernelContext& c) { return ofSize(c, 0); }, inferOfSize);
    add(registry,
        "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "one number everywhere", full, inferFull);
    add(
        registry,
        "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "zeros in x's shape", [](KernelContext& c) { return like(c, 0); }, inferLike);
    add(
        registry,
        "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "ones in x's shape", [](KernelContext& c) { return like(c, 1); }, inferLike);
    add(
        registry,
        "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "a new tensor in x's shape, here zeros", [](KernelContext& c) { return like(c, 0); }, inferLike);
    add(registry,
        "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "one number in x's shape", fullLike, [](InferContext& c) -> base::Result<void> {
            c.set(TypeInfo::tensor(dtypeNamed(c, "dtype", c.in("self").dtype), c.in("self").shape));
            return {};
        });
    add(
        registry,
        "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "zeros of x's type", [](KernelContext& c) { return newFilled(c, Value::ofInt(0)); }, inferNew);
    add(
        registry,
        "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "ones of x's type", [](KernelContext& c) { return newFilled(c, Value::ofInt(1)); }, inferNew);
    add(
        registry,
        "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "one number of x's type", [](KernelContext& c) { return newFilled(c, c.value("fill_value")); }, inferNew);
    add(registry,
        "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "0, 1, 2 …", arange, inferArange);
    add(registry,
        "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "start, start + 1 …", arange, inferArange);
    add(registry,
        "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "start, start + step …", arange, inferArange);
    defineMore(registry);
    add(
        registry, "tril(Tensor self, int diagonal=0) -> Tensor", "the lower triangle, 0 elsewhere",
        [](KernelContext& c) { return triangle(c, true); }, inferSame);
    add(
        registry, "triu(Tensor self, int diagonal=0) -> Tensor", "the upper triangle, 0 elsewhere",
        [](KernelContext& c) { return triangle(c, false); }, inferSame);
    add(registry, "one_hot(Tensor self, int num_classes=-1) -> Tensor", "1 at the class, 0 elsewhere", atenOneHot);
    explain("aten", "tril triu diag diag_embed diagflat", dependence::moved, "self");
    explain("aten",
            "zeros ones full empty arange linspace eye zeros_like ones_like full_like new_zeros new_ones new_full",
            dependence::fixed);
    explain("aten", "one_hot", dependence::ofOneClass);
    explain(
        "aten",
        "empty_like empty_strided new_empty zero scalar_tensor logspace tril_indices triu_indices fft_fftfreq fft_rfftfreq "
        "hann_window hamming_window blackman_window",
        dependence::fixed);
}

}  // namespace sonde::ops
