#include "core/ops/kernels/conv.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/ops/kernels/depthwise.h"
#include "core/ops/kernels/direct.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/half_sums.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/kernels/patches.h"
#include "core/ops/kernels/phased_patches.h"

namespace sonde::ops::kernels {

bool isPlainProduct(const Window& window) {
    for (std::size_t i = 0; i < window.rank(); ++i) {
        if (window.kernel[i] != 1 || window.stride[i] != 1 || window.padBegin[i] != 0 || window.padEnd[i] != 0)
            return false;
    }
    return true;
}

namespace {

struct Sizes {
    std::int64_t batch, inChannels, outChannels, groups;
    std::vector<std::int64_t> inputSpatial, outputSpatial;
    std::int64_t groupIn() const { return inChannels / groups; }
    std::int64_t groupOut() const { return outChannels / groups; }
};

/// Whether Eigen makes the product as fast or faster (bench_kernels products), of weights that are not packed: where
/// the picture itself is the matrix, of windows with one tap, and of so few columns that a twentieth of our tiles would
/// be empty. Eigen needs the whole matrix in memory.
bool isForEigen(const Window& window, std::int64_t depth, std::int64_t outputs, bool isPacked) {
    constexpr std::int64_t kMaxGathered = std::int64_t{1} << 24;
    if (isPacked) return false;
    if (isPlainProduct(window)) return true;
    const std::int64_t half = floatKernels().gemm.nr / 2;
    const bool isFaster = window.taps() == 1 || 20 * divideUp(outputs, half) * half >= 21 * outputs;
    return isFaster && outputs <= kMaxGathered / std::max<std::int64_t>(depth, 1);
}

/// The whole matrix [depth, outputs] that `source` gives in panels.
WorkBuffer<float> gathered(const PanelSource<float>& source, std::int64_t depth, std::int64_t outputs,
                           base::ThreadPool& pool) {
    constexpr std::size_t kRows = 64;
    WorkBuffer<float> matrix(static_cast<std::size_t>(depth * outputs));
    pool.parallelFor(static_cast<std::size_t>(depth), kRows, [&](std::size_t begin, std::size_t end) {
        const auto k0 = static_cast<std::int64_t>(begin);
        source(k0, static_cast<std::int64_t>(end) - k0, 0, outputs, matrix.data() + k0 * outputs);
    });
    return matrix;
}

template <typename T>
void convolveTyped(KernelContext& context, const T* x, const T* w, const T* bias, T* y, const Window& window,
                   const Sizes& sizes, const Epilogue* epilogue) {
    const Patches patches(window, sizes.inputSpatial, sizes.outputSpatial);
    const std::int64_t depth = sizes.groupIn() * window.taps();
    const bool plain = isPlainProduct(window);
    const auto* plan = context.prepared<ConvPlan>();
    const bool byEigen = isForEigen(window, depth, patches.outputs(), plan != nullptr);
    std::optional<PhasedPatches> phased;
    if constexpr (std::is_same_v<T, float>) {
        if ((window.taps() > 1 || (plan && !plain)) && fitsDepthwise(window, sizes.inputSpatial, sizes.outputSpatial))
            phased.emplace(window, sizes.inputSpatial, sizes.outputSpatial, sizes.groupIn(), 0.0F, context.pool());
    }
    for (std::int64_t n = 0; n < sizes.batch; ++n) {
        for (std::int64_t g = 0; g < sizes.groups; ++g) {
            if (context.cancelled()) return;
            const T* image = x + (n * sizes.inChannels + g * sizes.groupIn()) * patches.inputSize();
            GemmCall<T> call;
            call.m = sizes.groupOut();
            call.n = patches.outputs();
            call.k = depth;
            if (w) call.left = {w + g * sizes.groupOut() * depth, depth, 1};
            if constexpr (std::is_same_v<T, float>) {
                if (plan && !byEigen) call.leftPacked = &plan->packed(context.pool())[static_cast<std::size_t>(g)];
            }
            const PanelSource<T> source = [&](std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t nr,
                                              T* target) {
                if constexpr (std::is_same_v<T, float>) {
                    if (phased) return phased->panel(k0, kc, n0, nr, target);
                }
                patches.panel(image, k0, kc, n0, nr, target);
            };
            const std::int64_t offset = (n * sizes.outChannels + g * sizes.groupOut()) * patches.outputs();
            if constexpr (std::is_same_v<T, float>) {
                if (phased) phased->load(image);
                if (phased && call.leftPacked && window.taps() > 1 && !sumsInHalf(context)) {
                    convolveDirect({*phased, *call.leftPacked, bias ? bias + g * sizes.groupOut() : nullptr, y + offset,
                                    epilogue, offset, &context.environment().stop},
                                   context.pool());
                    continue;
                }
            }
            WorkBuffer<float> columns;
            if (plain) {
                call.right = {image, patches.outputs(), 1};
            } else if (phased && window.taps() == 1 && std::is_same_v<T, float>) {
                if constexpr (std::is_same_v<T, float>) call.right = phased->matrix();
            } else if (std::is_same_v<T, double> || !byEigen) {
                call.rightSource = &source;
            } else if constexpr (std::is_same_v<T, float>) {
                columns = gathered(source, depth, patches.outputs(), context.pool());
                call.right = {columns.data(), patches.outputs(), 1};
            }
            call.offset = offset;
            call.c = y + call.offset;
            call.epilogue = epilogue;
            call.ldc = patches.outputs();
            call.rowBias = bias ? bias + g * sizes.groupOut() : nullptr;
            call.inHalf = sumsInHalf(context);
            call.stop = &context.environment().stop;
            gemm(call, context.pool());
        }
    }
}

base::Result<void> checkDTypes(const Tensor& x, const Tensor& w, const Tensor* bias) {
    if (w.dtype() == x.dtype() && (!bias || bias->dtype() == x.dtype())) return {};
    return opError("input " + x.typeText() + ", weights " + w.typeText() +
                   (bias ? " and bias " + bias->typeText() : "") + " must have one dtype");
}

base::Result<Sizes> sizesOf(const Tensor& x, const Tensor& w, const Tensor* bias, std::size_t spatialRank,
                            std::int64_t groups) {
    if (x.rank() < 3 || w.rank() != x.rank() || x.rank() != spatialRank + 2) {
        return opError("cannot convolve " + x.typeText() + " with weights " + w.typeText());
    }
    if (groups < 1 || x.dim(1) % groups != 0 || w.dim(0) % groups != 0 || w.dim(1) * groups != x.dim(1)) {
        return opError("input " + x.typeText() + ", weights " + w.typeText() + " and " + std::to_string(groups) +
                       " groups are incompatible");
    }
    if (bias && (bias->rank() != 1 || bias->dim(0) != w.dim(0))) {
        return opError("bias " + bias->typeText() + " does not match weights " + w.typeText());
    }
    Sizes sizes{x.dim(0), x.dim(1), w.dim(0), groups, {}, {}};
    sizes.inputSpatial.assign(x.shape().begin() + 2, x.shape().end());
    return sizes;
}

/// Types that are computed in another one: float16 and bfloat16 as float32. Weights that are packed stay as they are.
base::Result<void> narrowThroughFloat(
    KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias, bool isPacked,
    const std::function<base::Result<void>(const Tensor&, const Tensor&, const Tensor*)>& run) {
    SONDE_ASSIGN(const Tensor wideX, x.cast(DType::Float32));
    SONDE_ASSIGN(const Tensor wideW, w.cast(isPacked ? w.dtype() : DType::Float32));
    Tensor wideBias;
    if (bias) {
        SONDE_ASSIGN(wideBias, bias->cast(DType::Float32));
    }
    SONDE_TRY(run(wideX, wideW, bias ? &wideBias : nullptr));
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor narrow, outputs[0].tensor().cast(x.dtype()));
    outputs[0] = Value(std::move(narrow));
    context.setOutputs(std::move(outputs));
    return {};
}

}  // namespace

