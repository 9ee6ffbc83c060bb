#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// How many elements of each channel are zero.
struct ChannelSparsity {
    struct Channel {
        std::int64_t zeros = 0;
        std::int64_t bad = 0;  ///< NaN and infinite elements
        double largest = 0;    ///< magnitude of the finite elements
    };
    static constexpr std::int64_t kMaxChannels = std::int64_t{1} << 20;

    std::vector<Channel> channels;
    std::int64_t perChannel = 0;  ///< elements

    /// All of its elements are zero.
    bool isDead(std::size_t channel) const { return perChannel > 0 && channels[channel].zeros == perChannel; }
    double zeroShare(std::size_t channel) const {
        return perChannel > 0 ? static_cast<double>(channels[channel].zeros) / static_cast<double>(perChannel) : 0;
    }
    std::int64_t deadCount() const;
    double zeroShare() const;  ///< of all elements
};

/// Channels are the positions along `axis`. Zero is 0 and -0, false, and a complex number with both parts zero. Any
/// strides. Blocks, on any thread. Errors: Usage, strings, no such axis or more than kMaxChannels; Cancelled.
base::Result<ChannelSparsity> channelSparsity(const tensor::Tensor& tensor, std::size_t axis,
                                              const std::stop_token& stop = {});

}  // namespace sonde::analysis
