#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// One parameter of a layer: of a convolution with kernels of 7×7 {"Kernel", "7×7", "k7"}.
struct LayerFact {
    std::string name;
    std::string value;
    std::string brief;  ///< on the canvas; empty where the value is the usual one: a stride of 1, no padding
    bool operator==(const LayerFact&) const = default;
};

/// What `expr` is set to as a layer: channels or features, kernel, stride, padding, dilation, groups, heads, size of
/// what is normalised, with the shapes of its weights and the attributes of its call. Known before a run, and left out
/// where they are not. Empty for operators that are no layers (the table is in the source). Constant time.
///
/// Names are those of PyTorch's modules (torch.nn) whichever operator it is; in → out, sizes by dimension with ×, equal
/// ones once: Conv 3→64 k7 s2 p3, MaxPool k3 s2 p1, LayerNorm 768.
std::vector<LayerFact> layerFacts(const graph::InternalGraph& graph, const graph::Expr& expr);

/// "3→64 k7 s2 p3"; empty if nothing is known.
std::string layerBrief(const graph::InternalGraph& graph, const graph::Expr& expr);
/// The same of the main layer of a module (graph::MainLayer), with what kind of layer it is unless `moduleClass` begins
/// with that: "Conv 3→64 k7"; of a softmax of scores the heads of the attention that it is a part of.
std::string moduleBrief(const graph::InternalGraph& graph, const graph::Expr& layer, std::string_view moduleClass);

/// Stored tensors that `expr` takes with their types: {"weight", "float32[64,3,7,7]"}.
std::vector<LayerFact> weightFacts(const graph::InternalGraph& graph, const graph::Expr& expr);

}  // namespace sonde::analysis
