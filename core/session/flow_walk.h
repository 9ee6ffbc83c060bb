#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/layout/view_state.h"

namespace sonde::session {

/// One stop of a walk through a graph: an operation, or a call of a module that is drawn as one box.
struct WalkStop {
    graph::ExprId expr;    ///< of an operation, an input or the output; none of a module
    graph::ScopeId scope;  ///< of a module; none of an operation
    graph::NodeId value;   ///< what it makes; of the output what it is given; none if it makes nothing
    bool operator==(const WalkStop&) const = default;
};

/// Layer by layer: what a view draws, in the order of execution. An open module is walked through from inside, a closed
/// one is one stop. An operation with bodies that is open comes before what is in it. Weights and constants are no
/// stops, drawn or not; nor is what the view leaves out or folds into something else. Linear in the size of the graph.
/// `isLeftOut`: values that a run has not computed, because it went another way: their stops are left out. Null: none.
std::vector<WalkStop> flowWalk(const layout::Outline& outline, const layout::ViewState& view,
                               const std::function<bool(graph::NodeId)>& isLeftOut = {});

/// The stop that shows an operation: its own, or that of the closed module around it. None if it is at no stop.
std::optional<std::size_t> stopOf(const std::vector<WalkStop>& walk, const graph::InternalGraph& graph,
                                  graph::ExprId expr);
/// The stop that shows a module call: its own, that of the closed module around it, or the first one inside it.
std::optional<std::size_t> stopOf(const std::vector<WalkStop>& walk, const graph::InternalGraph& graph,
                                  graph::ScopeId scope);

}  // namespace sonde::session
