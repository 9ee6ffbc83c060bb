#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// Residual networks (He et al. 2016, arXiv:1512.03385) with the module names and the order of torchvision:
/// conv1, bn1, relu, maxpool, layer1 … layer4 (Sequential of blocks), avgpool, fc.
/// x [N,3,H,W] -> logits [N,classes]. Settings: classes, width (factor on all channels).
std::shared_ptr<nn::Module> resnet18(const Settings& settings);  ///< basic blocks 2, 2, 2, 2
std::shared_ptr<nn::Module> resnet34(const Settings& settings);  ///< basic blocks 3, 4, 6, 3
std::shared_ptr<nn::Module> resnet50(const Settings& settings);  ///< bottleneck blocks 3, 4, 6, 3, stride in the 3x3

}  // namespace sonde::zoo
