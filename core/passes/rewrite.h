#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/passes/report.h"

namespace sonde::passes {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

/// Computes an expr on the values of its positional arguments. Errors: no kernel, a random operator, wrong values.
using Evaluate = std::function<base::Result<std::vector<Value>>(const Expr& expr, std::span<const Value> arguments)>;

/// The editing surface of a pass: a graph with what is said about each change. All edits keep users right.
class Rewrite {
  public:
    Rewrite(InternalGraph& graph, Notes& notes, const Evaluate* evaluate = nullptr)
        : m_graph(graph), m_notes(notes), m_evaluate(evaluate && *evaluate ? evaluate : nullptr) {}

    InternalGraph& graph() { return m_graph; }
    const InternalGraph& graph() const { return m_graph; }
    Notes& notes() { return m_notes; }
    const Evaluate* evaluate() const { return m_evaluate; }

    /// Bodies that belong to the program: the main body first, inner ones behind their owners.
    std::vector<BodyId> bodies() const;
    /// Where an expr stands in its body's order.
    std::size_t position(ExprId id) const;
    NodeId output(ExprId id) const { return m_graph.expr(id).outputs.front(); }
    const Expr& producer(NodeId node) const { return m_graph.expr(m_graph.node(node).producer); }
    /// The node is a result of the program or of a body.
    bool isResult(NodeId node) const;
    /// Read by one argument of one expr and not a result.
    bool hasOneUse(NodeId node) const;
    /// `wanted`, or with the next free number behind it: "add", "add_1" …
    std::string freeName(std::string_view wanted) const;

    /// An expr beside another one, in its body; scope, qualname and module class are the anchor's unless they are set.
    ExprId insertBefore(ExprId anchor, Expr expr, std::string_view wantedName, std::string why);
    ExprId insertAfter(ExprId anchor, Expr expr, std::string_view wantedName, std::string why);
    /// A constant in front of an expr.
    NodeId constantBefore(ExprId anchor, Value value, std::string_view wantedName, std::string why);

    /// Every use of `from` reads `to`.
    void replace(NodeId from, NodeId to, std::string why);
    /// Uses of `from` that stand behind `anchor` in its body (in inner bodies, too), and results, read `to`. How many.
    std::size_t replaceBehind(NodeId from, NodeId to, ExprId anchor);
    /// `node` is read behind `anchor`, or a result.
    bool isReadBehind(NodeId node, ExprId anchor) const;
    /// Takes out an expr whose outputs have no users, with what its bodies hold.
    void erase(ExprId id, std::string why);
    /// Takes out constants and attribute reads that nobody uses.
    void eraseIfUnusedConstant(NodeId node, std::string why);
    void say(NodeId node, std::string why, NodeId replacedBy = {}) { m_notes.add(node, std::move(why), replacedBy); }
    /// The node has another value from now on than it had.
    void revalue(NodeId node, std::string why) { m_notes.add(node, std::move(why), {}, true); }
    /// `into` stands for what `from` stood for, too.
    void addOrigins(ExprId into, ExprId from);

  private:
    ExprId insertAt(ExprId anchor, std::size_t position, Expr expr, std::string_view wantedName, std::string why);

    InternalGraph& m_graph;
    Notes& m_notes;
    const Evaluate* m_evaluate;
};

}  // namespace sonde::passes
