// Pools: x [N, C, D…] -> y [N, C, D'…].

#include "core/ops/kernels/pool.h"

#include "core/ops/dependence/windows.h"
#include "core/ops/support/row.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<Window> onnxWindow(const KernelContext& context) {
    const Tensor& x = context.in("X");
    if (x.rank() < 3) return opError("cannot pool " + x.typeText());
    return windowFromAttributes(context.attributes(), {}, std::span(x.shape().dims()).subspan(2));
}

constexpr dependence::Pooling kMaximum{"max(x)"}, kAverage{"sum(x) / divisor"}, kPNorm{"sum(abs(x) ** p) ** (1 / p)"};

double powerOf(const Attributes& attributes) {
    return std::max(attributes.getFloat("p", 0),
                    static_cast<double>(attributes.getInt("p", attributes.has("p") ? 0 : 2)));
}

base::Result<Dependence> onnxPoolTerms(const ElementCall& call) {
    SONDE_ASSIGN(const Window window, onnxWindow(call.context));
    dependence::Pooling pooling = call.op.name == "MaxPool" ? kMaximum : call.op.name == "LpPool" ? kPNorm : kAverage;
    pooling.countsPadding = call.context.attributes().getInt("count_include_pad", 0) != 0;
    pooling.p = powerOf(call.context.attributes());
    return dependence::pooled(call, window, pooling);
}

base::Result<Dependence> globalPoolTerms(const ElementCall& call) {
    dependence::Pooling pooling = call.text == kPNorm.formula     ? kPNorm
                                  : call.text == kMaximum.formula ? kMaximum
                                                                  : kAverage;
    pooling.p = powerOf(call.context.attributes());
    return dependence::pooledCell(call, pooling);
}

base::Result<void> inferOnnxPool(InferContext& context) {
    const TypeInfo& x = context.in("X");
    if (!x.shape || x.shape->size() < 3) {
        setLike(context, "X", std::nullopt);
        return {};
    }
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), {}, dimSizesFrom(*x.shape, 2)));
    Dims dims = windowDims(window, *x.shape, (*x.shape)[1]);
    context.set(1, TypeInfo::tensor(DType::Int64, dims));
    setLike(context, "X", std::move(dims));
    return {};
}

base::Result<void> maxPool(KernelContext& context) {
    SONDE_ASSIGN(const Window window, onnxWindow(context));
    return kernels::maxPool(context, context.in("X"), window, context.attributes().getInt("storage_order", 0) == 1,
                            false);
}

base::Result<void> averagePool(KernelContext& context) {
    SONDE_ASSIGN(const Window window, onnxWindow(context));
    return kernels::averagePool(context, context.in("X"), window,
                                context.attributes().getInt("count_include_pad", 0) != 0);
}

base::Result<void> lpPool(KernelContext& context) {
    SONDE_ASSIGN(const Window window, onnxWindow(context));
    return kernels::lpPool(context, context.in("X"), window, powerOf(context.attributes()));
}

/// A window over all of the image.
base::Result<Window> wholeWindow(const Tensor& x) {
    if (x.rank() < 2) return opError("cannot pool " + x.typeText());
    Window window;
    for (std::size_t i = 2; i < x.rank(); ++i) window.kernel.push_back(std::max<std::int64_t>(x.dim(i), 1));
    window.stride.assign(window.rank(), 1);
    window.dilation.assign(window.rank(), 1);
    window.padBegin.assign(window.rank(), 0);
    window.padEnd.assign(window.rank(), 0);
    return window;
}

base::Result<void> globalAverage(KernelContext& context) {
    SONDE_TRY(wholeWindow(context.in("X")));
    return kernels::adaptiveAveragePool(context, context.in("X"),
                                        std::vector<std::int64_t>(context.in("X").rank() - 2, 1));
}
base::Result<void> globalMax(KernelContext& context) {
    SONDE_TRY(wholeWindow(context.in("X")));
    return kernels::adaptiveMaxPool(context, context.in("X"), std::vector<std::int64_t>(context.in("X").rank() - 2, 1));
}
base::Result<void> globalLp(KernelContext& context) {
    SONDE_ASSIGN(const Window window, wholeWindow(context.in("X")));
    return kernels::lpPool(context, context.in("X"), window, powerOf(context.attributes()));
}

base::Result<void> inferGlobal(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    for (std::size_t i = 2; dims && i < dims->size(); ++i) (*dims)[i] = Dim::of(1);
    setLike(context, "X", std::move(dims));
    return {};
}

Row poolRow(std::string_view name, int since, std::string_view summary) {
    Row row(name, since, summary, Category::Pool);
    row.in("X", kFloats | bit(DType::Int8) | bit(DType::UInt8), "T")
        .out("Y")
        .attrString("auto_pad", "NOTSET")
        .attrInt("ceil_mode", 0)
        .attrInts("dilations")
        .attrInts("pads")
        .attrInts("strides");
    return row;
}

// ATen: an image without a batch dimension is one of batch 1.

