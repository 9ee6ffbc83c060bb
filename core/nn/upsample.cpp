#include "core/nn/upsample.h"

#include "core/nn/functional.h"

namespace sonde::nn {

Var Upsample::forward(std::span<const Var> in) {
    return interpolate(in[0], m_options.size, m_options.scaleFactor, m_options.mode, m_options.alignCorners);
}

std::string Upsample::extraText() const {
    const bool bySize = !m_options.size.isNone();
    return (bySize ? "size=" + m_options.size.toValue().text()
                   : "scale_factor=" + m_options.scaleFactor.toValue().text()) +
           ", mode='" + m_options.mode + "'";
}

Var PixelShuffle::forward(std::span<const Var> in) { return pixelShuffle(in[0], m_factor); }
Var PixelUnshuffle::forward(std::span<const Var> in) { return pixelUnshuffle(in[0], m_factor); }
Var ChannelShuffle::forward(std::span<const Var> in) { return channelShuffle(in[0], m_groups); }

}  // namespace sonde::nn
