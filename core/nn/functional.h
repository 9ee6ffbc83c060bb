#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

// Functions as models call them (torch.nn.functional, torch, methods of tensors), on values and on proxies. Each is one
// operator of the ATen set under its usual name, or a few of them; shapes and formulas stand with the layers of that
// name and with the operators. A bias or weight of None is left out.

// Functions of each number: formulas in activation.h.
Var relu(const Var& x);
Var relu6(const Var& x);
Var hardtanh(const Var& x, double low = -1, double high = 1);
Var leakyRelu(const Var& x, double slope = 0.01);
Var prelu(const Var& x, const Var& weight);
Var rrelu(const Var& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false);
Var elu(const Var& x, double alpha = 1);
Var celu(const Var& x, double alpha = 1);
Var selu(const Var& x);
Var gelu(const Var& x, const std::string& approximate = "none");
Var silu(const Var& x);
Var mish(const Var& x);
Var sigmoid(const Var& x);
Var logSigmoid(const Var& x);
Var hardsigmoid(const Var& x);
Var hardswish(const Var& x);
Var tanh(const Var& x);
Var tanhshrink(const Var& x);
Var softplus(const Var& x, double beta = 1, double threshold = 20);
Var softsign(const Var& x);
Var softshrink(const Var& x, double lambda = 0.5);
Var hardshrink(const Var& x, double lambda = 0.5);
Var threshold(const Var& x, double threshold, double value);
Var exp(const Var& x);
Var log(const Var& x);
Var abs(const Var& x);
Var sign(const Var& x);
Var sqrt(const Var& number);  ///< of a number, not of a tensor
Var clamp(const Var& x, const Var& min, const Var& max);
Var maskedFill(const Var& x, const Var& mask, double value);
/// x where the condition holds, else y; both may be numbers, which are then of PyTorch's type (1.0: float32, 1: int64,
/// beside a tensor its own unless the number is of a higher kind).
Var where(const Var& condition, const Var& x, const Var& y);

// Functions along an axis.
Var glu(const Var& x, std::int64_t dim = -1);
Var softmax(const Var& x, std::int64_t dim);
Var softmin(const Var& x, std::int64_t dim);
Var logSoftmax(const Var& x, std::int64_t dim);
Var sum(const Var& x);
/// x / max(|x|_p, eps) along dim.
Var normalize(const Var& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12);
Var cosineSimilarity(const Var& a, const Var& b, std::int64_t dim = 1, double eps = 1e-8);
Var pairwiseDistance(const Var& a, const Var& b, double p = 2, double eps = 1e-6, bool keepDim = false);

// Products.
Var linear(const Var& x, const Var& weight, const Var& bias);
Var bilinear(const Var& a, const Var& b, const Var& weight, const Var& bias = {});
Var embedding(const Var& ids, const Var& weight, std::int64_t paddingIndex = -1);
/// Bags of `ids` [M] begin at `offsets`.
Var embeddingBag(const Var& ids, const Var& weight, const Var& offsets, const std::string& mode = "mean",
                 const Var& scales = {}, bool includeLastOffset = false, std::int64_t paddingIndex = -1);
/// softmax(q k^T / sqrt(d) + mask) v over the last two axes. A boolean mask is true where a key counts.
Var scaledDotProductAttention(const Var& q, const Var& k, const Var& v, const Var& mask = {}, double dropout = 0,
                              bool causal = false);

// Convolutions: conv.h. `axes` is 1, 2 or 3.
Var conv(std::size_t axes, const Var& x, const Var& weight, const Var& bias, const Sizes& stride, const Sizes& padding,
         const Sizes& dilation, std::int64_t groups);
Var convTranspose(std::size_t axes, const Var& x, const Var& weight, const Var& bias, const Sizes& stride,
                  const Sizes& padding, const Var& outputPadding, std::int64_t groups, const Sizes& dilation);
Var conv1d(const Var& x, const Var& weight, const Var& bias = {}, const Sizes& stride = 1, const Sizes& padding = 0,
           const Sizes& dilation = 1, std::int64_t groups = 1);
Var conv2d(const Var& x, const Var& weight, const Var& bias = {}, const Sizes& stride = 1, const Sizes& padding = 0,
           const Sizes& dilation = 1, std::int64_t groups = 1);
Var conv3d(const Var& x, const Var& weight, const Var& bias = {}, const Sizes& stride = 1, const Sizes& padding = 0,
           const Sizes& dilation = 1, std::int64_t groups = 1);

// Poolings: pooling.h. `axes` is 1, 2 or 3; no stride means that of the kernel.
Var maxPool(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
            const Sizes& dilation = 1, bool ceilMode = false);
/// The pair of values and of their places in each plane.
Var maxPoolWithIndices(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride = Ints{},
                       const Sizes& padding = 0, const Sizes& dilation = 1, bool ceilMode = false);
