// Normalisations and softmax.

#include <cmath>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/normalize.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

using kernels::Affine;
using kernels::RowNorm;
using tensor::Dim;

/// Mean and (population) variance of each channel over batch and space, in double.
base::Result<std::pair<Tensor, Tensor>> channelMoments(const Tensor& x, double& count) {
    const std::int64_t channels = x.rank() > 1 ? x.dim(1) : 1, batch = x.rank() > 1 ? x.dim(0) : 1;
    const std::int64_t size = batch * channels > 0 ? x.numel() / (batch * channels) : 0;
    SONDE_ASSIGN(const Tensor wide, x.cast(DType::Float64));
    SONDE_ASSIGN(Tensor mean, Tensor::zeros(DType::Float64, Shape{channels}));
    SONDE_ASSIGN(Tensor variance, Tensor::zeros(DType::Float64, Shape{channels}));
    count = static_cast<double>(batch * size);
    for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0, square = 0;
        const auto each = [&](auto visit) {
            for (std::int64_t n = 0; n < batch; ++n) {
                for (std::int64_t i = 0; i < size; ++i) visit(wide.data<double>()[(n * channels + c) * size + i]);
            }
        };
        each([&](double v) { sum += v; });
        mean.mutableData<double>()[c] = sum / count;
        each([&](double v) { square += (v - sum / count) * (v - sum / count); });
        variance.mutableData<double>()[c] = square / count;
    }
    return std::pair(mean, variance);
}

/// running·momentum + batch·(1 − momentum), with the dtype of running.
base::Result<Tensor> moved(const Tensor& running, const Tensor& batch, double momentum, double factor = 1) {
    SONDE_ASSIGN(Tensor result, Tensor::allocate(DType::Float64, running.shape()));
    for (std::int64_t i = 0; i < running.numel(); ++i) {
        result.mutableData<double>()[i] = running.toDouble(i) * momentum + batch.toDouble(i) * factor * (1 - momentum);
    }
    return result.cast(running.dtype());
}

/// Before 9 `spatial` 0 gave every element of an image statistics of its own: all of [C, D…].
base::Result<void> elementNorm(KernelContext& context, double epsilon) {
    const Tensor& x = context.in("X");
    const std::int64_t each = x.rank() > 0 && x.dim(0) > 0 ? x.numel() / x.dim(0) : 0;
    Tensor parts[4];
    constexpr const char* kNames[] = {"scale", "B", "mean", "var"};
    for (std::size_t i = 0; i < 4; ++i) {
        const Tensor& given = context.in(kNames[i]);
        SONDE_ASSIGN(parts[i], given.cast(DType::Float64));
        if (parts[i].numel() != each && x.numel() > 0)
            return opError("statistics " + given.typeText() + " do not match " + x.typeText());
    }
    SONDE_ASSIGN(const Tensor wide, x.cast(DType::Float64));
    SONDE_ASSIGN(Tensor y, Tensor::allocate(DType::Float64, x.shape()));
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        const auto at = [&](std::size_t part) { return parts[part].data<double>()[i % each]; };
        y.mutableData<double>()[i] = (wide.data<double>()[i] - at(2)) / std::sqrt(at(3) + epsilon) * at(0) + at(1);
    }
    SONDE_ASSIGN(y, y.cast(x.dtype()));
    context.setOutput(Value(std::move(y)));
    return {};
}

/// training_mode since 14; before 7 `is_test` 0 meant training; from 7 to 9 inference when only Y is asked for.
base::Result<void> onnxBatchNorm(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    const double epsilon = attributes.getFloat("epsilon", 1e-5), momentum = attributes.getFloat("momentum", 0.9);
    const Tensor& x = context.in("X");
    if (attributes.getInt("spatial", 1) == 0) return elementNorm(context, epsilon);
    if (attributes.getInt("training_mode", 0) == 0) {
        if (const auto* prepared = context.prepared<kernels::ChannelAffine>())
            return kernels::applyChannelAffine(context, x, *prepared);
        return kernels::batchNorm(context, x, &context.in("scale"), &context.in("B"), context.in("mean"),
                                  context.in("var"), epsilon);
    }
    double count = 0;
    SONDE_ASSIGN(const auto moments, channelMoments(x, count));
    SONDE_TRY(
        kernels::batchNorm(context, x, &context.in("scale"), &context.in("B"), moments.first, moments.second, epsilon));
    if (context.in("mean").numel() != moments.first.numel() || context.in("var").numel() != moments.first.numel())
        return opError("running statistics do not match " + x.typeText());
    if (context.wants("mean")) {
        SONDE_ASSIGN(Tensor mean, moved(context.in("mean"), moments.first, momentum));
        context.setOutput("mean", Value(std::move(mean)));
    }
    if (context.wants("var")) {
        SONDE_ASSIGN(Tensor variance, moved(context.in("var"), moments.second, momentum));
        context.setOutput("var", Value(std::move(variance)));
    }
    return {};
}