base::Result<void> withBatch(KernelContext& context, std::size_t spatialRank,
                             const std::function<base::Result<void>(const Tensor&)>& run) {
    const Tensor& x = context.in("self");
    if (x.rank() != spatialRank + 1) return run(x);
    SONDE_TRY(run(x.unsqueezed(0)));
    std::vector<Value> outputs = context.takeOutputs();
    for (Value& output : outputs) {
        if (output.isTensor()) output = Value(output.tensor().selected(0, 0));
    }
    context.setOutputs(std::move(outputs));
    return {};
}

/// PyTorch pools no image without elements (batch 0 apart) and makes none.
base::Result<void> needElements(const Tensor& x) {
    for (std::size_t axis = 1; axis < x.rank(); ++axis) {
        if (x.dim(axis) == 0) return opError("cannot pool " + x.typeText() + ": only the batch may be of size 0");
    }
    return {};
}

base::Result<void> windowFits(const Window& window, const Tensor& x) {
    SONDE_TRY(needElements(x));
    if (x.rank() != window.rank() + 2) return {};  // the kernel says so
    const Shape output = window.outputShape(x.dim(0), x.dim(1), std::span(x.shape().dims()).subspan(2));
    for (std::size_t i = 0; i < window.rank(); ++i) {
        if (output[i + 2] < 1)
            return opError("the output size is too small: windows " + Shape(window.kernel).text() + " on " +
                           x.typeText() + " give " + output.text());
    }
    return {};
}

struct AtenPool {
    std::size_t rank;
    bool average;
};

base::Result<Window> atenWindow(const AtenPool& pool, const auto& valueAt) {
    SONDE_ASSIGN(const std::vector<std::int64_t> kernel, spread(valueAt("kernel_size"), pool.rank, 1));
    const Value ceil = valueAt("ceil_mode");
    return windowFromArguments(kernel, valueAt("stride"), valueAt("padding"),
                               pool.average ? Value() : valueAt("dilation"),
                               ceil.kind() == ValueKind::Bool && ceil.toBool());
}

base::Result<dependence::Pooling> averageOf(const KernelContext& context);

base::Result<void> atenPool(KernelContext& context, const AtenPool& pool) {
    SONDE_ASSIGN(const Window window, atenWindow(pool, [&](Name name) { return context.value(name); }));
    return withBatch(context, pool.rank, [&](const Tensor& x) -> base::Result<void> {
        SONDE_TRY(windowFits(window, x));
        if (!pool.average) return kernels::maxPool(context, x, window, false, true);
        SONDE_ASSIGN(const dependence::Pooling average, averageOf(context));
        return kernels::averagePool(context, x, window, average.countsPadding, average.divisor);
    });
}

/// What an average of ATen is divided by.
base::Result<dependence::Pooling> averageOf(const KernelContext& context) {
    dependence::Pooling pooling = kAverage;
    const Value& counts = context.value("count_include_pad");
    pooling.countsPadding = counts.kind() != ValueKind::Bool || counts.toBool();
    if (context.has("divisor_override")) {
        SONDE_ASSIGN(pooling.divisor, intOf(context.value("divisor_override")));
    }
    return pooling;
}

template <bool isAverage>
base::Result<Dependence> atenPoolTerms(const ElementCall& call) {
    // The name says how many dimensions an image has: max_pool2d.
    const std::size_t digit = call.op.name.find("pool") + 4;
    const AtenPool pool{static_cast<std::size_t>(call.op.name[digit] - '0'), isAverage};
    SONDE_ASSIGN(const Window window, atenWindow(pool, [&](Name name) { return call.context.value(name); }));
    if (!isAverage) return dependence::pooled(call, window, kMaximum);
    SONDE_ASSIGN(const dependence::Pooling pooling, averageOf(call.context));
    return dependence::pooled(call, window, pooling);
}