Var maxUnpool(std::size_t axes, const Var& x, const Var& indices, const Var& outputSize);
Var avgPool(std::size_t axes, const Var& x, const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
            bool ceilMode = false, bool countPadding = true, const Var& divisor = {});
Var lpPool(std::size_t axes, const Var& x, double norm, const Sizes& kernel, const Sizes& stride = Ints{},
           bool ceilMode = false);
Var adaptiveAvgPool(std::size_t axes, const Var& x, const Var& size);
Var adaptiveMaxPool(std::size_t axes, const Var& x, const Var& size);
Var adaptiveMaxPoolWithIndices(std::size_t axes, const Var& x, const Var& size);
inline Var maxPool1d(const Var& x, const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0) {
    return maxPool(1, x, kernel, stride, padding);
}
inline Var maxPool2d(const Var& x, const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0) {
    return maxPool(2, x, kernel, stride, padding);
}
inline Var avgPool2d(const Var& x, const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0) {
    return avgPool(2, x, kernel, stride, padding);
}
inline Var adaptiveAvgPool2d(const Var& x, const Var& size) { return adaptiveAvgPool(2, x, size); }

// Normalisations: normalization.h.
Var batchNorm(const Var& x, const Var& mean, const Var& variance, const Var& weight, const Var& bias, bool training,
              double momentum, double eps);
Var instanceNorm(const Var& x, const Var& mean, const Var& variance, const Var& weight, const Var& bias,
                 bool useInputStats, double momentum, double eps);
Var layerNorm(const Var& x, const Ints& shape, const Var& weight = {}, const Var& bias = {}, double eps = 1e-5);
Var groupNorm(const Var& x, std::int64_t groups, const Var& weight = {}, const Var& bias = {}, double eps = 1e-5);
Var rmsNorm(const Var& x, const Ints& shape, const Var& weight = {}, const Var& eps = {});
Var localResponseNorm(const Var& x, std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1);

// Dropouts: dropout.h.
Var dropout(const Var& x, double p, bool training);
Var featureDropout(const Var& x, double p, bool training);
Var alphaDropout(const Var& x, double p, bool training);
Var featureAlphaDropout(const Var& x, double p, bool training);

// Other sizes: upsample.h, padding.h, fold.h.
/// Images [N,C,H,W] alone.
Var interpolate(const Var& x, double scale, const std::string& mode, const Var& alignCorners);
/// Signals, images and volumes; size and scaleFactor as in UpsampleOptions.
Var interpolate(const Var& x, const Var& size, const Var& scaleFactor, const std::string& mode,
                const Var& alignCorners = {});
Var pixelShuffle(const Var& x, std::int64_t factor);
Var pixelUnshuffle(const Var& x, std::int64_t factor);
Var channelShuffle(const Var& x, std::int64_t groups);
/// `padding` counts from the last axis on: left, right, top, bottom …; mode constant, reflect, replicate or circular.
Var pad(const Var& x, const Ints& padding, const std::string& mode = "constant", const Var& value = {});
Var unfold(const Var& x, const Sizes& kernel, const Sizes& dilation = 1, const Sizes& padding = 0,
           const Sizes& stride = 1);
Var fold(const Var& x, const Sizes& outputSize, const Sizes& kernel, const Sizes& dilation = 1,
         const Sizes& padding = 0, const Sizes& stride = 1);

// Whole tensors.
Var flatten(const Var& x, std::int64_t startDim = 0, std::int64_t endDim = -1);
Var cat(std::vector<Var> tensors, std::int64_t dim);
/// Joins what a list with unknown length holds.
Var cat(const Var& tensors, std::int64_t dim);
Var stack(std::vector<Var> tensors, std::int64_t dim);
Var onesLike(const Var& x);
Var arange(const Var& start, const Var& end, const Var& step);

// Methods of tensors; each is a CallMethod node.
Var view(const Var& x, std::vector<Var> shape);
Var reshape(const Var& x, std::vector<Var> shape);
/// `shape` is a list that may hold proxies, or one itself.
Var reshapeTo(const Var& x, const Var& shape);
Var unflatten(const Var& x, std::int64_t dim, const Var& sizes);
Var narrow(const Var& x, std::int64_t dim, const Var& start, const Var& length);
Var permute(const Var& x, const Ints& dims);
Var transpose(const Var& x, std::int64_t a, std::int64_t b);
Var contiguous(const Var& x);
Var size(const Var& x, std::int64_t dim);
Var size(const Var& x);
Var chunk(const Var& x, std::int64_t chunks, std::int64_t dim);
Var mean(const Var& x, const Ints& dims, bool keepDim = false);
Var unsqueeze(const Var& x, std::int64_t dim);
Var squeeze(const Var& x, std::int64_t dim);
Var expand(const Var& x, std::vector<Var> shape);
/// Zeros of x's dtype.
Var newZeros(const Var& x, const Var& shape);
/// x ** exponent
Var pow(const Var& x, double exponent);

}  // namespace sonde::nn