/// Only with factors that were prepared: they outlive the call.
std::unique_ptr<kernels::EpilogueOp> batchNormEpilogue(const kernels::EpilogueCall& call) {
    const auto* affine = static_cast<const kernels::ChannelAffine*>(call.prepared);
    const std::size_t at = call.op.position("training");
    const bool training =
        call.op.domain == "aten"
            ? at >= call.inputs.size() || call.inputs[at].kind() != ValueKind::Bool || call.inputs[at].toBool()
            : call.attributes.getInt("training_mode", 0) != 0;
    const bool isFixed = affine && !training && call.attributes.getInt("spatial", 1) != 0;  // by channel
    return isFixed ? kernels::affineEpilogue(call, affine->factor32, affine->shift32) : nullptr;
}

base::Result<void> inferBatchNorm(InferContext& context) {
    context.set(context.in("X"));
    context.set("mean", context.in("mean"));
    context.set("var", context.in("var"));
    return {};
}

/// input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled.
base::Result<void> atenBatchNorm(KernelContext& context) {
    SONDE_ASSIGN(const double epsilon, numberOf(context.value("eps")));
    const bool training = context.value("training").kind() == ValueKind::Bool && context.value("training").toBool();
    if (!training && context.has("running_mean") && context.has("running_var")) {
        if (const auto* prepared = context.prepared<kernels::ChannelAffine>())
            return kernels::applyChannelAffine(context, context.in("input"), *prepared);
        return kernels::batchNorm(context, context.in("input"), context.optionalIn("weight"),
                                  context.optionalIn("bias"), context.in("running_mean"), context.in("running_var"),
                                  epsilon);
    }
    double count = 0;
    SONDE_ASSIGN(const auto moments, channelMoments(context.in("input"), count));
    return kernels::batchNorm(context, context.in("input"), context.optionalIn("weight"), context.optionalIn("bias"),
                              moments.first, moments.second, epsilon);
}