base::Result<std::unique_ptr<PreparedState>> prepareConv(const Value& weights, std::int64_t groups,
                                                         RunEnvironment& environment) {
    if (!weights.isTensor() || groups < 1 ||
        (weights.tensor().dtype() != DType::Float32 && !isNarrow(weights.tensor().dtype())))
        return std::unique_ptr<PreparedState>();
    SONDE_ASSIGN(const Tensor w, weights.tensor().contiguous());
    if (w.rank() < 3 || w.dim(0) % groups != 0 || w.numel() == 0) return std::unique_ptr<PreparedState>();
    if (w.dim(1) == 1 && groups > 1) return std::unique_ptr<PreparedState>();  // depthwise reads the tensor
    (void)environment;
    return std::unique_ptr<PreparedState>(std::make_unique<ConvPlan>(w, groups));
}

Tensor ConvPlan::wideWeights() const {
    base::Result<Tensor> wide = m_weights.cast(DType::Float32);
    if (!wide) throw std::bad_alloc();
    return std::move(wide).value();
}

const std::vector<PackedMatrix>& ConvPlan::packed(base::ThreadPool& pool) const {
    std::call_once(m_once, [&] {
        const std::int64_t rows = m_weights.dim(0) / m_groups, depth = m_weights.numel() / m_weights.dim(0);
        const Tensor wide = wideWeights();
        for (std::int64_t g = 0; g < m_groups; ++g) {
            m_packed.push_back(
                PackedMatrix::left({wide.data<float>() + g * rows * depth, depth, 1}, rows, depth, pool));
            if (isNarrow(m_weights.dtype())) m_packed.back().narrow(m_weights.dtype());
        }
    });
    return m_packed;
}

