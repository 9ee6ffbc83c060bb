// Convolutions: x [N, C, D…] * w [K, C/groups, kernel…] (+ bias [K]) -> y [N, K, D'…],
// D' = floor((D + pads − dilation·(kernel − 1) − 1) / stride) + 1.

#include "core/ops/kernels/conv.h"

#include "core/ops/dependence/windows.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/support/conv_row.h"
#include "core/ops/support/row.h"

namespace sonde::ops {

namespace {

base::Result<void> needImage(const Tensor& x, const Tensor& w) {
    if (x.rank() < 3 || w.rank() != x.rank())
        return opError("cannot convolve " + x.typeText() + " with weights " + w.typeText());
    return {};
}

base::Result<void> onnxConv(KernelContext& context) {
    const Tensor &x = context.in("X"), &w = context.in("W");
    SONDE_TRY(needImage(x, w));
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2),
                                                           std::span(x.shape().dims()).subspan(2)));
    return kernels::convolve(context, x, w, context.optionalIn("B"), window, context.attributes().getInt("group", 1));
}

base::Result<void> inferOnnxConv(InferContext& context) {
    const TypeInfo &x = context.in("X"), &w = context.in("W");
    if (!x.shape || !w.shape || x.shape->size() < 3 || w.shape->size() != x.shape->size()) {
        setLike(context, "X", x.shape ? std::optional(unknownDims(x.shape->size())) : std::nullopt);
        return {};
    }
    std::vector<std::int64_t> kernel = context.attributes().getInts("kernel_shape", dimSizesFrom(*w.shape, 2));
    for (std::int64_t dimSize : kernel) {
        if (dimSize < 0) {
            setLike(context, "X", unknownDims(x.shape->size()));
            return {};
        }
    }
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), kernel, dimSizesFrom(*x.shape, 2)));
    setLike(context, "X", windowDims(window, *x.shape, (*w.shape)[0]));
    return {};
}

/// kernel_shape may be left out, but not say anything else than the weights.
base::Result<void> kernelIsThatOf(const Window& window, std::span<const std::int64_t> kernel) {
    if (std::equal(window.kernel.begin(), window.kernel.end(), kernel.begin(), kernel.end())) return {};
    return opError("kernel_shape " + Shape(window.kernel).text() + " is not that of the weights, " +
                   Shape(std::vector<std::int64_t>(kernel.begin(), kernel.end())).text());
}

/// What a transposed convolution adds to the window: where its output ends.
base::Result<std::vector<std::int64_t>> transposedOutput(Window& window, const Attributes& attributes,
                                                         std::span<const std::int64_t> spatial) {
    const std::size_t rank = window.rank();
    const std::vector<std::int64_t> extra = attributes.getInts("output_padding", std::vector<std::int64_t>(rank, 0));
    const std::vector<std::int64_t> wanted = attributes.getInts("output_shape");
    const std::string mode = attributes.getString("auto_pad", "NOTSET");
    std::vector<std::int64_t> output(rank);
    if (extra.size() != rank) return opError("output_padding must have " + std::to_string(rank) + " entries");
    if (!wanted.empty() && wanted.size() < rank)
        return opError("output_shape must have " + std::to_string(rank) + " entries");
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t full = window.stride[i] * (spatial[i] - 1) + window.span(i) + extra[i];
        const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
        if (wanted.empty() && !same) {
            output[i] = full - window.padBegin[i] - window.padEnd[i];
        } else {
            // output_shape may carry N and C in front of the spatial dimensions.
            output[i] = wanted.empty() ? spatial[i] * window.stride[i] : wanted[wanted.size() - rank + i];
            const std::int64_t total = std::max<std::int64_t>(0, full - output[i]);
            window.padBegin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
            window.padEnd[i] = total - window.padBegin[i];
        }
        if (output[i] < 0) return opError("the transposed convolution has a negative output dimension");
    }
    return output;
}

