#include "core/ops/kernels/integer_conv.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/ops/kernels/depthwise.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/kernels/phased_patches.h"
#include "core/ops/kernels/quantized_values.h"

namespace sonde::ops::kernels {

namespace {

/// Sums of so many products of bytes are below 2^31, and of so many below 2^24.
constexpr std::int64_t kMaxDepth = 32768, kMaxFloatDepth = 256;

/// Sizes of a convolution of bytes.
struct ByteSizes {
    std::int64_t batch, inChannels, outChannels, groups, taps, inputs = 1, outputs = 1;
    std::vector<std::int64_t> inputSpatial, outputSpatial;

    ByteSizes(const IntegerConv& call, const Shape& result)
        : batch(call.x.dim(0)), inChannels(call.x.dim(1)), outChannels(call.w.dim(0)), groups(call.groups),
          taps(call.window.taps()), inputSpatial(call.x.shape().begin() + 2, call.x.shape().end()),
          outputSpatial(result.begin() + 2, result.end()) {
        for (const std::int64_t dimSize : inputSpatial) inputs *= dimSize;
        for (const std::int64_t dimSize : outputSpatial) outputs *= dimSize;
    }
    std::int64_t groupIn() const { return inChannels / groups; }
    std::int64_t groupOut() const { return outChannels / groups; }
};

std::vector<std::int32_t> zerosOf(const Value& zeros) {
    if (!zeros.isTensor()) return {0};
    std::vector<std::int32_t> result;
    for (std::int64_t i = 0; i < zeros.tensor().numel(); ++i)
        result.push_back(static_cast<std::int32_t>(zeros.tensor().toDouble(i)));
    return result;
}

std::vector<PackedIntegers> packedGroups(const Tensor& w, std::span<const std::int32_t> zeros, std::int64_t groups,
                                         PackedLifetime lifetime, base::ThreadPool& pool) {
    std::vector<PackedIntegers> packed;
    const std::int64_t rows = w.dim(0) / groups, depth = w.numel() / w.dim(0);
    for (std::int64_t g = 0; g < groups; ++g) {
        const ByteMatrix matrix{bytesOf(w) + g * rows * depth, w.dtype() == DType::Int8, depth, 1};
        packed.push_back(PackedIntegers::left(
            matrix, rows, w.dim(1), depth / w.dim(1),
            zeros.size() == 1 ? zeros
                              : zeros.subspan(static_cast<std::size_t>(g * rows), static_cast<std::size_t>(rows)),
            lifetime, pool));
    }
    return packed;
}

std::vector<float> centredWeights(const Tensor& w, std::span<const std::int32_t> zeros) {
    std::vector<float> result(static_cast<std::size_t>(w.numel()));
    const std::int64_t depth = w.numel() / w.dim(0);
    for (std::int64_t k = 0; k < w.dim(0); ++k) {
        const std::int32_t zero = zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(k)];
        floatKernels().quantized.dequantise(bytesOf(w) + k * depth, w.dtype() == DType::Int8, static_cast<float>(zero),
                                            1.0F, result.data() + k * depth, static_cast<std::size_t>(depth));
    }
    return result;
}

bool isDepthwise(const Tensor& w, std::int64_t groups) {
    return groups > 1 && w.dim(1) == 1 && w.numel() / w.dim(0) <= kMaxFloatDepth;
}

bool isPointwise(const Window& window) {
    for (std::size_t i = 0; i < window.rank(); ++i) {
        if (window.kernel[i] != 1 || window.stride[i] != 1 || window.padBegin[i] != 0 || window.padEnd[i] != 0)
            return false;
    }
    return true;
}

/// The image of one group as the right factor, in groups of channels.
class ByteImage {
  public:
    ByteImage(const IntegerConv& call, const ByteSizes& sizes, base::ThreadPool& pool)
        : m_sizes(sizes), m_pool(pool), m_form(rightForm(call.x.dtype() == DType::Int8, zerosOf(call.zeroX).front())),
          m_groups(divideUp(sizes.groupIn(), kernel().depth)) {
        if (isPointwise(call.window)) return;
        m_interleaved = WorkBuffer<float>(static_cast<std::size_t>(m_groups * sizes.inputs));
        m_phased.emplace(call.window, sizes.inputSpatial, sizes.outputSpatial, m_groups,
                         std::bit_cast<float>(m_form.padding), pool);
    }