const WinogradWeights& ConvPlan::winograd(int tile, base::ThreadPool& pool) const {
    WinogradWeights& weights = tile == 2 ? m_winograd2 : m_winograd4;
    std::call_once(tile == 2 ? m_once2 : m_once4, [&] {
        weights = WinogradWeights(wideWeights().data<float>(), m_weights.dim(0), m_weights.dim(1), tile, pool);
    });
    return weights;
}

namespace {

/// x and bias of float32 or float64, and w too if it is not packed.
base::Result<void> convolveWide(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias,
                                const Window& window, std::int64_t groups) {
    SONDE_ASSIGN(Sizes sizes, sizesOf(x, w, bias, window.rank(), groups));
    for (std::size_t i = 0; i < window.rank(); ++i) {
        if (w.dim(i + 2) != window.kernel[i]) return opError("kernel_shape does not match weights " + w.typeText());
    }
    SONDE_TRY(window.checkOutput(sizes.inputSpatial, 0));
    const Shape shape = window.outputShape(sizes.batch, sizes.outChannels, sizes.inputSpatial);
    sizes.outputSpatial.assign(shape.begin() + 2, shape.end());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    if (y.numel() == 0) return {};
    if (x.dtype() == DType::Float32) {
        const float* b = bias ? bias->data<float>() : nullptr;
        const Epilogue* epilogue = Epilogue::of(y);
        const bool inHalf = sumsInHalf(context);
        if (!inHalf && sizes.groupIn() == 1 && groups > 1 &&
            fitsDepthwise(window, sizes.inputSpatial, sizes.outputSpatial)) {
            const DepthwiseSizes depthwise{sizes.batch, sizes.inChannels, sizes.groupOut(), epilogue};
            convolveDepthwise(x.data<float>(), w.data<float>(), b, y.mutableData<float>(), window, depthwise,
                              sizes.inputSpatial, sizes.outputSpatial, context.pool());
            return {};
        }
        const auto* plan = context.prepared<ConvPlan>();
        if (plan && groups == 1 && !inHalf && !context.environment().exact) {
            const WinogradSizes planes{sizes.batch,        sizes.inChannels,    sizes.outChannels,
                                       sizes.inputSpatial, sizes.outputSpatial, epilogue};
            const int tile = winogradTile(window, planes);
            if (tile && convolveWinograd(x.data<float>(), plan->winograd(tile, context.pool()), b,
                                         y.mutableData<float>(), window, planes, context.pool())) {
                return {};
            }
            if (tile && epilogue) epilogue->restart();
        }
        const float* const weights = w.dtype() == DType::Float32 ? w.data<float>() : nullptr;  // null: they are packed
        convolveTyped(context, x.data<float>(), weights, b, y.mutableData<float>(), window, sizes, epilogue);
        return {};
    }
    if (x.dtype() != DType::Float64) return opError("convolution is not defined for " + x.typeText());
    convolveTyped(context, x.data<double>(), w.data<double>(), bias ? bias->data<double>() : nullptr,
                  y.mutableData<double>(), window, sizes, nullptr);
    return {};
}

}  // namespace

base::Result<void> convolve(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias,
                            const Window& window, std::int64_t groups) {
    SONDE_TRY(checkDTypes(x, w, bias));
    if (!isNarrow(x.dtype())) return convolveWide(context, x, w, bias, window, groups);
    const bool isPacked = context.prepared<ConvPlan>() && !sumsInHalf(context);
    return narrowThroughFloat(context, x, w, bias, isPacked, [&](const Tensor& a, const Tensor& b, const Tensor* c) {
        return convolveWide(context, a, b, c, window, groups);
    });
}