base::Result<void> instanceNorm(KernelContext& context, const Tensor* scale, const Tensor* bias, double epsilon) {
    const Tensor& x = context.in("input");
    if (x.rank() < 2) return opError("cannot normalise instances of " + x.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const std::int64_t rows = x.dim(0) * x.dim(1);
    const RowNorm options{rows, rows ? x.numel() / rows : 0, epsilon, true, Affine::PerChannel, x.dim(1), 1};
    return kernels::normalizeRows(context, x, scale, bias, options, y, nullptr, nullptr);
}

/// Groups of channels of one image share mean and variance. Scale and bias: one for each channel.
base::Result<void> groupNorm(KernelContext& context, std::int64_t groups, const Tensor* scale, const Tensor* bias,
                             double epsilon) {
    const Tensor& x = context.in({"input", "X"});
    if (x.rank() < 2 || groups < 1 || x.dim(1) % groups != 0)
        return opError(std::to_string(groups) + " groups do not match " + x.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const std::int64_t rows = x.dim(0) * groups;
    const RowNorm options{
        rows, rows ? x.numel() / rows : 0, epsilon, true, Affine::PerChannel, x.dim(1), x.dim(1) / groups};
    return kernels::normalizeRows(context, x, scale, bias, options, y, nullptr, nullptr);
}

/// Since 21 scale and bias are per channel; in 18 they were per group.
base::Result<void> onnxGroupNorm(KernelContext& context) {
    const std::int64_t groups = context.attributes().getInt("num_groups", 1);
    const double epsilon = context.attributes().getFloat("epsilon", 1e-5);
    const Tensor& x = context.in("X");
    const Tensor *scale = &context.in("scale"), *bias = &context.in("bias");
    if (groups < 1 || x.rank() < 2 || x.dim(1) % groups != 0)
        return opError(std::to_string(groups) + " groups do not match " + x.typeText());
    if (scale->numel() == x.dim(1) || scale->numel() != groups || bias->numel() != groups)
        return groupNorm(context, groups, scale, bias, epsilon);
    const auto repeated = [&](const Tensor& perGroup) -> base::Result<Tensor> {
        const std::int64_t each = x.dim(1) / groups;
        SONDE_ASSIGN(const Tensor wide, perGroup.unsqueezed(1).expanded(Shape{groups, each}));
        return wide.reshaped(Shape{x.dim(1)});
    };
    SONDE_ASSIGN(const Tensor wideScale, repeated(*scale));
    SONDE_ASSIGN(const Tensor wideBias, repeated(*bias));
    return groupNorm(context, groups, &wideScale, &wideBias, epsilon);
}

/// Normalises over the axes from `axis` on. Outputs: Y, Mean, InvStdDev with those axes of dimension 1.
base::Result<void> layerNorm(KernelContext& context, std::size_t axis, const Tensor* scale, const Tensor* bias,
                             double epsilon, bool subtractMean) {
    const Tensor& x = context.in({"X", "input"});
    std::int64_t rows = 1, length = 1;
    Shape reduced;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        (i < axis ? rows : length) *= x.dim(i);
        reduced.push_back(i < axis ? x.dim(i) : 1);
    }
    // Scale and bias may be broadcast to the normalised part.
    Tensor full[2];
    const Tensor* given[2] = {scale, bias};
    for (int i = 0; i < 2; ++i) {
        if (!given[i] || given[i]->numel() == length) continue;
        std::vector<std::int64_t> tail(x.shape().begin() + static_cast<std::ptrdiff_t>(axis), x.shape().end());
        SONDE_ASSIGN(full[i], given[i]->expanded(Shape(std::move(tail))));
        SONDE_ASSIGN(full[i], full[i].contiguous());
        given[i] = &full[i];
    }
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    float* moments[2] = {nullptr, nullptr};
    for (std::size_t i = 0; i < 2; ++i) {
        if (!context.wants(i + 1)) continue;
        SONDE_ASSIGN(Tensor out, context.output(i + 1, DType::Float32, reduced));
        moments[i] = out.mutableData<float>();
    }
    const RowNorm options{rows, length, epsilon, subtractMean, Affine::PerElement, 1, 1};
    return kernels::normalizeRows(context, x, given[0], given[1], options, y, moments[0], moments[1]);
}

base::Result<void> onnxLayerNorm(KernelContext& context, bool subtractMean) {
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), context.in("X").rank()));
    const double epsilon = context.attributes().getFloat("epsilon", 1e-5);
    const DType type = context.in("X").dtype(), wanted = context.in({"scale", "Scale"}).dtype();
    if (type == wanted)
        return layerNorm(context, axis, &context.in({"scale", "Scale"}), context.optionalIn("B"), epsilon,
                         subtractMean);
    // RMSNormalization's result has the dtype of its scale.
    SONDE_ASSIGN(const Tensor scale, context.in({"scale", "Scale"}).cast(type));
    SONDE_TRY(layerNorm(context, axis, &scale, context.optionalIn("B"), epsilon, subtractMean));
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor result, outputs[0].tensor().cast(wanted));
    outputs[0] = Value(std::move(result));
    context.setOutputs(std::move(outputs));
    return {};
}

base::Result<void> inferLayerNorm(InferContext& context) {
    context.set(context.in("X"));
    std::optional<Dims> dims = context.in("X").shape;
    if (dims) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), dims->size()));
        for (std::size_t i = axis; i < dims->size(); ++i) (*dims)[i] = Dim::of(1);
    }
    context.set("Mean", TypeInfo::tensor(DType::Float32, dims));
    context.set("InvStdDev", TypeInfo::tensor(DType::Float32, dims));
    return {};
}

