#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/session/diff/graph_pairs.h"

namespace sonde::session {

/// An operation that both graphs have, with nodes of either by name, and what differs: "strides: [2, 2] -> [1, 1]".
struct NodeChange {
    /// What it was told by: what the operation itself says, what it reads, the operators of the layer that it gives,
    /// its operator alone.
    enum Source : std::uint8_t { ByItself, ByOperands, ByLayer, ByOperator };

    graph::NodeId a, b;
    std::string what;
    Source told = ByItself;
};

/// How the operations of two graphs differ; operations stand for their first result.
struct StructureDiff {
    std::vector<graph::NodeId> added;    ///< of the second graph
    std::vector<graph::NodeId> removed;  ///< of the first
    std::vector<NodeChange> changed;     ///< another operator, attribute, constant or input
    std::vector<NodeChange> moved;  ///< the same operation elsewhere: in another module, or behind other operations
    std::size_t matchedNodes = 0;   ///< of both graphs, that have a counterpart (or are in a paired module)
    std::size_t comparedNodes = 0;  ///< of both graphs: all that may be listed as added or removed
    /// Of those that are matched: without a counterpart of their own, in a module that both have. What they are set to
    /// is not compared.
    std::size_t matchedByModule = 0;
    /// Of the latter: operations that both models have as many of in a layer that they write in other operators
    /// (comparedByFunction), and such that nothing but their place is known of (notCompared); in how many layers.
    std::size_t comparedByFunction = 0, notCompared = 0, otherLayers = 0;
    /// Of both graphs, between two vocabularies: arithmetic of sizes, checks and what does not depend on an input,
    /// which are not compared.
    std::size_t aside = 0;
    /// Of those that are matched: without a counterpart of their own, between values that are the same in a run of both
    /// models (diff::judgeByRuns()).
    std::size_t matchedByValues = 0;
    /// Of those that are matched: without a counterpart of their own, computing of stored values alone what the other
    /// graph stores (diff::FoldedConstants).
    std::size_t matchedByConstants = 0;
    /// What both models of ONNX compute in other operators, which one canonical form proves to be the same
    /// (diff::takeBackForms()): no difference.
    struct OtherForm {
        std::vector<graph::NodeId> a, b;  ///< operations of either graph, in execution order
        std::string what;                 ///< "HardSigmoid, Mul = HardSwish"
    };
    std::vector<OtherForm> otherForms;
    std::size_t matchedByForm = 0;  ///< of those that are matched: without a counterpart of their own, in otherForms
    /// Pairs of sums, products, minima or maxima that read the same in another order: no difference.
    std::size_t reordered = 0;
    /// By NodeId of either graph: stored, and compared where the other graph has what is computed of it, or computes
    /// it.
    std::array<std::vector<bool>, 2> comparedStored;
    /// What one graph stores and the other computes with other elements; the largest difference, if there is one.
    struct OtherStored {
        graph::NodeId a, b;
        std::optional<double> maxAbs;
        bool isRounded = false;  ///< no difference: see diff::FoldedConstants::Other
    };
    std::vector<OtherStored> otherStored;
    /// Of either graph, in execution order, what comparedByFunction, notCompared and aside count.
    std::array<std::vector<graph::NodeId>, 2> open;
    /// The same of tensors alone: a script has checks, branches and arithmetic of sizes, of which a trace has only the
    /// results.
    std::size_t matchedTensors = 0, comparedTensors = 0;
    std::size_t renamed = 0;  ///< pairs of nodes with other names: no difference

    /// The fraction of the operations of both graphs that have a counterpart, of those that compute tensors; 1 of two
    /// graphs without any.
    double matched() const { return fraction(matchedTensors, comparedTensors); }
    double matchedOfAll() const { return fraction(matchedNodes, comparedNodes); }
    /// Operations that were not compared one by one.
    std::size_t uncompared() const { return comparedByFunction + notCompared + aside; }
    bool isEqual() const { return added.empty() && removed.empty() && changed.empty() && moved.empty(); }

  private:
    static double fraction(std::size_t part, std::size_t all) {
        return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all);
    }
};

/// A module that has another name in the second graph, with all that is in it, is renamed: nothing in it moved. What
/// follows from an added or removed operation (the input of the next one) is no change of its own.
StructureDiff structureDiff(const graph::InternalGraph& first, const graph::InternalGraph& second,
                            const GraphPairs& pairs);

}  // namespace sonde::session