namespace {

/// columns [K·taps, positions] = Wᵀ·x of one group, then each row is added where it belongs; channels side by side.
template <typename T>
base::Result<void> transposedTyped(KernelContext& context, const Tensor& x, const Tensor& w, const T* bias, Tensor& y,
                                   const Window& window, std::int64_t groups) {
    const std::int64_t groupIn = x.dim(1) / groups, groupOut = w.dim(1), taps = window.taps();
    const std::vector<std::int64_t> small(x.shape().begin() + 2, x.shape().end());
    const std::vector<std::int64_t> large(y.shape().begin() + 2, y.shape().end());
    const Patches patches(window, large, small);
    const std::int64_t rows = groupOut * taps;
    SONDE_ASSIGN(Tensor columns, context.scratch(tensor::dtypeOf<T>, Shape{rows, patches.outputs()}));
    T* matrix = columns.mutableData<T>();
    for (std::int64_t n = 0; n < x.dim(0); ++n) {
        for (std::int64_t g = 0; g < groups; ++g) {
            if (context.cancelled()) return {};
            GemmCall<T> call;
            call.m = rows;
            call.n = patches.outputs();
            call.k = groupIn;
            call.left = {w.data<T>() + g * groupIn * rows, 1, rows};
            call.right = {x.data<T>() + (n * x.dim(1) + g * groupIn) * patches.outputs(), patches.outputs(), 1};
            call.c = matrix;
            call.ldc = patches.outputs();
            call.inHalf = sumsInHalf(context);
            call.stop = &context.environment().stop;
            gemm(call, context.pool());
            T* image = y.mutableData<T>() + (n * y.dim(1) + g * groupOut) * patches.inputSize();
            context.pool().parallelFor(static_cast<std::size_t>(groupOut), 1, [&](std::size_t begin, std::size_t end) {
                for (auto k = static_cast<std::int64_t>(begin); k < static_cast<std::int64_t>(end); ++k) {
                    T* channel = image + k * patches.inputSize();
                    std::fill(channel, channel + patches.inputSize(), bias ? bias[g * groupOut + k] : T{});
                    for (std::int64_t t = 0; t < taps; ++t) {
                        patches.addRow(matrix + (k * taps + t) * patches.outputs(), k * taps + t, image);
                        if constexpr (std::is_same_v<T, float>) {
                            if (call.inHalf) roundToHalf({channel, static_cast<std::size_t>(patches.inputSize())});
                        }
                    }
                }
            });
        }
    }
    return {};
}

}  // namespace

base::Result<void> convolveTransposed(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias,
                                      const Window& window, std::int64_t groups,
                                      std::span<const std::int64_t> outputSpatial) {
    SONDE_TRY(checkDTypes(x, w, bias));
    if (isNarrow(x.dtype())) {
        return narrowThroughFloat(context, x, w, bias, false, [&](const Tensor& a, const Tensor& b, const Tensor* c) {
            return convolveTransposed(context, a, b, c, window, groups, outputSpatial);
        });
    }
    if (x.rank() < 3 || w.rank() != x.rank() || groups < 1 || w.dim(0) != x.dim(1) || x.dim(1) % groups != 0) {
        return opError("input " + x.typeText() + ", weights " + w.typeText() + " and " + std::to_string(groups) +
                       " groups are incompatible");
    }
    std::vector<std::int64_t> dims{x.dim(0), w.dim(1) * groups};
    dims.insert(dims.end(), outputSpatial.begin(), outputSpatial.end());
    if (bias && (bias->rank() != 1 || bias->dim(0) != dims[1]))
        return opError("bias " + bias->typeText() + " does not match weights " + w.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), Shape(std::move(dims))));
    if (y.numel() == 0) return {};
    if (x.dtype() == DType::Float32)
        return transposedTyped<float>(context, x, w, bias ? bias->data<float>() : nullptr, y, window, groups);
    if (x.dtype() == DType::Float64)
        return transposedTyped<double>(context, x, w, bias ? bias->data<double>() : nullptr, y, window, groups);
    return opError("convolution is not defined for " + x.typeText());
}

}  // namespace sonde::ops::kernels
