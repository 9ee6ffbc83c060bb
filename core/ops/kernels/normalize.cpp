#include "core/ops/kernels/normalize.h"

#include <cmath>
#include <limits>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/kernels/scratch.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/cast.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops::kernels {

namespace {

base::Result<std::vector<double>> numbers(const Tensor* tensor, std::int64_t count, double fallback, const char* what) {
    if (!tensor) return std::vector<double>(static_cast<std::size_t>(count), fallback);
    if (tensor->numel() != count)
        return opError(std::string(what) + " " + tensor->typeText() + " must have " + std::to_string(count) +
                       " elements");
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(tensor->toDouble(i));
    return values;
}

}  // namespace

base::Result<ChannelAffine> channelAffine(const Tensor* scale, const Tensor* bias, const Tensor& mean,
                                          const Tensor& variance, double epsilon) {
    const std::int64_t channels = mean.numel();
    SONDE_ASSIGN(const std::vector<double> s, numbers(scale, channels, 1, "scale"));
    SONDE_ASSIGN(const std::vector<double> b, numbers(bias, channels, 0, "bias"));
    SONDE_ASSIGN(const std::vector<double> m, numbers(&mean, channels, 0, "mean"));
    SONDE_ASSIGN(const std::vector<double> v, numbers(&variance, channels, 1, "variance"));
    ChannelAffine affine;
    for (std::size_t c = 0; c < s.size(); ++c) {
        affine.factor.push_back(s[c] / std::sqrt(v[c] + epsilon));
        affine.shift.push_back(b[c] - m[c] * affine.factor[c]);
        affine.factor32.push_back(static_cast<float>(affine.factor[c]));
        affine.shift32.push_back(static_cast<float>(affine.shift[c]));
    }
    return affine;
}

base::Result<std::unique_ptr<PreparedState>> prepareBatchNorm(const Value& scale, const Value& bias, const Value& mean,
                                                              const Value& variance, double epsilon) {
    for (const Value* value : {&mean, &scale, &bias, &variance}) {
        if (!value->isTensor() || value->tensor().numel() != mean.tensor().numel())
            return std::unique_ptr<PreparedState>();
    }
    SONDE_ASSIGN(ChannelAffine affine,
                 channelAffine(&scale.tensor(), &bias.tensor(), mean.tensor(), variance.tensor(), epsilon));
    return std::unique_ptr<PreparedState>(std::make_unique<ChannelAffine>(std::move(affine)));
}

base::Result<void> batchNorm(KernelContext& context, const Tensor& x, const Tensor* scale, const Tensor* bias,
                             const Tensor& mean, const Tensor& variance, double epsilon) {
    SONDE_ASSIGN(const ChannelAffine affine, channelAffine(scale, bias, mean, variance, epsilon));
    return applyChannelAffine(context, x, affine);
}

base::Result<void> applyChannelAffine(KernelContext& context, const Tensor& x, const ChannelAffine& affine) {
    if (x.rank() < 1) return opError("cannot normalise a scalar");
    const std::int64_t channels = x.rank() > 1 ? x.dim(1) : 1;
    const std::vector<double>&factor = affine.factor, &shift = affine.shift;
    if (static_cast<std::int64_t>(factor.size()) != channels) {
        return opError("mean and variance of " + std::to_string(factor.size()) + " channels do not match " +
                       x.typeText());
    }
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    if (x.numel() == 0) return {};
    const Epilogue* epilogue = Epilogue::of(y);
    const std::int64_t planes = x.rank() > 1 ? x.dim(0) * channels : 1;
    const std::int64_t size = x.numel() / planes;
    const std::size_t grain = static_cast<std::size_t>(16384 / size + 1);
    if (!tensor::dispatchFloating(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            context.pool().parallelFor(
                static_cast<std::size_t>(planes), grain, [&](std::size_t begin, std::size_t end) {
                    Epilogue::Piece piece(epilogue);
                    for (std::size_t plane = begin; plane < end; ++plane) {
                        const std::size_t c = plane % factor.size();
                        const T* in = x.data<T>() + static_cast<std::int64_t>(plane) * size;
                        T* out = y.mutableData<T>() + static_cast<std::int64_t>(plane) * size;
                        if constexpr (std::is_same_v<T, float>) {
                            floatKernels().scaleShift(in, affine.factor32[c], affine.shift32[c], out,
                                                      static_cast<std::size_t>(size));
                            piece.apply(static_cast<std::int64_t>(plane) * size, size);
                        } else {
                            for (std::int64_t i = 0; i < size; ++i)
                                out[i] = static_cast<T>(static_cast<double>(in[i]) * factor[c] + shift[c]);
                        }
                    }
                    piece.end();
                });
        })) {
        return opError("normalisation is not defined for " + x.typeText());
    }
    return {};
}