    std::int32_t zero() const { return m_form.zero; }

    void load(const std::uint8_t* image) {
        m_image = image;
        if (!m_phased) return;
        m_pool.parallelFor(static_cast<std::size_t>(m_groups), 1, [&](std::size_t begin, std::size_t end) {
            for (auto q = static_cast<std::int64_t>(begin); q < static_cast<std::int64_t>(end); ++q)
                interleave(q, 0, m_sizes.inputs,
                           reinterpret_cast<std::int32_t*>(m_interleaved.data() + q * m_sizes.inputs));
        });
        m_phased->load(m_interleaved.data());
    }

    /// IntegerCall::source.
    void panel(std::int64_t n0, std::int32_t* target) const {
        const std::int64_t nr = kernel().nr;
        if (m_phased) return m_phased->panel(0, m_groups * m_sizes.taps, n0, nr, reinterpret_cast<float*>(target));
        const std::int64_t count = std::min(nr, m_sizes.outputs - n0);
        for (std::int64_t q = 0; q < m_groups; ++q, target += nr) {
            interleave(q, n0, count, target);
            std::fill(target + count, target + nr, 0);
        }
    }

  private:
    static const IntegerKernel& kernel() { return floatKernels().integers; }

    void interleave(std::int64_t group, std::int64_t first, std::int64_t count, std::int32_t* target) const {
        constexpr std::int64_t kMaxRows = 4;
        const std::int64_t depth = kernel().depth;
        const std::uint8_t* rows[kMaxRows] = {};
        for (std::int64_t l = 0; l < depth && group * depth + l < m_sizes.groupIn(); ++l)
            rows[l] = m_image + (group * depth + l) * m_sizes.inputs + first;
        kernel().interleave(rows, {m_form.isSigned, m_form.flip, m_form.subtracted}, static_cast<std::size_t>(count),
                            target);
    }

    const ByteSizes& m_sizes;
    base::ThreadPool& m_pool;
    RightForm m_form;
    std::int64_t m_groups;
    const std::uint8_t* m_image = nullptr;
    WorkBuffer<float> m_interleaved;  ///< groups of 32 bits, moved by the loops for floats
    std::optional<PhasedPatches> m_phased;
};

/// A convolution of every channel by itself: sums of at most kMaxFloatDepth products of bytes are exact in float32,
/// whose loops read pictures as they are.
class EachChannel {
  public:
    EachChannel(const IntegerConv& call, const ByteSizes& sizes, const std::vector<float>& weights,
                const SumsOfBytes& result)
        : m_call(call), m_sizes(sizes), m_weights(weights), m_result(result), m_zero(zerosOf(call.zeroX).front()) {}

    void run(base::ThreadPool& pool) const {
        const int stride = strideOf3x3(m_call.window);
        if (const auto loop = stride ? floatKernels().depthwise3x3[stride - 1] : nullptr) runDirect(loop, pool);
        else runWhole(pool);
    }