/// The window of ConvTranspose, and the dimensions of its output.
base::Result<std::pair<Window, std::vector<std::int64_t>>> onnxTransposedWindow(const KernelContext& context) {
    const Tensor &x = context.in("X"), &w = context.in("W");
    SONDE_TRY(needImage(x, w));
    const auto spatial = std::span(x.shape().dims()).subspan(2);
    Attributes attributes = context.attributes();
    if (attributes.getString("auto_pad", "NOTSET").starts_with("SAME"))
        attributes.set("auto_pad", std::string("NOTSET"));
    SONDE_ASSIGN(Window window, windowFromAttributes(attributes, std::span(w.shape().dims()).subspan(2), spatial));
    SONDE_TRY(kernelIsThatOf(window, std::span(w.shape().dims()).subspan(2)));
    SONDE_ASSIGN(std::vector<std::int64_t> output, transposedOutput(window, context.attributes(), spatial));
    return std::pair(std::move(window), std::move(output));
}

base::Result<void> onnxConvTranspose(KernelContext& context) {
    SONDE_ASSIGN(const auto window, onnxTransposedWindow(context));
    return kernels::convolveTransposed(context, context.in("X"), context.in("W"), context.optionalIn("B"), window.first,
                                       context.attributes().getInt("group", 1), window.second);
}

/// y[n,k,o] = sum of w[k,c,t] * x[n,c,o * stride - pad + t * dilation] + bias[k].
base::Result<Dependence> onnxConvTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor &x = context.in("X"), &w = context.in("W");
    SONDE_TRY(needImage(x, w));
    SONDE_ASSIGN(Window window, windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2),
                                                     std::span(x.shape().dims()).subspan(2)));
    return dependence::convolved(call, {context.position("X"), context.position("W"), 2, context.has("B"),
                                        std::move(window), context.attributes().getInt("group", 1), false});
}

base::Result<Dependence> onnxTransposedTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    SONDE_ASSIGN(auto window, onnxTransposedWindow(context));
    return dependence::convolved(call, {context.position("X"), context.position("W"), 2, context.has("B"),
                                        std::move(window.first), context.attributes().getInt("group", 1), true});
}

