#include "core/analysis/tensor_views/channel_sparsity.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/base/count_text.h"
#include "core/tensor/dispatch.h"

namespace sonde::analysis {

namespace {

constexpr std::int64_t kSparsityPiece = 1 << 16;  ///< elements between two looks at the stop token

template <typename T>
double magnitudeOf(const T& element) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
        return static_cast<double>(std::abs(element));
    else return std::abs(static_cast<double>(element));
}

void countElement(ChannelSparsity::Channel& channel, double magnitude) {
    if (magnitude == 0) ++channel.zeros;
    else if (!std::isfinite(magnitude)) ++channel.bad;
    else channel.largest = std::max(channel.largest, magnitude);
}

}  // namespace

std::int64_t ChannelSparsity::deadCount() const {
    std::int64_t dead = 0;
    for (std::size_t i = 0; i < channels.size(); ++i) dead += isDead(i);
    return dead;
}

double ChannelSparsity::zeroShare() const {
    double zeros = 0;
    for (const Channel& channel : channels) zeros += static_cast<double>(channel.zeros);
    const double all = static_cast<double>(perChannel) * static_cast<double>(channels.size());
    return all > 0 ? zeros / all : 0;
}

base::Result<ChannelSparsity> channelSparsity(const tensor::Tensor& tensor, std::size_t axis,
                                              const std::stop_token& stop) {
    if (!tensor.defined() || tensor.dtype() == tensor::DType::String || axis >= tensor.rank())
        return base::usageError("channels are those of numbers with an axis for them");
    const std::int64_t count = tensor.dim(axis);
    if (count > ChannelSparsity::kMaxChannels)
        return base::usageError("axis " + std::to_string(axis) + " has " + base::countText(count) + " positions", {},
                                "sparsity is shown of up to " + base::countText(ChannelSparsity::kMaxChannels));
    ChannelSparsity found;
    found.channels.resize(static_cast<std::size_t>(count));
    if (tensor.numel() == 0) return found;
    found.perChannel = tensor.numel() / count;
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < tensor.rank(); ++i) inner *= tensor.dim(i);
    const auto each = [&](const auto& at) {
        std::int64_t within = 0, channel = 0;
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            if (i % kSparsityPiece == 0 && stop.stop_requested()) return false;
            countElement(found.channels[static_cast<std::size_t>(channel)], at(i));
            if (++within < inner) continue;
            within = 0;
            channel = channel + 1 < count ? channel + 1 : 0;
        }
        return true;
    };
    bool done = false;
    const bool hasType = tensor::dispatchAll(tensor.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* const data = tensor.data<T>();
        if (tensor.isContiguous()) done = each([data](std::int64_t i) { return magnitudeOf(data[i]); });
        else done = each([&](std::int64_t i) { return magnitudeOf(data[tensor.elementOffset(i)]); });
    });
    if (!hasType) done = each([&](std::int64_t i) { return std::abs(tensor.toDouble(i)); });
    if (!done) return base::cancelled();
    return found;
}

}  // namespace sonde::analysis
