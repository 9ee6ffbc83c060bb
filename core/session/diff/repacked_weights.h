#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/session/diff/graph_side.h"
#include "core/tensor/tensor.h"

namespace sonde::session::diff {

/// A stored tensor of one graph that holds what the other graph has in another form.
struct RepackedWeight {
    graph::NodeId packed, plain;          ///< of the graph that has packed it, and of the other
    tensor::Tensor ours, theirs;          ///< the same elements by either, in one shape
    std::string how;                      ///< "gates in the order i, f, g, o"
    std::vector<graph::NodeId> absorbed;  ///< further tensors of the other graph that are in `packed`
    /// By element the magnitudes that were added up to `theirs`: what rounding is relative to. None: nothing was
    /// rounded.
    std::optional<tensor::Tensor> rounding;
};

/// Of the weight of a product, whether it is transposed or not, and of the kernel of a convolution, with the
/// normalisation behind it if there is one: equal for weights that differ by layout and rounding alone. 0: it has none.
Hash hashOfLayerWeight(const FlatGraph& flat, graph::ExprId id);

/// Whether no element differs by more than 16 roundings of float32 (2^-23 each) of its magnitude. All of one shape.
bool differByRounding(const tensor::Tensor& ours, const tensor::Tensor& theirs, const tensor::Tensor& magnitudes);

/// The same of float32 relative to the largest element of all: a bias with a normalisation in it is a sum that may be
/// small.
bool differByRounding(const tensor::Tensor& ours, const tensor::Tensor& theirs);

/// What exporters are known to pack:
///  - W [D, G·H, I], R [D, G·H, H] and B [D, 2·G·H] of ONNX's LSTM, GRU and RNN hold weight_ih, weight_hh and bias_ih,
///    bias_hh of D directions, with the gates in another order (LSTM iofc for ifgo, GRU zrh for rzn): part by part;
///  - a convolution has the batch normalisation behind it in its kernel and bias: W·γ/√(σ²+ε), β + (b − μ)·γ/√(σ²+ε).
/// `ofPacked`: by ExprId of `packed` the counterpart in `plain`. Reads the weights.
std::vector<RepackedWeight> repackedWeights(const graph::InternalGraph& packed, const graph::InternalGraph& plain,
                                            const std::vector<graph::ExprId>& ofPacked);

}  // namespace sonde::session::diff