namespace {

struct Moments {
    double mean, inverse;
};

template <typename T>
Moments momentsOf(const T* row, const RowNorm& options) {
    const auto n = static_cast<std::size_t>(options.length);
    double mean = 0, square = 0;
    if constexpr (std::is_same_v<T, float>) {
        if (options.subtractMean) mean = static_cast<double>(floatKernels().sum(row, n)) / static_cast<double>(n);
        square = static_cast<double>(floatKernels().sumSquares(row, static_cast<float>(mean), n));
    } else {
        if (options.subtractMean) {
            for (std::size_t i = 0; i < n; ++i) mean += static_cast<double>(row[i]);
            mean /= static_cast<double>(n);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double d = static_cast<double>(row[i]) - mean;
            square += d * d;
        }
    }
    return {mean, 1 / std::sqrt(square / static_cast<double>(n) + options.epsilon)};
}

/// `values` as float32 if they are that already and stand in a row; null otherwise.
const float* floatsOf(const Tensor* values) {
    return values && values->dtype() == DType::Float32 && values->isContiguous() ? values->data<float>() : nullptr;
}

template <typename T>
void affine(const T* in, T* out, std::int64_t row, const RowNorm& options, const Moments& m, const double* scale,
            const double* bias) {
    if (options.affine == Affine::PerChannel) {
        const std::int64_t size = options.length / options.channelsPerRow;
        for (std::int64_t c = 0; c < options.channelsPerRow; ++c) {
            const std::int64_t channel = (row * options.channelsPerRow + c) % options.channels;
            const double factor = m.inverse * (scale ? scale[channel] : 1.0),
                         shift = (bias ? bias[channel] : 0.0) - m.mean * factor;
            for (std::int64_t i = c * size; i < (c + 1) * size; ++i)
                out[i] = static_cast<T>(static_cast<double>(in[i]) * factor + shift);
        }
        return;
    }
    for (std::int64_t i = 0; i < options.length; ++i) {
        const double unit = (static_cast<double>(in[i]) - m.mean) * m.inverse;
        out[i] = static_cast<T>(unit * (scale ? scale[i] : 1.0) + (bias ? bias[i] : 0.0));
    }
}

}  // namespace

namespace {

/// Layer normalisation of float32 with the usual parameters.
void normalizeFloatRows(base::ThreadPool& pool, const float* x, const float* scale, const float* bias,
                        const RowNorm& options, float* y, float* means, float* inverseDeviations) {
    const auto n = static_cast<std::size_t>(options.length);
    pool.parallelFor(static_cast<std::size_t>(options.rows), 8192 / std::max<std::size_t>(n, 1) + 1,
                     [&](std::size_t begin, std::size_t end) {
                         for (std::size_t row = begin; row < end; ++row) {
                             const Moments moments = momentsOf(x + row * n, options);
                             const auto mean = static_cast<float>(moments.mean),
                                        inverse = static_cast<float>(moments.inverse);
                             floatKernels().normalizeRow(x + row * n, mean, inverse, scale, bias, y + row * n, n);
                             if (means) means[row] = mean;
                             if (inverseDeviations) inverseDeviations[row] = inverse;
                         }
                     });
}

}  // namespace

