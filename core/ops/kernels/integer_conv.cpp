#include "core/ops/kernels/integer_conv.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/ops/kernels/conv.h"
#include "core/ops/kernels/depthwise.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/integer_depthwise.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/kernels/phased_patches.h"
#include "core/ops/kernels/quantized_values.h"

namespace sonde::ops::kernels {

namespace {

constexpr std::int64_t kMaxDepth = 32768;  ///< sums of so many products of bytes are below 2^31

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

bool isDepthwise(const Tensor& w, std::int64_t groups) { return groups > 1 && w.dim(1) == 1; }

/// The image of one group as the right factor, in groups of channels.
class ByteImage {
  public:
    ByteImage(const IntegerConv& call, const ByteSizes& sizes, base::ThreadPool& pool)
        : m_sizes(sizes), m_pool(pool),
          m_form(rightForm(call.x.dtype() == DType::Int8, zeroPoints(call.zeroX).front())),
          m_groups(divideUp(sizes.groupIn(), kernel().depth)) {
        if (isPlainProduct(call.window)) return;
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

}  // namespace

IntegerConvPlan::IntegerConvPlan(Tensor weights, std::vector<std::int32_t> zeros, bool hasZeros, std::int64_t groups)
    : hasZeros(hasZeros), m_weights(std::move(weights)), m_zeros(std::move(zeros)), m_groups(groups) {}

IntegerConvPlan::~IntegerConvPlan() = default;

const std::vector<PackedIntegers>& IntegerConvPlan::packed(base::ThreadPool& pool) const {
    std::call_once(m_packedOnce,
                   [&] { m_packed = packedGroups(m_weights, m_zeros, m_groups, PackedLifetime::Kept, pool); });
    return m_packed;
}

const WindowWeights& IntegerConvPlan::eachChannel(const Window& window) const {
    std::call_once(m_eachChannelOnce,
                   [&] { m_eachChannel = std::make_unique<WindowWeights>(m_weights, m_zeros, window); });
    return *m_eachChannel;
}

base::Result<std::unique_ptr<PreparedState>> prepareIntegerConv(const Value& weights, const Value& zeros,
                                                                std::int64_t groups) {
    if (!weights.isTensor() || !isByte(weights.tensor().dtype()) || groups < 1) return std::unique_ptr<PreparedState>();
    SONDE_ASSIGN(const Tensor w, weights.tensor().contiguous());
    const std::vector<std::int32_t> points = zeroPoints(zeros);
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
    return isPlainProduct(call.window) ||
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
        const WindowWeights own = plan ? WindowWeights() : WindowWeights(call.w, zeroPoints(call.zeroW), call.window);
        return convolveEachChannel(call, *shape, plan ? plan->eachChannel(call.window) : own, result, context.pool());
    }
    std::vector<PackedIntegers> own;
    if (!plan) own = packedGroups(call.w, zeroPoints(call.zeroW), call.groups, PackedLifetime::OneCall, context.pool());
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
