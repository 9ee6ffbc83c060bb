#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/trace/value_oracle.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// What a trace records into, as programs, Memory and value oracles see it: it takes operations and knows its nodes.
/// GraphRecording is that of an InternalGraph; a tracer that keeps a graph of its own brings its own.
class Recording {
  public:
    virtual ~Recording() = default;

    /// Records an operation as it is; its arguments mean what they mean now. Several outputs are a tuple.
    /// `candidate`: what its nodes are named after.
    virtual Var record(graph::ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
                       std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs = 1) = 0;
    /// Records that what follows is only right while the value of the node, asked for like this, is `expected` (see
    /// core/graph/guard.h). `traced` may be empty. The guard's node.
    virtual graph::NodeId recordGuard(graph::NodeId node, KnownUse use, const tensor::AttributeValue& expected,
                                      const std::string& description, const std::string& traced) = 0;
    /// The node of a tensor that is a value: a read of the module's tensor, or a constant.
    virtual graph::NodeId nodeOfValue(const Var& var) = 0;
    /// Count of exprs so far, to which a recording may be taken back. 0 if it never is.
    virtual std::size_t recordedExprs() const = 0;
    /// The graph as far as it is recorded; null before and after a trace, and for a graph of another kind.
    virtual const graph::InternalGraph* recordedGraph() const { return nullptr; }

    /// Known to be a tensor (else it may be anything).
    virtual bool isTensor(graph::NodeId node) const = 0;
    /// Known to be a number (or a list of numbers) that the size of a tensor decides, recorded as an expression.
    virtual bool isNumber(graph::NodeId node) const {
        (void)node;
        return false;
    }
    /// Tensor, int …, if it is known before a run.
    virtual std::optional<tensor::ValueKind> kindOf(graph::NodeId node) const = 0;
    /// "node 'add_' (operation 3)": for messages.
    virtual std::string placeOf(graph::NodeId node) const = 0;
    /// The node is of the body that is recorded into now.
    virtual bool isRecordedHere(graph::NodeId node) const = 0;
    /// The node may be read in that body.
    virtual bool isReachable(graph::NodeId node) const {
        (void)node;
        return true;
    }
    /// A view with these shapes may show one element several times (expand). True if the shapes are not known.
    virtual bool mayRepeat(graph::NodeId view, graph::NodeId base) const = 0;

    /// An in-place operation on this value is part of the program: the graph shows the tensor, or a module owns it.
    virtual bool recordsWriteTo(const Var& var) const = 0;
    /// The tensor of a module of the root that is there; null if there is none.
    virtual std::shared_ptr<const Slot> slotOn(const tensor::Storage& storage) const {
        (void)storage;
        return nullptr;
    }
};

}  // namespace sonde::trace
