#include "core/nn/functional.h"

// Convolutions, poolings, normalisations, dropouts.

namespace sonde::nn {

using trace::callFunction;
using trace::Function;

namespace {

/// An operator's names for 1, 2 and 3 spatial axes.
struct PerAxes {
    std::string_view op[3];
    std::string_view display[3];
    Function of(std::size_t axes, std::size_t outputs = 1) const {
        const std::size_t at = axes - 1;
        return Function{op[at], display[at], display[at], true, "aten", outputs};
    }
};

constexpr std::string_view kMaxPool[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
constexpr PerAxes kConv{{"conv1d", "conv2d", "conv3d"}, {"conv1d", "conv2d", "conv3d"}};
constexpr PerAxes kConvTranspose{{"conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"},
                                 {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}};
constexpr PerAxes kMaxPools{{kMaxPool[0], kMaxPool[1], kMaxPool[2]}, {kMaxPool[0], kMaxPool[1], kMaxPool[2]}};
constexpr PerAxes kMaxPoolsWithIndices{
    {"max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices"},
    {kMaxPool[0], kMaxPool[1], kMaxPool[2]}};
constexpr PerAxes kMaxUnpool{{"", "max_unpool2d", "max_unpool3d"}, {"", "max_unpool2d", "max_unpool3d"}};
constexpr PerAxes kAvgPool{{"avg_pool1d", "avg_pool2d", "avg_pool3d"}, {"avg_pool1d", "avg_pool2d", "avg_pool3d"}};
constexpr PerAxes kAdaptiveAvg{{"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"},
                               {"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"}};
constexpr PerAxes kAdaptiveMax{{"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"},
                               {"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"}};

std::vector<Var> maxPoolArguments(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride,
                                  const Sizes& padding, const Sizes& dilation, bool ceilMode) {
    const Ints dimSizes = kernel.of(axes);
    return {x, dimSizes, strideOr(stride, dimSizes), padding.of(axes), dilation.of(axes), ceilMode};
}

}  // namespace

Var conv(std::size_t axes, const Var& x, const Var& weight, const Var& bias, const Sizes& stride, const Sizes& padding,
         const Sizes& dilation, std::int64_t groups) {
    return callFunction(kConv.of(axes),
                        {x, weight, bias, stride.of(axes), padding.of(axes), dilation.of(axes), groups});
}

Var convTranspose(std::size_t axes, const Var& x, const Var& weight, const Var& bias, const Sizes& stride,
                  const Sizes& padding, const Var& outputPadding, std::int64_t groups, const Sizes& dilation) {
    return callFunction(kConvTranspose.of(axes),
                        {x, weight, bias, stride.of(axes), padding.of(axes), outputPadding, groups, dilation.of(axes)});
}

Var conv1d(const Var& x, const Var& weight, const Var& bias, const Sizes& stride, const Sizes& padding,
           const Sizes& dilation, std::int64_t groups) {
    return conv(1, x, weight, bias, stride, padding, dilation, groups);
}
Var conv2d(const Var& x, const Var& weight, const Var& bias, const Sizes& stride, const Sizes& padding,
           const Sizes& dilation, std::int64_t groups) {
    return conv(2, x, weight, bias, stride, padding, dilation, groups);
}
Var conv3d(const Var& x, const Var& weight, const Var& bias, const Sizes& stride, const Sizes& padding,
           const Sizes& dilation, std::int64_t groups) {
    return conv(3, x, weight, bias, stride, padding, dilation, groups);
}

Var maxPool(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
            const Sizes& dilation, bool ceilMode) {
    return callFunction(kMaxPools.of(axes), maxPoolArguments(axes, x, kernel, stride, padding, dilation, ceilMode));
}

Var maxPoolWithIndices(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                       const Sizes& dilation, bool ceilMode) {
    return callFunction(kMaxPoolsWithIndices.of(axes, 2),
                        maxPoolArguments(axes, x, kernel, stride, padding, dilation, ceilMode));
}

Var maxUnpool(std::size_t axes, const Var& x, const Var& indices, const Var& outputSize) {
    if (axes == 2) return callFunction(kMaxUnpool.of(axes), {x, indices, outputSize});
    if (axes == 3) return callFunction(kMaxUnpool.of(axes), {x, indices, outputSize, Ints(3, 1), Ints(3, 0)});
    // A signal is an image of one column.
    const Var column =
        callFunction(kMaxUnpool.of(2), {unsqueeze(x, -1), unsqueeze(indices, -1), outputSize + Var::list({1})});
    return squeeze(column, -1);
}

Var avgPool(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
            bool ceilMode, bool countPadding, const Var& divisor) {
    const Ints dimSizes = kernel.of(axes);
    std::vector<Var> arguments{x, dimSizes, strideOr(stride, dimSizes), padding.of(axes), ceilMode, countPadding};
    if (axes > 1 && !divisor.isNone()) arguments.push_back(divisor);
    return callFunction(kAvgPool.of(axes), std::move(arguments));
}

Var lpPool(std::size_t axes, const Var& x, double norm, const Sizes& kernel, const Sizes& stride, bool ceilMode) {
    const Ints dimSizes = kernel.of(axes);
    std::int64_t cells = 1;
    for (std::int64_t dimSize : dimSizes) cells *= dimSize;
    // Sums of powers, by way of means. A negative sum (odd powers) counts as 0.
    const Var means = avgPool(axes, pow(x, norm), kernel, stride, 0, ceilMode);
    return pow(sign(means) * relu(abs(means)) * static_cast<double>(cells), 1 / norm);
}

Var adaptiveAvgPool(std::size_t axes, const Var& x, const Var& size) {
    return callFunction(kAdaptiveAvg.of(axes), {x, size});
}
Var adaptiveMaxPool(std::size_t axes, const Var& x, const Var& size) {
    return adaptiveMaxPoolWithIndices(axes, x, size)[0];
}
Var adaptiveMaxPoolWithIndices(std::size_t axes, const Var& x, const Var& size) {
    return callFunction(kAdaptiveMax.of(axes, 2), {x, size});
}

Var batchNorm(const Var& x, const Var& mean, const Var& variance, const Var& weight, const Var& bias, bool training,
              double momentum, double eps) {
    return callFunction(Function{"batch_norm", "batch_norm", "torch.nn.functional.batch_norm"},
                        {x, weight, bias, mean, variance, training, momentum, eps, false});
}

Var instanceNorm(const Var& x, const Var& mean, const Var& variance, const Var& weight, const Var& bias,
                 bool useInputStats, double momentum, double eps) {
    return callFunction(Function{"instance_norm", "instance_norm", "torch.nn.functional.instance_norm"},
                        {x, weight, bias, mean, variance, useInputStats, momentum, eps, false});
}

Var layerNorm(const Var& x, const Ints& shape, const Var& weight, const Var& bias, double eps) {
    return callFunction(Function{"layer_norm", "layer_norm", "torch.nn.functional.layer_norm"},
                        {x, shape, weight, bias, eps});
}

Var groupNorm(const Var& x, std::int64_t groups, const Var& weight, const Var& bias, double eps) {
    return callFunction(Function{"group_norm", "group_norm", "torch.nn.functional.group_norm"},
                        {x, groups, weight, bias, eps});
}

Var rmsNorm(const Var& x, const Ints& shape, const Var& weight, const Var& eps) {
    return callFunction(Function{"rms_norm", "rms_norm", "torch.nn.functional.rms_norm"}, {x, shape, weight, eps});
}

Var localResponseNorm(const Var& x, std::int64_t size, double alpha, double beta, double k) {
    // The mean of squares over neighbouring channels is an average pooling of [N,1,C,everything else].
    const Var squares = unsqueeze(flatten(x * x, 2), 1);
    const Var padded = pad(squares, {0, 0, size / 2, (size - 1) / 2}, "constant", 0.0);
    const Var means = squeeze(avgPool(2, padded, Ints{size, 1}, 1), 1);
    return x / pow(reshapeTo(means, nn::size(x)) * alpha + k, beta);
}

Var dropout(const Var& x, double p, bool training) {
    return callFunction(Function{"dropout", "dropout", "torch.nn.functional.dropout"}, {x, p, training});
}
Var featureDropout(const Var& x, double p, bool training) {
    return callFunction(Function{"feature_dropout", "feature_dropout", "torch.feature_dropout"}, {x, p, training});
}
Var alphaDropout(const Var& x, double p, bool training) {
    return callFunction(Function{"alpha_dropout", "alpha_dropout", "torch.nn.functional.alpha_dropout"},
                        {x, p, training});
}
Var featureAlphaDropout(const Var& x, double p, bool training) {
    return callFunction(Function{"feature_alpha_dropout", "feature_alpha_dropout", "torch.feature_alpha_dropout"},
                        {x, p, training});
}

}  // namespace sonde::nn
