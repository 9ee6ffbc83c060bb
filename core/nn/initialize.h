#pragma once

#include <cstdint>

#include "core/nn/module.h"

namespace sonde::nn {

/// Fills every parameter below `root` with numbers that depend on the seed and the parameter's path alone, chosen so
/// that activations stay in range:
///  weights (two axes or more): uniform with the variance 2 / fan_in (He et al. 2015, arXiv:1502.01852), recurrent and
///  attention weights 1 / fan_in; embeddings and free parameters: uniform in ±0.5 and ±0.1; biases: uniform in ±0.05.
/// Parameters of normalisations keep what they were made with. Large ones get their numbers when they are first read.
void initialize(Module& root, std::uint64_t seed);

}  // namespace sonde::nn
