#pragma once

#include <vector>

#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// What a group of operations computes, as far as that can be told without running them: which functions and
/// reductions, and how many additions and products of elements. Masks and comparisons do not count.
struct LayerFunctions {
    std::vector<Hash> functions;  ///< labels, sorted; all matrix products are one, and all recurrent layers
    std::vector<Hash> sums;       ///< of sums, products and powers of elements, sorted
    std::vector<Hash> movements;  ///< kinds of moved elements, each once, sorted; only told apart without functions
    /// One of the operations stands for several (a normalisation, a layer with a bias), so that `sums` say nothing.
    bool isComposite = false;

    LayerFunctions(const GraphSide& side, const std::vector<graph::ExprId>& operations);

    /// Whether both may be the same layer, one of them perhaps decomposed: layer_norm and ReduceMean, Sub, Pow,
    /// ReduceMean, Add, Sqrt, Div, Mul, Add.
    bool mayEqual(const LayerFunctions& other) const;
};

}  // namespace sonde::session::diff
