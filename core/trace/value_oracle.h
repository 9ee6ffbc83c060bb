#pragma once

#include <cstdint>
#include <optional>

#include "core/graph/internal_graph.h"

namespace sonde::trace {

class Tracer;

/// What a program asks of a value: `if x`, `int(x)`, `float(x)`, `len(x)`, `for y in x`.
enum class KnownUse : std::uint8_t { Bool, Int, Float, Length, Iteration };

/// Knows what the nodes of a trace stand for, so that decisions that depend on the data can be followed. Told of every
/// node as it is recorded; nodes that a tracer takes back are simply never asked for again.
class ValueOracle {
  public:
    virtual ~ValueOracle() = default;
    /// A trace begins; both live until it ends.
    virtual void began(Tracer& tracer, graph::InternalGraph& graph) = 0;
    /// A parameter of the root's forward (its name is the target of the node's expr).
    virtual void inputMade(graph::NodeId input) = 0;
    /// An input of a body stands for a node outside of it.
    virtual void inputBound(graph::NodeId inner, graph::NodeId outer) = 0;
    /// An expr without bodies, or a call whose bodies or Callable are complete now.
    virtual void recorded(graph::ExprId expr) = 0;
    /// An in-place operation has made `after` of `before`, which programs go on to call by its old node.
    virtual void rebound(graph::NodeId before, graph::NodeId after) { (void)before, (void)after; }
    /// The value, or what is enough of it to answer; nothing: the trace continues as if there was no oracle.
    virtual std::optional<tensor::Value> known(graph::NodeId node, KnownUse use) = 0;
};

}  // namespace sonde::trace
