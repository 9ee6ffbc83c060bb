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

/// The functions that one operation stands for: of layer_norm two means, a difference, a power, a sum, a root, a
/// quotient and what scales and shifts; of an operator that stands for itself that one.
struct KnownFunctions {
    std::vector<Hash> functions;  ///< functionOf() of operations on elements; empty: it only moves or makes them
    /// The numbers among the operands of these: of layer_norm 2 and epsilon. In no order.
    std::vector<float> numbers;
    bool isKnown = true;  ///< else an operator that exporters write in ways that this does not know
    /// How many sums and products of elements it stands for is not known: x·clip(x + 3)/6.
    bool mayHoldSums = false;
    bool convolves = false, multiplies = false;

    KnownFunctions(const FlatGraph& flat, graph::ExprId id);

    /// One operator that other files may write in several: a normalisation, attention, GELU.
    static bool isWholeLayer(const FlatGraph& flat, graph::ExprId id);
    static bool isSum(Hash function);  ///< of a sum, difference, product, quotient or power
    static bool isNormalisation(Hash function);
};

}  // namespace sonde::session::diff
