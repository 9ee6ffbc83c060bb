#pragma once

#include <string>

#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// How two operations of different vocabularies differ as layers, in what both say: "Kernel: 3×3 -> 5×5; Stride: 1 ->
/// 2";
/// "": they do not. A batch norm stands for the convolution before it, into which another exporter has folded it.
std::string otherLayer(const FlatGraph& first, const graph::Expr& ours, const FlatGraph& second,
                       const graph::Expr& theirs);

}  // namespace sonde::session::diff
