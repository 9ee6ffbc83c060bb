#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// Networks of inverted residual blocks with torchvision's names: features, (avgpool,) classifier.
/// x [N,3,H,W] -> logits [N,classes]. Settings: classes, width (channels are rounded to multiples of 8).
std::shared_ptr<nn::Module> mobilenetV2(const Settings& settings);       ///< Sandler et al. 2018, arXiv:1801.04381
std::shared_ptr<nn::Module> mobilenetV3Small(const Settings& settings);  ///< Howard et al. 2019, arXiv:1905.02244

}  // namespace sonde::zoo