base::Result<void> inferOnnxConvTranspose(InferContext& context) {
    using tensor::Symbolic;
    const TypeInfo& x = context.in("X");
    const std::optional<Shape> weights = context.in("W").staticShape();
    if (!x.shape || !weights || x.shape->size() < 3 || weights->rank() != x.shape->size()) {
        setLike(context, "X", x.shape ? std::optional(unknownDims(x.shape->size())) : std::nullopt);
        return {};
    }
    // Dimensions that are not known are 1 to the checks, and take part as symbols in the formula.
    std::vector<std::int64_t> spatial = dimSizesFrom(*x.shape, 2);
    for (std::int64_t& dimSize : spatial) dimSize = dimSize < 0 ? 1 : dimSize;
    Attributes attributes = context.attributes();
    const bool same = attributes.getString("auto_pad", "NOTSET").starts_with("SAME");
    if (same) attributes.set("auto_pad", std::string("NOTSET"));
    SONDE_ASSIGN(Window window, windowFromAttributes(attributes, std::span(weights->dims()).subspan(2), spatial));
    SONDE_TRY(kernelIsThatOf(window, std::span(weights->dims()).subspan(2)));
    const std::vector<std::int64_t> extra =
        attributes.getInts("output_padding", std::vector<std::int64_t>(window.rank(), 0));
    const bool given = !attributes.getInts("output_shape").empty();
    Dims dims{(*x.shape)[0], tensor::Dim::of((*weights)[1] * attributes.getInt("group", 1))};
    std::vector<std::int64_t> output(window.rank(), 0);
    if (x.staticShape() || given) {
        SONDE_ASSIGN(output, transposedOutput(window, context.attributes(), spatial));
    }
    for (std::size_t i = 0; i < window.rank(); ++i) {
        const tensor::Dim& in = (*x.shape)[i + 2];
        if (x.staticShape() || given) {
            dims.push_back(tensor::Dim::of(output[i]));
            continue;
        }
        const std::int64_t added = window.span(i) + (i < extra.size() ? extra[i] : 0) - window.padBegin[i] -
                                   window.padEnd[i] - window.stride[i];
        dims.push_back(
            (Symbolic::of(in) * Symbolic::of(window.stride[i]) + Symbolic::of(same ? std::int64_t{0} : added)).dim());
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// ATen's arguments in the order of `convolution`: input, weight, bias, stride, padding, dilation, transposed,
/// output_padding, groups. The others are cut from it.
struct AtenArguments {
    Value stride, padding, dilation, outputPadding;
    std::int64_t groups = 1;
    bool transposed = false;
};

base::Result<Window> atenConvWindow(const Tensor& w, const AtenArguments& arguments) {
    const auto kernel = std::span(w.shape().dims()).subspan(2);
    SONDE_ASSIGN(const std::vector<std::int64_t> stride, spread(arguments.stride, kernel.size(), 1));
    tensor::ValueList strides;
    for (std::int64_t s : stride) strides.push_back(Value::ofInt(s));
    return windowFromArguments(kernel, Value::list(std::move(strides)), arguments.padding, arguments.dilation, false);
}

base::Result<void> atenConvolve(KernelContext& context, const AtenArguments& arguments) {
    Tensor x = context.in("input");
    const Tensor& w = context.in("weight");
    const bool batched = x.rank() == w.rank();
    if (!batched) kernels::Epilogue::dismiss();  // what follows has one dimension less
    if (!batched && x.rank() + 1 == w.rank()) x = x.unsqueezed(0);
    SONDE_TRY(needImage(x, w));
    SONDE_ASSIGN(const Window window, atenConvWindow(w, arguments));
    const auto kernel = std::span(window.kernel);
    const Tensor* bias = context.optionalIn("bias");
    if (arguments.transposed) {
        SONDE_ASSIGN(const std::vector<std::int64_t> extra, spread(arguments.outputPadding, kernel.size(), 0));
        std::vector<std::int64_t> output;
        for (std::size_t i = 0; i < kernel.size(); ++i) {
            output.push_back(window.stride[i] * (x.dim(i + 2) - 1) + window.span(i) + extra[i] - window.padBegin[i] -
                             window.padEnd[i]);
            if (output.back() < 0) return opError("the transposed convolution has a negative output dimension");
        }
        SONDE_TRY(kernels::convolveTransposed(context, x, w, bias, window, arguments.groups, output));
    } else {
        SONDE_TRY(window.checkOutput(std::span(x.shape().dims()).subspan(2), 1));
        SONDE_TRY(kernels::convolve(context, x, w, bias, window, arguments.groups));
    }
    if (!batched) {
        std::vector<Value> outputs = context.takeOutputs();
        outputs[0] = Value(outputs[0].tensor().selected(0, 0));
        context.setOutputs(std::move(outputs));
    }
    return {};
}

/// conv1d/2d/3d: input, weight, bias, stride, padding, dilation, groups.
base::Result<AtenArguments> convArguments(const KernelContext& context) {
    AtenArguments arguments{
        context.value("stride"), context.value("padding"), context.value("dilation"), Value(), 1, false};
    SONDE_ASSIGN(arguments.groups, intOf(context.value("groups")));
    return arguments;
}

/// conv_transpose1d/2d/3d: input, weight, bias, stride, padding, output_padding, groups, dilation.
base::Result<AtenArguments> transposeArguments(const KernelContext& context) {
    AtenArguments arguments{context.value("stride"),
                            context.value("padding"),
                            context.value("dilation"),
                            context.value("output_padding"),
                            1,
                            true};
    SONDE_ASSIGN(arguments.groups, intOf(context.value("groups")));
    return arguments;
}

base::Result<AtenArguments> convolutionArguments(const KernelContext& context) {
    SONDE_ASSIGN(AtenArguments arguments, transposeArguments(context));
    SONDE_ASSIGN(const std::int64_t transposed, intOf(context.value("transposed")));
    arguments.transposed = transposed != 0;
    return arguments;
}

using ArgumentsOf = base::Result<AtenArguments> (*)(const KernelContext&);

template <ArgumentsOf argumentsOf>
base::Result<void> atenConvKernel(KernelContext& context) {
    SONDE_ASSIGN(const AtenArguments arguments, argumentsOf(context));
    return atenConvolve(context, arguments);
}

template <ArgumentsOf argumentsOf>
base::Result<Dependence> atenConvTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    SONDE_ASSIGN(const AtenArguments arguments, argumentsOf(context));
    SONDE_ASSIGN(Window window, atenConvWindow(context.in("weight"), arguments));
    return dependence::convolved(
        call, {context.position("input"), context.position("weight"), context.position("bias"), context.has("bias"),
               std::move(window), arguments.groups, arguments.transposed});
}

base::Result<void> inferAtenWindow(InferContext& context) {
    const TypeInfo &x = context.in("input"), &w = context.in("weight");
    if (!x.shape || !w.shape || x.shape->size() != w.shape->size() || x.shape->size() < 3 || !w.staticShape()) {
        setLike(context, "input", std::nullopt);
        return {};
    }
    const std::vector<std::int64_t> kernel = dimSizesFrom(*w.shape, 2);
    const Value& stride = context.constant("stride");
    SONDE_ASSIGN(const Window window,
                 windowFromArguments(kernel, stride.isNone() ? Value::ofInt(1) : stride, context.constant("padding"),
                                     context.constant("dilation"), false));
    setLike(context, "input", windowDims(window, *x.shape, (*w.shape)[0]));
    return {};
}

/// Dimension (i - 1)·stride + dilation·(k - 1) + 1 + output padding - 2·padding; channels of w [C,K/groups,…] times
/// groups.
base::Result<void> inferAtenTransposed(InferContext& context) {
    const TypeInfo &x = context.in("input"), &w = context.in("weight");
    const std::optional<Shape> weights = w.staticShape();
    if (!x.shape || !weights || x.shape->size() != weights->rank() || weights->rank() < 3) {
        setLike(context, "input",
                x.shape && weights && x.shape->size() == weights->rank() ? std::optional(unknownDims(weights->rank()))
                                                                         : std::nullopt);
        return {};
    }
    const std::size_t rank = weights->rank() - 2;
    Dims dims = unknownDims(rank + 2);
    dims[0] = (*x.shape)[0];
    const Value& groups = context.constant("groups");
    if (groups.kind() == ValueKind::Int || context.inputCount() <= context.position("groups")) {
        dims[1] = (tensor::Symbolic::of((*weights)[1]) *
                   tensor::Symbolic::of(groups.kind() == ValueKind::Int ? groups.toInt() : std::int64_t{1}))
                      .dim();
    }
    const auto numbers = [&](Name name, std::int64_t fallback) -> std::optional<std::vector<std::int64_t>> {
        const bool isGiven = context.has(name);
        if (isGiven && context.constant(name).isNone()) return std::nullopt;
        const auto all = spread(isGiven ? context.constant(name) : Value(), rank, fallback);
        return all ? std::optional(*all) : std::nullopt;
    };
    const auto stride = numbers("stride", 1), padding = numbers("padding", 0), dilation = numbers("dilation", 1),
               extra = numbers("output_padding", 0);
    for (std::size_t i = 0; i < rank && stride && padding && dilation && extra; ++i) {
        const auto number = [](std::int64_t value) { return tensor::Symbolic::of(value); };
        const tensor::Symbolic span = number((*dilation)[i]) * number((*weights)[i + 2] - 1) + number(1);
        dims[i + 2] = ((tensor::Symbolic::of((*x.shape)[i + 2]) - number(1)) * number((*stride)[i]) + span +
                       number((*extra)[i]) - number(2) * number((*padding)[i]))
                          .dim();
    }
    setLike(context, "input", std::move(dims));
    return {};
}

base::Result<void> inferAtenConvolution(InferContext& context) {
    if (context.constant("transposed").kind() == ValueKind::Bool)
        return context.constant("transposed").toBool() ? inferAtenTransposed(context) : inferAtenWindow(context);
    setLike(context, "input", std::nullopt);
    return {};
}

OpDef withPlan(OpDef def) {
    def.prepare = [](const Constants& constants, const Attributes&,
                     RunEnvironment& environment) -> base::Result<std::unique_ptr<PreparedState>> {
        const Value& groups = constants["groups"];
        if (!groups.isNone() && groups.kind() != ValueKind::Int) return std::unique_ptr<PreparedState>();
        return kernels::prepareConv(constants["weight"], groups.isNone() ? 1 : groups.toInt(), environment);
    };
    return def;
}

void addAtenConv(Registry& registry) {
    for (
        std::string_view schema :
        {"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
         "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
         "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
         "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding=\"valid\", int[1] dilation=1, int groups=1) -> Tensor",
         "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding=\"valid\", int[2] dilation=1, int groups=1) -> Tensor",
         "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding=\"valid\", int[3] dilation=1, int groups=1) -> Tensor",
         "_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation, int groups) -> Tensor"}) {
        registry.add(
            withPlan(atenRow(schema, "convolution", Category::Layer, atenConvKernel<convArguments>, inferAtenWindow)));
    }
    for (
        std::string_view schema :
        {"conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
         "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
         "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor"}) {
        registry.add(atenRow(schema, "transposed convolution", Category::Layer, atenConvKernel<transposeArguments>,
                             inferAtenTransposed));
    }
    registry.add(atenRow(
        "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, "
        "int[] output_padding, int groups) -> Tensor",
        "convolution, transposed or not", Category::Layer, atenConvKernel<convolutionArguments>, inferAtenConvolution));
    registry.add(atenRow(
        "_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, "
        "int[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
        "convolution, transposed or not", Category::Layer, atenConvKernel<convolutionArguments>, inferAtenConvolution));
    registry.add(atenRow(
        "_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, "
        "int[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
        "convolution, transposed or not", Category::Layer, atenConvKernel<convolutionArguments>, inferAtenConvolution));
}

}  // namespace

