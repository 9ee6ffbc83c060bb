#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// VGG with eight convolutions and three linear layers, without normalisation (Simonyan, Zisserman 2015,
/// arXiv:1409.1556, configuration A). torchvision's names: features, avgpool, classifier.
/// x [N,3,H,W] -> logits [N,classes]. Settings: classes.
std::shared_ptr<nn::Module> vgg11(const Settings& settings);

}  // namespace sonde::zoo
