#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/session/diff/compared_operations.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session::diff {

/// A pair that computes something else than its counterpart and the parts that this stands for.
struct OtherFunction {
    graph::ExprId a, b;
    std::string what;           ///< "operator: Add -> aten::mul.Tensor"
    bool isOfOperands = false;  ///< it is what these read that differs
};

/// Whether what two graphs in different vocabularies have instead of each other's operations computes the same.
/// Operations that have no counterpart one by one, with the pairs that stand for several, fall into layers: what is a
/// part of one pair, or in one module. Of each layer both graphs have to compute as many of each function, where those
/// that an operator stands for are known (layer_norm: two means, a difference, a power, a sum, a root, a quotient, and
/// what scales and shifts). Operations that only move elements, make values or convert them do not count.
struct LayerAccounts {
    LayerAccounts(const FlatGraph& first, const FlatGraph& second, const ComparedOperations& comparedFirst,
                  const ComparedOperations& comparedSecond, const GraphPairs& pairs);

    /// By ExprId of either graph: has no counterpart, and the other graph computes no such function in this layer.
    std::vector<bool> isOther[2];
    std::vector<OtherFunction> changed;  ///< pairs
    /// Operations of layers whose functions are the same, that are set to something else: "number: 2 -> 3".
    std::vector<OtherFunction> parts;
    /// Operations without counterparts of both graphs in layers whose functions are the same.
    std::size_t byFunctions = 0;
    /// The same in layers with an operator of which is not known what it stands for, and of what does not count.
    std::size_t notCompared = 0;
    std::size_t layers = 0;  ///< that these are in
};

}  // namespace sonde::session::diff