void define_conv(Registry& registry) {
    registry.add(
        withConvAttributes(Row("Conv", 1, "convolution", Category::Layer)
                               .in("X", kFloats, "T")
                               .in("W", kFloats, "T")
                               .optionalIn("B", kFloats, "T")
                               .out("Y"))
            .runs(onnxConv, inferOnnxConv)
            .prepares([](const Constants& constants, const Attributes& attributes, RunEnvironment& environment) {
                return kernels::prepareConv(constants["W"], attributes.getInt("group", 1), environment);
            }));
    registry.add(Row("ConvTranspose", 1, "transposed convolution", Category::Layer)
                     .in("X", kFloats, "T")
                     .in("W", kFloats, "T")
                     .optionalIn("B", kFloats, "T")
                     .out("Y")
                     .attrString("auto_pad", "NOTSET")
                     .attrInts("dilations")
                     .attrInt("group", 1)
                     .attrInts("kernel_shape")
                     .attrInts("output_padding")
                     .attrInts("output_shape")
                     .attrInts("pads")
                     .attrInts("strides")
                     .runs(onnxConvTranspose, inferOnnxConvTranspose));
    kernels::addEpilogueKernel("", "Conv");
    for (const char* name : {"conv1d", "conv2d", "conv3d", "conv1d.padding", "conv2d.padding", "conv3d.padding",
                             "_convolution_mode", "convolution", "_convolution", "_convolution.deprecated"}) {
        kernels::addEpilogueKernel("aten", name);
    }
    addAtenConv(registry);
    explain("", "Conv", onnxConvTerms);
    explain("", "ConvTranspose", onnxTransposedTerms);
    explain("aten", "conv1d conv2d conv3d _convolution_mode", atenConvTerms<convArguments>);
    explain("aten", "conv_transpose1d conv_transpose2d conv_transpose3d", atenConvTerms<transposeArguments>);
    explain("aten", "convolution _convolution", atenConvTerms<convolutionArguments>);
}

}  // namespace sonde::ops
