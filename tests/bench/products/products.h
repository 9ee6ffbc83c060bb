#pragma once

namespace sonde::bench {

/// The products and convolutions of ResNet-50, ViT-B/16 and BERT in float32: our kernels as the engine calls them
/// (packed weights, several in turn, bias and relu in the cache) and Eigen, in alternating readings, on one thread
/// and on two. Prints the medians and the ratio Eigen : ours of three series; ours must be 1.05 times as fast in each
/// to stay. About 1 where the engine calls Eigen itself.
void compareProducts();

/// Conversion of float16 and bfloat16: the engine's cast and Eigen's on arrays.
void compareConversions();

}  // namespace sonde::bench
