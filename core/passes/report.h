#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::passes {

/// One node of a report: what happened to it and why. Ids are those of the graph before the pass for what went, of the
/// graph after it for what came; a node that stayed has the same id in both.
struct NodeChange {
    graph::NodeId node;
    std::string name;          ///< the node's name
    std::string qualname;      ///< originating module; empty: the root or none
    std::string op;            ///< "aten::relu", "Conv", "prim::setitem", or the target of what has no operator
    std::string why;           ///< one sentence
    graph::NodeId replacedBy;  ///< what went: the node (after) that its uses read now; invalid: none
    std::string replacedByName;
    bool inside = false;                 ///< stands in the body of a call that went or came as well
    bool newValue = false;               ///< stayed, and has another value than before: it does the work of others, too
    std::vector<graph::Origin> origins;  ///< what came and what changed: everything that it stands for
};

/// What one pass did to a graph: the before/after view.
struct PassReport {
    std::string pass;                 ///< id of the pass
    std::string description;          ///< what the pass does
    std::vector<NodeChange> went;     ///< nodes that are no more, in the order of the graph before
    std::vector<NodeChange> came;     ///< new nodes, in the order of the graph after
    std::vector<NodeChange> changed;  ///< nodes that stayed and compute from other inputs, or hold another constant
    std::size_t count = 0;            ///< how often the pass applied, by its own counting
    std::string skipped;              ///< why it did not run; empty if it did
    bool compared = false;            ///< outputs before and after were computed and agree

    bool empty() const { return went.empty() && came.empty() && changed.empty(); }
    /// How much the pass did: `count`, or where it changed nodes without counting them, the nodes in `went`, `came` and
    /// `changed` that are not inside of others.
    std::size_t changes() const;
    /// "remove-inplace: applied 2 times; 5 nodes removed, 1 added, 3 changed"; without "applied …" where the pass
    /// changed nodes and counted none of it.
    std::string summary() const;
    /// The summary and a line for each node that is not inside of another one, "- slice_11 (aten::slice.Tensor) ->
    /// clone: why", at most `limit` of a kind.
    std::string text(std::size_t limit = 20) const;
};

/// Sentences that a pass gives while it works, by node; what it says nothing about gets the pass's own sentence.
struct Notes {
    struct Note {
        std::string why;
        graph::NodeId replacedBy;
        bool newValue = false;
    };
    std::vector<std::pair<graph::NodeId, Note>> byNode;
    void add(graph::NodeId node, std::string why, graph::NodeId replacedBy = {}, bool newValue = false);
};

/// Compares two graphs of which the second is a changed copy of the first (ids agree) and makes the report of it.
PassReport difference(const graph::InternalGraph& before, const graph::InternalGraph& after, const Notes& notes,
                      std::string_view pass, std::string_view description);

/// "aten::relu", "Conv", a called module's class, or the target of an expr without an operator.
std::string operationText(const graph::Expr& expr);

}  // namespace sonde::passes
