#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// Encoder and decoder with a skip connection at each scale (Ronneberger et al. 2015, arXiv:1505.04597), padded so that
/// sizes stay, with batch normalisation. image [N,3,H,W] -> logits [N,classes,H,W]; H and W divisible by 2 for each
/// scale. Settings: classes, width (channels of the first scale; each further one has twice as many).
std::shared_ptr<nn::Module> unet(const Settings& settings);  ///< four scales, transposed convolutions
std::shared_ptr<nn::Module> unetSmall(
    const Settings& settings);  ///< three scales, the middle one by bilinear upsampling

}  // namespace sonde::zoo