/// layer_norm: input, normalized_shape, weight, bias, eps.
base::Result<void> atenLayerNorm(KernelContext& context) {
    SONDE_ASSIGN(const std::vector<std::int64_t> normalized, intsOf(context.value("normalized_shape")));
    const Tensor& x = context.in("input");
    if (normalized.size() > x.rank()) return opError("normalized_shape does not match " + x.typeText());
    const std::size_t axis = x.rank() - normalized.size();
    for (std::size_t i = 0; i < normalized.size(); ++i) {
        if (x.dim(axis + i) != normalized[i]) return opError("normalized_shape does not match " + x.typeText());
    }
    SONDE_ASSIGN(const double epsilon, numberOf(context.value("eps")));
    return layerNorm(context, axis, context.optionalIn("weight"), context.optionalIn("bias"), epsilon, true);
}

/// x / (bias + alpha/size · Σ of squares over neighbouring channels)^beta
base::Result<void> localResponse(KernelContext& context) {
    const Tensor& x = context.in("X");
    const Attributes& attributes = context.attributes();
    const std::int64_t size = attributes.getInt("size", 1);
    const double alpha = attributes.getFloat("alpha", 1e-4), beta = attributes.getFloat("beta", 0.75),
                 bias = attributes.getFloat("bias", 1);
    if (x.rank() < 2 || size < 1) return opError("size " + std::to_string(size) + " does not match " + x.typeText());
    const std::int64_t channels = x.dim(1), plane = x.numel() > 0 ? x.numel() / (x.dim(0) * channels) : 0;
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
    tensor::dispatchFloating(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        context.pool().parallelFor(
            static_cast<std::size_t>(x.dim(0) * channels), 1, [&](std::size_t begin, std::size_t end) {
                for (auto at = static_cast<std::int64_t>(begin); at < static_cast<std::int64_t>(end); ++at) {
                    const std::int64_t c = at % channels;
                    const T* image = x.data<T>() + (at - c) * plane;
                    T* out = y.mutableData<T>() + at * plane;
                    for (std::int64_t i = 0; i < plane; ++i) {
                        double square = 0;
                        for (std::int64_t k = std::max<std::int64_t>(0, c - before);
                             k <= std::min(channels - 1, c + std::min(after, channels)); ++k) {
                            const double v = static_cast<double>(image[k * plane + i]);
                            square += v * v;
                        }
                        out[i] = static_cast<T>(static_cast<double>(image[c * plane + i]) *
                                                std::pow(bias + alpha / static_cast<double>(size) * square, -beta));
                    }
                }
            });
    });
    return {};
}

/// x / ‖x‖_p along an axis; 0 where the norm is 0.
base::Result<void> lpNormalization(KernelContext& context) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), x.rank()));
    const std::int64_t p = context.attributes().getInt("p", 2);
    if (p != 1 && p != 2) return opError("p must be 1 or 2, but is " + std::to_string(p));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
    const std::int64_t n = x.dim(axis);
    tensor::dispatchFloating(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t line = 0; n > 0 && line < x.numel() / n; ++line) {
            const std::int64_t at = line / inner * inner * n + line % inner;
            double norm = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const double v = static_cast<double>(x.data<T>()[at + i * inner]);
                norm += p == 1 ? std::fabs(v) : v * v;
            }
            if (p == 2) norm = std::sqrt(norm);
            for (std::int64_t i = 0; i < n; ++i) {
                y.mutableData<T>()[at + i * inner] =
                    static_cast<T>(norm == 0 ? 0.0 : static_cast<double>(x.data<T>()[at + i * inner]) / norm);
            }
        }
    });
    return {};
}

/// Before 13 softmax ran over all axes from `axis` (default 1) on, flattened to one.
base::Result<void> softmaxFlattened(KernelContext& context, bool logarithm) {
    const Tensor& x = context.in("input");
    const std::int64_t given = context.attributes().getInt("axis", 1);
    std::size_t axis = x.rank();
    if (given != static_cast<std::int64_t>(x.rank())) {
        SONDE_ASSIGN(axis, axisOf(given, x.rank()));
    }
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < x.rank(); ++i) (i < axis ? outer : inner) *= x.dim(i);
    SONDE_ASSIGN(const Tensor matrix, x.reshaped(Shape{outer, inner}));
    SONDE_TRY(kernels::softmax(context, matrix, 1, logarithm));
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor shaped, outputs[0].tensor().reshaped(x.shape()));
    outputs[0] = Value(std::move(shaped));
    context.setOutputs(std::move(outputs));
    return {};
}

base::Result<void> softmaxAxis(KernelContext& context, std::int64_t axis, const Tensor& x, bool logarithm) {
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, std::max<std::size_t>(x.rank(), 1)));
    return kernels::softmax(context, x, at, logarithm);
}