  private:
    /// Plane by plane, in the cache.
    void runDirect(void (*loop)(const Plane3x3& plane), base::ThreadPool& pool) const {
        constexpr std::int64_t kSlack = 64, kPiece = 16384, kTaps = 9;
        const auto planes = static_cast<std::size_t>(m_sizes.batch * m_sizes.inChannels);
        const auto atOnce = static_cast<std::size_t>(divideUp(kPiece, m_sizes.inputs));
        const std::vector<std::int64_t>&in = m_sizes.inputSpatial, &out = m_sizes.outputSpatial;
        pool.parallelFor(planes, atOnce, [&](std::size_t begin, std::size_t end) {
            auto* const x = Scratch::of<float>(0, static_cast<std::size_t>(m_sizes.inputs + kSlack));
            auto* const y = Scratch::of<float>(1, static_cast<std::size_t>(m_sizes.outputs + kSlack));
            for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
                floatKernels().quantized.dequantise(bytesOf(m_call.x) + p * m_sizes.inputs, isSigned(),
                                                    static_cast<float>(m_zero), 1.0F, x,
                                                    static_cast<std::size_t>(m_sizes.inputs));
                for (std::int64_t m = 0; m < m_sizes.groupOut(); ++m) {
                    const std::int64_t channel = p % m_sizes.inChannels * m_sizes.groupOut() + m;
                    loop({x, in[0], in[1], m_call.window.padBegin[0], m_call.window.padBegin[1],
                          m_weights.data() + channel * kTaps, 0.0F, y, out[0], out[1]});
                    m_result.take(channel, (p * m_sizes.groupOut() + m) * m_sizes.outputs, m_sizes.outputs, y);
                }
            }
        });
    }

    void runWhole(base::ThreadPool& pool) const {
        const auto inputs = static_cast<std::size_t>(m_call.x.numel());
        const std::int64_t planes = m_sizes.batch * m_sizes.outChannels;
        WorkBuffer<float> x(inputs), y(static_cast<std::size_t>(planes * m_sizes.outputs));
        dequantiseBytes(bytesOf(m_call.x), m_call.x.dtype(), m_zero, 1.0F, {x.data(), inputs}, pool);
        convolveDepthwise(x.data(), m_weights.data(), nullptr, y.data(), m_call.window,
                          {m_sizes.batch, m_sizes.inChannels, m_sizes.groupOut()}, m_sizes.inputSpatial,
                          m_sizes.outputSpatial, pool);
        constexpr std::int64_t kPiece = 16384;
        const auto atOnce = static_cast<std::size_t>(divideUp(kPiece, m_sizes.outputs));
        pool.parallelFor(static_cast<std::size_t>(planes), atOnce, [&](std::size_t begin, std::size_t end) {
            for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p)
                m_result.take(p % m_sizes.outChannels, p * m_sizes.outputs, m_sizes.outputs,
                              y.data() + p * m_sizes.outputs);
        });
    }

    bool isSigned() const { return m_call.x.dtype() == DType::Int8; }

    const IntegerConv& m_call;
    const ByteSizes& m_sizes;
    const std::vector<float>& m_weights;
    const SumsOfBytes& m_result;
    std::int32_t m_zero;
};

}  // namespace

const std::vector<PackedIntegers>& IntegerConvPlan::packed(base::ThreadPool& pool) const {
    std::call_once(m_packedOnce,
                   [&] { m_packed = packedGroups(m_weights, m_zeros, m_groups, PackedLifetime::Kept, pool); });
    return m_packed;
}

const std::vector<float>& IntegerConvPlan::centred() const {
    std::call_once(m_centredOnce, [&] { m_centred = centredWeights(m_weights, m_zeros); });
    return m_centred;
}

base::Result<std::unique_ptr<PreparedState>> prepareIntegerConv(const Value& weights, const Value& zeros,
                                                                std::int64_t groups) {
    if (!weights.isTensor() || !isByte(weights.tensor().dtype()) || groups < 1) return std::unique_ptr<PreparedState>();
    SONDE_ASSIGN(const Tensor w, weights.tensor().contiguous());
    const std::vector<std::int32_t> points = zerosOf(zeros);
    const auto count = static_cast<std::int64_t>(points.size());
    if (w.rank() < 3 || w.numel() == 0 || w.dim(0) % groups != 0 || (count != 1 && count != w.dim(0)))
        return std::unique_ptr<PreparedState>();
    return std::unique_ptr<PreparedState>(std::make_unique<IntegerConvPlan>(w, points, zeros.isTensor(), groups));
}

