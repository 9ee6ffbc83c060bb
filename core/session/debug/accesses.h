#pragma once

#include <vector>

#include "core/graph/internal_graph.h"
#include "core/session/debug/timeline.h"

namespace sonde::session::debug {

/// Operations that read or write the value of one node.
struct Accesses {
    std::vector<bool> reads, writes;  ///< by expr
    graph::ExprId loop;               ///< whose iterations write it: the node is an input of its body

    /// Through views of it too. What writes to memory that it shares is a write, whether or not its own elements
    /// change. Weights and inputs of the model are written by nobody.
    static Accesses of(const graph::InternalGraph& graph, graph::NodeId node);
};

/// The items of a timeline in which a value is read and written, in order.
struct AccessItems {
    std::vector<ItemId> reads, writes;
    /// Adds those from an item on.
    void add(const Timeline& timeline, const Accesses& accesses, std::size_t from = 0);
};

}  // namespace sonde::session::debug