base::Result<void> hardmaxLines(KernelContext& context, std::int64_t n, std::int64_t inner) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    tensor::dispatchFloating(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* in = x.data<T>();
        T* out = y.mutableData<T>();
        for (std::int64_t line = 0; n > 0 && line < x.numel() / n; ++line) {
            const std::int64_t at = line / inner * inner * n + line % inner;
            std::int64_t best = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const auto v = static_cast<double>(in[at + i * inner]), b = static_cast<double>(in[at + best * inner]);
                if (!std::isnan(b) && (v > b || std::isnan(v))) best = i;
                out[at + i * inner] = T(0);
            }
            out[at + best * inner] = T(1);
        }
    });
    return {};
}

base::Result<void> hardmax(KernelContext& context, bool flattened) {
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", flattened ? 1 : -1), x.rank()));
    std::int64_t inner = 1, tail = 1;
    for (std::size_t i = axis; i < x.rank(); ++i) {
        tail *= x.dim(i);
        if (i > axis) inner *= x.dim(i);
    }
    return flattened ? hardmaxLines(context, tail, 1) : hardmaxLines(context, x.dim(axis), inner);
}

/// dim, then dtype: softmax.int and its kin.
base::Result<void> atenSoftmax(KernelContext& context, bool logarithm) {
    SONDE_ASSIGN(const std::int64_t axis, intOf(context.value("dim")));
    Tensor x = context.in("self");
    if (context.value({"half_to_float", "dtype"}).kind() == ValueKind::Int) {
        const auto dtype = dtypeFromTorch(context.value({"half_to_float", "dtype"}).toInt());
        if (!dtype) return opError("there is no element type " + context.value({"half_to_float", "dtype"}).text());
        SONDE_ASSIGN(x, x.cast(*dtype));
    }
    if (!tensor::isFloating(x.dtype())) {
        SONDE_ASSIGN(x, x.cast(DType::Float32));
    }
    return softmaxAxis(context, axis, x, logarithm);
}

base::Result<void> inferAtenSoftmax(InferContext& context) {
    TypeInfo type = context.in("self");
    if (context.constant({"half_to_float", "dtype"}).kind() == ValueKind::Int)
        type.dtype = dtypeFromTorch(context.constant({"half_to_float", "dtype"}).toInt()).value_or(DType::Undefined);
    else if (type.dtype != DType::Undefined && !tensor::isFloating(type.dtype)) type.dtype = DType::Float32;
    context.set(std::move(type));
    return {};
}

void defineSoftmax(Registry& registry) {
    for (bool logarithm : {false, true}) {
        const std::string_view name = logarithm ? "LogSoftmax" : "Softmax";
        const std::string_view summary = logarithm ? "logarithm of softmax" : "e^x, divided by their sum along an axis";
        registry.add(
            Row(name, 1, summary, Category::Activation)
                .in("input", kFloats, "T")
                .out("output")
                .attrInt("axis", 1)
                .runs([logarithm](KernelContext& context) { return softmaxFlattened(context, logarithm); }, inferSame));
        registry.add(Row(name, 13, summary, Category::Activation)
                         .in("input", kFloats, "T")
                         .out("output")
                         .attrInt("axis", -1)
                         .runs(
                             [logarithm](KernelContext& context) {
                                 return softmaxAxis(context, context.attributes().getInt("axis", -1),
                                                    context.in("input"), logarithm);
                             },
                             inferSame));
    }
    registry.add(Row("Hardmax", 1, "1 at the largest value of each line, else 0", Category::Activation)
                     .in("input", kFloats, "T")
                     .out("output")
                     .attrInt("axis", 1)
                     .runs([](KernelContext& context) { return hardmax(context, true); }, inferSame));
    registry.add(Row("Hardmax", 13, "1 at the largest value of each line, else 0", Category::Activation)
                     .in("input", kFloats, "T")
                     .out("output")
                     .attrInt("axis", -1)
                     .runs([](KernelContext& context) { return hardmax(context, false); }, inferSame));
    for (std::string_view schema : {"softmax.int(Tensor self, int dim, int? dtype=None) -> Tensor",
                                    "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"}) {
        registry.add(atenRow(
            schema, "e^x, divided by their sum along an axis", Category::Activation,
            [](KernelContext& context) { return atenSoftmax(context, false); }, inferAtenSoftmax));
    }
    for (std::string_view schema : {"log_softmax.int(Tensor self, int dim, int? dtype=None) -> Tensor",
                                    "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"}) {
        registry.add(atenRow(
            schema, "logarithm of softmax", Category::Activation,
            [](KernelContext& context) { return atenSoftmax(context, true); }, inferAtenSoftmax));
    }
}

