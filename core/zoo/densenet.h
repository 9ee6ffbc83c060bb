#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// Densely connected network: every layer reads all layers before it in its block (Huang et al. 2017,
/// arXiv:1608.06993), growth 32, blocks of 6, 12, 24, 16 layers. torchvision's names: features.denseblock1.denselayer1
/// …, classifier. x [N,3,H,W] -> logits [N,classes]. Settings: classes.
std::shared_ptr<nn::Module> densenet121(const Settings& settings);

}  // namespace sonde::zoo