bool fitsIntegers(const IntegerConv& call) {
    const auto hasZeros = [](const Value& zeros, std::int64_t count) {
        return !zeros.isTensor() || zeros.tensor().numel() == 1 || zeros.tensor().numel() == count;
    };
    if (!isByte(call.x.dtype()) || !isByte(call.w.dtype()) || call.x.rank() > 4 || call.w.numel() == 0 ||
        call.groups < 1 || call.w.dim(0) % call.groups != 0 || call.x.dim(1) != call.w.dim(1) * call.groups) {
        return false;
    }
    if (!hasZeros(call.zeroX, 1) || !hasZeros(call.zeroW, call.w.dim(0))) return false;
    const auto shape = shapeOf(call);
    if (!shape || call.w.numel() / call.w.dim(0) > kMaxDepth ||
        !std::equal(call.window.kernel.begin(), call.window.kernel.end(), call.w.shape().begin() + 2,
                    call.w.shape().end())) {
        return false;
    }
    return isPointwise(call.window) ||
           fitsDepthwise(call.window, std::span(call.x.shape().dims()).subspan(2), std::span(shape->dims()).subspan(2));
}

base::Result<Shape> shapeOf(const IntegerConv& call) {
    const auto spatial = std::span(call.x.shape().dims()).subspan(2);
    SONDE_TRY(call.window.checkOutput(spatial, 0));
    return call.window.outputShape(call.x.dim(0), call.w.dim(0), spatial);
}

void convolveIntegers(KernelContext& context, const IntegerConv& call, const SumsOfBytes& result) {
    const auto shape = shapeOf(call);
    if (!shape || shape->numel() == 0) return;
    const ByteSizes sizes(call, *shape);
    const auto* plan = context.prepared<IntegerConvPlan>();
    if (plan && plan->hasZeros != call.zeroW.isTensor()) plan = nullptr;  // these were not constant
    if (isDepthwise(call.w, call.groups)) {
        const std::vector<float> own = plan ? std::vector<float>() : centredWeights(call.w, zerosOf(call.zeroW));
        return EachChannel(call, sizes, plan ? plan->centred() : own, result).run(context.pool());
    }
    std::vector<PackedIntegers> own;
    if (!plan) own = packedGroups(call.w, zerosOf(call.zeroW), call.groups, PackedLifetime::OneCall, context.pool());
    const std::vector<PackedIntegers>& weights = plan ? plan->packed(context.pool()) : own;
    ByteImage image(call, sizes, context.pool());
    const bool hasZeros = std::ranges::any_of(weights, [](const PackedIntegers& group) {
        return std::ranges::any_of(group.zeros(), [](std::int32_t zero) { return zero != 0; });
    });
    const PackedIntegers ones =
        hasZeros ? PackedIntegers::ones(sizes.groupIn(), sizes.taps, context.pool()) : PackedIntegers();
    for (std::int64_t n = 0; n < sizes.batch; ++n) {
        for (std::int64_t g = 0; g < sizes.groups; ++g) {
            if (context.cancelled()) return;
            image.load(bytesOf(call.x) + (n * sizes.inChannels + g * sizes.groupIn()) * sizes.inputs);
            IntegerCall product;
            product.left = &weights[static_cast<std::size_t>(g)];
            product.source = [&](std::int64_t n0, std::int32_t* target) { image.panel(n0, target); };
            product.columns = sizes.outputs;
            product.zero = image.zero();
            if (hasZeros) product.ones = &ones;
            product.finish = [&](std::int64_t row, std::int64_t n0, std::int64_t count, const std::int32_t* sums,
                                 std::int32_t offset) {
                const std::int64_t channel = g * sizes.groupOut() + row;
                result.take(channel, (n * sizes.outChannels + channel) * sizes.outputs + n0, count, sums, offset);
            };
            product.stop = context.environment().stop;
            integerProduct(product, context.pool());
        }
    }
}

}  // namespace sonde::ops::kernels
