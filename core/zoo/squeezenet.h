#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// SqueezeNet 1.1 (Iandola et al. 2016, arXiv:1602.07360; version 1.1 pools earlier and needs 2.4 times less work).
/// torchvision's names: features, classifier. x [N,3,H,W] -> logits [N,classes]. Settings: classes, width.
std::shared_ptr<nn::Module> squeezenet11(const Settings& settings);

}  // namespace sonde::zoo