base::Result<void> inferAtenPool(InferContext& context, const AtenPool& pool) {
    const TypeInfo& x = context.in("self");
    if (!x.shape || x.shape->size() != pool.rank + 2 || context.constant("kernel_size").isNone()) {
        setLike(context, "self", std::nullopt);
        return {};
    }
    SONDE_ASSIGN(const Window window, atenWindow(pool, [&](Name name) { return context.constant(name); }));
    Dims dims = windowDims(window, *x.shape, (*x.shape)[1]);
    context.set(1, TypeInfo::tensor(DType::Int64, dims));
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> adaptive(KernelContext& context, std::size_t rank, bool average) {
    SONDE_ASSIGN(std::vector<std::int64_t> output, [&]() -> base::Result<std::vector<std::int64_t>> {
        if (!context.value("output_size").isListLike()) return spread(context.value("output_size"), rank, 1);
        std::vector<std::int64_t> dimSizes;
        const tensor::ValueList& items = context.value("output_size").items();
        for (std::size_t i = 0; i < items.size(); ++i) {
            // None keeps the input's dimension.
            if (items[i].isNone()) {
                dimSizes.push_back(context.in("self").rank() >= rank
                                       ? context.in("self").dim(context.in("self").rank() - rank + i)
                                       : 1);
                continue;
            }
            SONDE_ASSIGN(const std::int64_t one, intOf(items[i]));
            dimSizes.push_back(one);
        }
        if (dimSizes.size() == 1) dimSizes.assign(rank, dimSizes[0]);
        return dimSizes;
    }());
    return withBatch(context, rank, [&](const Tensor& x) -> base::Result<void> {
        SONDE_TRY(needElements(x));
        return average ? kernels::adaptiveAveragePool(context, x, output)
                       : kernels::adaptiveMaxPool(context, x, output);
    });
}

base::Result<void> inferAdaptive(InferContext& context, std::size_t rank) {
    std::optional<Dims> dims = context.in("self").shape;
    const Value& size = context.constant("output_size");
    if (dims && dims->size() > rank && !size.isNone()) {
        const base::Result<std::vector<std::int64_t>> output = spread(size, rank, 1);
        for (std::size_t i = 0; i < rank; ++i)
            (*dims)[dims->size() - rank + i] = output ? Dim::of((*output)[i]) : Dim{};
    } else {
        dims.reset();
    }
    context.set(1, TypeInfo::tensor(DType::Int64, dims));
    setLike(context, "self", std::move(dims));
    return {};
}

void addAtenPool(Registry& registry) {
    const struct {
        std::string_view schema;
        AtenPool pool;
    } rows[] = {
        {"max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor",
         {1, false}},
        {"max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
         {2, false}},
        {"max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
         {3, false}},
        {"max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
         {1, false}},
        {"max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
         {2, false}},
        {"max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
         {3, false}},
        {"avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
         {1, true}},
        {"avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
         {2, true}},
        {"avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
         {3, true}},
    };
    for (const auto& row : rows) {
        registry.add(atenRow(
            row.schema, row.pool.average ? "mean of each window" : "largest value of each window", Category::Pool,
            [pool = row.pool](KernelContext& context) { return atenPool(context, pool); },
            [pool = row.pool](InferContext& context) { return inferAtenPool(context, pool); }));
    }
    const struct {
        std::string_view schema;
        std::size_t rank;
        bool average;
    } adaptiveRows[] = {
        {"adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", 1, true},
        {"adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor", 2, true},
        {"adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor", 3, true},
        {"adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", 1, false},
        {"adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", 2, false},
        {"adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", 3, false},
    };
    for (const auto& row : adaptiveRows) {
        registry.add(atenRow(
            row.schema,
            row.average ? "mean of each cell of a grid of the requested size"
                        : "maximum of each cell of a grid of the requested size",
            Category::Pool,
            [rank = row.rank, average = row.average](KernelContext& context) {
                return adaptive(context, rank, average);
            },
            [rank = row.rank](InferContext& context) { return inferAdaptive(context, rank); }));
    }
}

}  // namespace

void define_pool(Registry& registry) {
    registry.add(poolRow("MaxPool", 1, "largest value of each window")
                     .out("Indices", Arity::Optional)
                     .required("kernel_shape", AttributeKind::Ints)
                     .attrInt("storage_order", 0)
                     .runs(maxPool, inferOnnxPool));
    registry.add(poolRow("AveragePool", 1, "mean of each window")
                     .required("kernel_shape", AttributeKind::Ints)
                     .attrInt("count_include_pad", 0)
                     .runs(averagePool, inferOnnxPool));
    registry.add(poolRow("LpPool", 1, "p-norm of each window")
                     .attrInts("kernel_shape")
                     .attr("p", AttributeKind::Any)
                     .runs(lpPool, inferOnnxPool));
    registry.add(Row("GlobalAveragePool", 1, "mean of each channel", Category::Pool)
                     .in("X", kFloats, "T")
                     .out("Y")
                     .runs(globalAverage, inferGlobal));
    registry.add(Row("GlobalMaxPool", 1, "largest value of each channel", Category::Pool)
                     .in("X", kFloats, "T")
                     .out("Y")
                     .runs(globalMax, inferGlobal));
    registry.add(Row("GlobalLpPool", 1, "p-norm of each channel", Category::Pool)
                     .in("X", kFloats, "T")
                     .out("Y")
                     .attr("p", AttributeKind::Any)
                     .runs(globalLp, inferGlobal));
    addAtenPool(registry);
    explain("", "MaxPool AveragePool LpPool", onnxPoolTerms);
    explain("", "GlobalAveragePool", globalPoolTerms, kAverage.formula);
    explain("", "GlobalMaxPool", globalPoolTerms, kMaximum.formula);
    explain("", "GlobalLpPool", globalPoolTerms, kPNorm.formula);
    explain("aten", "max_pool1d max_pool2d max_pool3d", atenPoolTerms<false>);
    explain("aten", "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices", atenPoolTerms<false>);
    explain("aten", "avg_pool1d avg_pool2d avg_pool3d", atenPoolTerms<true>);
    explain("aten", "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", globalPoolTerms, kAverage.formula);
    explain("aten", "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", globalPoolTerms, kMaximum.formula);
}

}  // namespace sonde::ops