void defineAtenNorm(Registry& registry) {
    OpDef batch = atenRow(
        "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, "
        "float eps, bool cudnn_enabled) -> Tensor",
        "(x − mean)/√(var + ε)·scale + bias by channel", Category::Normalization, atenBatchNorm, inferSame);
    batch.prepare = [](const Constants& constants, const Attributes&,
                       RunEnvironment&) -> base::Result<std::unique_ptr<PreparedState>> {
        const Value& epsilon = constants["eps"];
        if (!epsilon.isNumber() || epsilon.number() < 0) return std::unique_ptr<PreparedState>();
        return kernels::prepareBatchNorm(constants["weight"], constants["bias"], constants["running_mean"],
                                         constants["running_var"], epsilon.number());
    };
    registry.add(std::move(batch));
    registry.add(atenRow(
        "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
        "mean 0 and variance 1 over the last axes", Category::Normalization, atenLayerNorm, inferSame));
    registry.add(atenRow(
        "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
        "mean 0 and variance 1 over groups of channels", Category::Normalization,
        [](KernelContext& context) -> base::Result<void> {
            SONDE_ASSIGN(const std::int64_t groups, intOf(context.value("num_groups")));
            SONDE_ASSIGN(const double epsilon, numberOf(context.value("eps")));
            return groupNorm(context, groups, context.optionalIn("weight"), context.optionalIn("bias"), epsilon);
        },
        inferSame));
    registry.add(atenRow(
        "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, "
        "float momentum, float eps, bool cudnn_enabled) -> Tensor",
        "mean 0 and variance 1 of each channel of each image", Category::Normalization,
        [](KernelContext& context) -> base::Result<void> {
            SONDE_ASSIGN(const double epsilon, numberOf(context.value("eps")));
            if (context.value("use_input_stats").kind() == ValueKind::Bool &&
                !context.value("use_input_stats").toBool() && context.has("running_mean") &&
                context.has("running_var")) {
                return kernels::batchNorm(context, context.in("input"), context.optionalIn("weight"),
                                          context.optionalIn("bias"), context.in("running_mean"),
                                          context.in("running_var"), epsilon);
            }
            return instanceNorm(context, context.optionalIn("weight"), context.optionalIn("bias"), epsilon);
        },
        inferSame));
}

}  // namespace

