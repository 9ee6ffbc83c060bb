#pragma once

#include <string>

#include "core/base/result.h"
#include "core/passes/rewrite.h"

namespace sonde::exporting {

// The rewrites of a dump for other engines (dump.md), on graphs of ONNX operators but for the first. How many
// operations changed.

/// sum / count -> mean, where the count is the number of elements of each sum, as a number or as x.size(axis); a mean
/// (of ONNX also a maximum) over the flattened axes of an image -> global pooling. In the model's own operators. Sums
/// over the first axis of a traced model stay where the count is a number: it may be that of the example.
base::Result<std::size_t> fuseGrain(passes::Rewrite& rewrite);
/// An image of bytes that becomes int8 by way of float32 minus 128, has channels of zeros added, is reshaped and
/// transposed to blocks of channels: one Relayout. Each step has one consumer.
base::Result<std::size_t> fusePreprocess(passes::Rewrite& rewrite);
/// act(conv(x, w) + b) -> sonde::ConvBias(x, w, b); act none, Relu, Sigmoid or HardSwish; also conv + b and act(conv).
/// The convolution's result has one consumer, b is constant of shape [K], [K,1,1] or [1,K,1,1]. With `all` lone
/// convolutions, too.
base::Result<std::size_t> fuseConvBias(passes::Rewrite& rewrite, bool all = false);
/// act(ConvBias(x, w, b) + z) -> ConvBias(x, w, b, z); act none or Relu. z has the result's shape and dtype, and the
/// ConvBias has one consumer, no activation and no blocks.
base::Result<std::size_t> fuseConvBiasWithZ(passes::Rewrite& rewrite);
/// Convolutions in the layout ("nchw88", "hwcd4" …) with relayouts around them; elementwise operators, poolings,
/// resizings and concatenations of channels behind them follow. Which ones change is said in layouts.h.
base::Result<std::size_t> toLayout(passes::Rewrite& rewrite, const std::string& layout);
/// Every float32 input and constant becomes float16 and operators exchange float16, in branches and loops, too. What
/// takes float32 alone gets casts. With `computesInHalf` sums and products are added up in float16 as well.
base::Result<std::size_t> toHalf(passes::Rewrite& rewrite, bool computesInHalf);

/// The opset of ONNX that the graph's operators are of, for those that a pass adds: a file has one. 13 where there are
/// none.
int opsetOf(const graph::InternalGraph& graph);

// The way back, for who compares.

/// Each ConvBias becomes its convolution, sum and activation; blocks are merged in front of it and made again behind
/// it. Errors (Unreadable): a packing or weights that mean nothing.
base::Result<std::size_t> unfuseConvBias(passes::Rewrite& rewrite);
/// float16 becomes float32, but for inputs, which are cast. Nothing in graphs with operators of others than ONNX.
base::Result<std::size_t> toSingle(passes::Rewrite& rewrite);

}  // namespace sonde::exporting
