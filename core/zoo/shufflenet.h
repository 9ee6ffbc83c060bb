#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// ShuffleNet V2 at half width: split, filter one half, join, shuffle the channels (Ma et al. 2018, arXiv:1807.11164).
/// torchvision's names: conv1, maxpool, stage2 … stage4, conv5, fc. x [N,3,H,W] -> logits [N,classes]. Settings:
/// classes.
std::shared_ptr<nn::Module> shufflenetV2Half(const Settings& settings);

}  // namespace sonde::zoo