void define_normalization(Registry& registry) {
    const auto batchRow = [](int since) {
        Row row("BatchNormalization", since, "(x − mean)/√(var + ε)·scale + bias by channel", Category::Normalization);
        row.in("X", kFloats)
            .in("scale", kFloats)
            .in("B", kFloats)
            .in("mean", kFloats)
            .in("var", kFloats)
            .out("Y")
            .out("mean", Arity::Optional)
            .out("var", Arity::Optional)
            .attrFloat("epsilon", 1e-5)
            .attrFloat("momentum", 0.9)
            .runs(onnxBatchNorm, inferBatchNorm)
            .prepares([](const Constants& constants, const Attributes& attributes, RunEnvironment&) {
                return kernels::prepareBatchNorm(constants["scale"], constants["B"], constants["mean"],
                                                 constants["var"], attributes.getFloat("epsilon", 1e-5));
            });
        return row;
    };
    registry.add(batchRow(1).attrInt("spatial", 1));
    registry.add(batchRow(9));
    for (const auto& [domain, name] : {std::pair("", "BatchNormalization"), std::pair("aten", "batch_norm")}) {
        kernels::addEpilogueKernel(domain, name);
        kernels::addEpilogueOp(domain, name, batchNormEpilogue);
    }
    registry.add(batchRow(14).attrInt("training_mode", 0));
    registry.add(Row("InstanceNormalization", 1,
                     "mean 0 and variance 1 of each channel of each image, scaled and shifted", Category::Normalization)
                     .in("input", kFloats, "T")
                     .in("scale", kFloats, "T")
                     .in("B", kFloats, "T")
                     .out("output")
                     .attrFloat("epsilon", 1e-5)
                     .runs(
                         [](KernelContext& context) {
                             return instanceNorm(context, &context.in("scale"), &context.in("B"),
                                                 context.attributes().getFloat("epsilon", 1e-5));
                         },
                         inferSame));
    registry.add(Row("GroupNormalization", 18, "mean 0 and variance 1 over groups of channels, scaled and shifted",
                     Category::Normalization)
                     .in("X", kFloats, "T")
                     .in("scale", kFloats, "T")
                     .in("bias", kFloats, "T")
                     .out("Y")
                     .attrFloat("epsilon", 1e-5)
                     .required("num_groups", AttributeKind::Int)
                     .attrInt("stash_type", 1)
                     .runs(onnxGroupNorm, inferSame));
    registry.add(Row("LayerNormalization", 17, "mean 0 and variance 1 over the axes from `axis` on, scaled and shifted",
                     Category::Normalization)
                     .in("X", kFloats, "T")
                     .in("Scale", kFloats, "T")
                     .optionalIn("B", kFloats, "T")
                     .out("Y")
                     .out("Mean", Arity::Optional)
                     .out("InvStdDev", Arity::Optional)
                     .attrInt("axis", -1)
                     .attrFloat("epsilon", 1e-5)
                     .attrInt("stash_type", 1)
                     .runs([](KernelContext& context) { return onnxLayerNorm(context, true); }, inferLayerNorm));
    registry.add(Row("RMSNormalization", 23, "x divided by its root mean square over the axes from `axis` on, scaled",
                     Category::Normalization)
                     .in("X", kFloats)
                     .in("scale", kFloats)
                     .out("Y")
                     .attrInt("axis", -1)
                     .attrFloat("epsilon", 1e-5)
                     .attrInt("stash_type", 1)
                     .runs([](KernelContext& context) { return onnxLayerNorm(context, false); },
                           [](InferContext& context) -> base::Result<void> {
                               context.set(TypeInfo::tensor(context.in("scale").dtype, context.in("X").shape));
                               return {};
                           }));
    registry.add(Row("LRN", 1, "x divided by a power of the squares of neighbouring channels", Category::Normalization)
                     .in("X", kFloats, "T")
                     .out("Y")
                     .attrFloat("alpha", 1e-4)
                     .attrFloat("beta", 0.75)
                     .attrFloat("bias", 1)
                     .required("size", AttributeKind::Int)
                     .runs(localResponse, inferSame));
    registry.add(Row("LpNormalization", 1, "x divided by its p-norm along an axis", Category::Normalization)
                     .in("input", kFloats, "T")
                     .out("output")
                     .attrInt("axis", -1)
                     .attrInt("p", 2)
                     .runs(lpNormalization, inferSame));
    defineSoftmax(registry);
    defineAtenNorm(registry);
    explain("", "Softmax", dependence::ofLine, "exp(x - max(row)) / sum(exp(row - max(row)))");
    explain("aten", "softmax _softmax", dependence::ofLine, "exp(x - max(row)) / sum(exp(row - max(row)))");
    explain("", "LogSoftmax", dependence::ofLine, "x - max(row) - log(sum(exp(row - max(row))))");
    explain("aten", "log_softmax _log_softmax", dependence::ofLine, "x - max(row) - log(sum(exp(row - max(row))))");
    explain("", "LpNormalization", dependence::ofLine,
            "where(max(abs(row)) > 0, x / sum(abs(row) ** p) ** (1 / p), 0)");
    explain("", "Hardmax", dependence::ofLine, "argmax(row) == position");
    explain("", "BatchNormalization", dependence::batchNormalised);
    explain("aten", "batch_norm", dependence::batchNormalised);
    explain("", "LayerNormalization", dependence::layerNormalised);
    explain("aten", "layer_norm", dependence::layerNormalised);
    explain("", "RMSNormalization", dependence::rootMeanSquareNormalised);
    explain("", "InstanceNormalization", dependence::instanceNormalised);
    explain("aten", "instance_norm", dependence::instanceNormalised);
    explain("", "GroupNormalization", dependence::groupNormalised);
    explain("aten", "group_norm", dependence::groupNormalised);
    explain("", "LRN", dependence::localResponse);
}

}  // namespace sonde::ops