base::Result<void> normalizeRows(KernelContext& context, const Tensor& x, const Tensor* scale, const Tensor* bias,
                                 const RowNorm& options, Tensor& y, float* means, float* inverseDeviations) {
    const std::int64_t parameters = options.affine == Affine::PerElement ? options.length : options.channels;
    const float *scales = floatsOf(scale), *biases = floatsOf(bias);
    if (x.dtype() == DType::Float32 && options.affine == Affine::PerElement && scales && (biases || !bias) &&
        scale->numel() == parameters && (!bias || bias->numel() == parameters)) {
        normalizeFloatRows(context.pool(), x.data<float>(), scales, biases, options, y.mutableData<float>(), means,
                           inverseDeviations);
        return {};
    }
    if (isNarrow(x.dtype()) && scale && (!bias || isNarrow(bias->dtype()))) {
        SONDE_ASSIGN(const Tensor wideX, x.cast(DType::Float32));
        SONDE_ASSIGN(const Tensor wideScale, scale->cast(DType::Float32));
        SONDE_ASSIGN(const Tensor wideBias, bias ? bias->cast(DType::Float32) : base::Result<Tensor>(Tensor()));
        SONDE_ASSIGN(Tensor wideY, Tensor::allocate(DType::Float32, x.shape()));
        SONDE_TRY(normalizeRows(context, wideX, &wideScale, bias ? &wideBias : nullptr, options, wideY, means,
                                inverseDeviations));
        tensor::castElements(DType::Float32, wideY.bytes(), y.dtype(), y.mutableBytes(),
                             static_cast<std::size_t>(y.numel()));
        return {};
    }
    SONDE_ASSIGN(const std::vector<double> s, numbers(scale, scale ? parameters : 0, 1, "scale"));
    SONDE_ASSIGN(const std::vector<double> b, numbers(bias, bias ? parameters : 0, 0, "bias"));
    if (x.numel() == 0) return {};
    const std::size_t grain = static_cast<std::size_t>(8192 / std::max<std::int64_t>(options.length, 1) + 1);
    if (!tensor::dispatchFloating(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            T* target = y.mutableData<T>();
            context.pool().parallelFor(
                static_cast<std::size_t>(options.rows), grain, [&](std::size_t begin, std::size_t end) {
                    for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
                        const T* in = x.data<T>() + row * options.length;
                        const Moments moments = momentsOf(in, options);
                        affine(in, target + row * options.length, row, options, moments, scale ? s.data() : nullptr,
                               bias ? b.data() : nullptr);
                        if (means) means[row] = static_cast<float>(moments.mean);
                        if (inverseDeviations) inverseDeviations[row] = static_cast<float>(moments.inverse);
                    }
                });
        })) {
        return opError("normalisation is not defined for " + x.typeText());
    }
    return {};
}

namespace {

/// Elements of one softmax lie `step` apart.
template <typename T>
void softmaxLine(const T* x, T* y, std::int64_t n, std::int64_t step, bool logarithm) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i * step]);
        if (v > largest || std::isnan(v)) largest = v;
    }
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i * step]) - largest);
    const double logSum = std::log(sum);
    for (std::int64_t i = 0; i < n; ++i) {
        const double shifted = static_cast<double>(x[i * step]) - largest;
        y[i * step] = static_cast<T>(logarithm ? shifted - logSum : std::exp(shifted) / sum);
    }
}

void softmaxRow(const float* x, float* y, std::size_t n, bool logarithm) {
    const FloatKernels& loops = floatKernels();
    const float largest = loops.maximum(x, n);
    const float sum = loops.expSum(x, largest, y, n);
    if (!logarithm) return loops.scaleShift(y, 1.0F / sum, 0.0F, y, n);
    // One after the other: next to a large number the logarithm would lose its digits.
    loops.scaleShift(x, 1.0F, -largest, y, n);
    loops.scaleShift(y, 1.0F, -std::log(sum), y, n);
}

/// float16 and bfloat16, whose results are rounded once.
void softmaxNarrowRow(const std::byte* x, std::byte* y, DType dtype, std::size_t n, bool logarithm) {
    float* const row = Scratch::of<float>(0, 2 * n);
    tensor::castElements(dtype, x, DType::Float32, row, n);
    softmaxRow(row, row + n, n, logarithm);
    tensor::castElements(DType::Float32, row + n, dtype, y, n);
}

}  // namespace

base::Result<void> softmax(KernelContext& context, const Tensor& x, std::size_t axis, bool logarithm) {
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    if (x.numel() == 0) return {};
    const std::int64_t n = x.rank() ? x.dim(axis) : 1;
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
    const std::int64_t lines = x.numel() / n;
    const std::size_t grain = static_cast<std::size_t>(4096 / n + 1);
    if (!tensor::dispatchFloating(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            const T* in = x.data<T>();
            T* out = y.mutableData<T>();
            context.pool().parallelFor(static_cast<std::size_t>(lines), grain, [&](std::size_t begin, std::size_t end) {
                for (auto line = static_cast<std::int64_t>(begin); line < static_cast<std::int64_t>(end); ++line) {
                    const std::int64_t at = line / inner * inner * n + line % inner;
                    if constexpr (std::is_same_v<T, float>) {
                        if (inner == 1) {
                            softmaxRow(in + at, out + at, static_cast<std::size_t>(n), logarithm);
                            continue;
                        }
                    } else if constexpr (sizeof(T) == 2) {
                        if (inner == 1) {
                            softmaxNarrowRow(x.bytes() + at * 2, y.mutableBytes() + at * 2, x.dtype(),
                                             static_cast<std::size_t>(n), logarithm);
                            continue;
                        }
                    }
                    softmaxLine(in + at, out + at, n, inner, logarithm);
                }
            });
        })) {
        return opError("softmax is not defined for " + x.typeText());
    }
    return {};
}

}  // namespace sonde::ops::kernels
