#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// Convolutional autoencoder (Hinton, Salakhutdinov 2006; here for pictures of digits): two strided convolutions and a
/// linear layer make a short code, their mirror image makes the picture again.
/// x [N,1,28,28] -> (picture [N,1,28,28] in 0…1, code [N,code]). Settings: code.
std::shared_ptr<nn::Module> autoencoder(const Settings& settings);

}  // namespace sonde::zoo
