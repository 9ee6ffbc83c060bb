#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// A picture cut into patches that a transformer encoder reads as a sequence after a class token (Dosovitskiy et al.
/// 2021, arXiv:2010.11929). torchvision's names: conv_proj, class_token, encoder.layers.encoder_layer_0 …, heads.head.
/// x [N,3,S,S] -> logits [N,classes]; S = image, divisible by patch.
/// Settings: classes, image, patch, layers, heads, dim, mlp (width inside the blocks).
std::shared_ptr<nn::Module> visionTransformer(const Settings& settings);

}  // namespace sonde::zoo
