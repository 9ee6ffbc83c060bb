#pragma once

#include <cstddef>
#include <vector>

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// Which nodes of a program may share memory, and where that is written: enough for passes to leave alone what a write
/// may reach. One answer for the whole program (InplaceWalk knows it at each point), and "may": never too little. Made
/// once for a graph; nodes that a pass adds later share with all that is written.
class SharedMemory {
  public:
    explicit SharedMemory(const InternalGraph& graph);

    bool anyWrite() const { return !m_writes.empty(); }
    /// Some operation may write to the node's memory.
    bool isWritten(NodeId node) const {
        return anyWrite() && (node.index() >= m_class.size() || m_isWritten[find(node)]);
    }
    /// … between two exprs, as the program runs.
    bool isWrittenBetween(NodeId node, ExprId first, ExprId last) const;
    /// … behind an expr.
    bool isWrittenBehind(NodeId node, ExprId expr) const;
    /// Somebody gives the tensor another shape: unsqueeze_.
    bool isReformed(NodeId node) const {
        return anyWrite() && (node.index() >= m_class.size() || m_isReformed[find(node)]);
    }
    /// One of the constants, weights and attributes that the expr reads may be written.
    bool readsWrittenConstant(const InternalGraph& graph, const Expr& expr) const;
    /// Nodes that may share the node's memory, itself included.
    std::vector<NodeId> sharers(NodeId node) const;
    /// Something in the bodies of the expr writes to memory that is known outside of them.
    bool writesOutside(const InternalGraph& graph, const Expr& expr) const;

  private:
    struct Write {
        ExprId expr;
        NodeId target;
    };
    std::size_t find(NodeId node) const;
    void join(NodeId a, NodeId b);
    void joinExpr(const InternalGraph& graph, const Expr& expr);
    void joinBodies(const InternalGraph& graph, const Expr& expr);
    std::size_t position(ExprId id) const {
        return id.index() < m_position.size() ? m_position[id.index()] : static_cast<std::size_t>(-1);
    }

    mutable std::vector<std::size_t> m_class;  ///< by node: a node of the same class nearer to its representative
    std::vector<bool> m_isWritten;             ///< by representative
    std::vector<bool> m_isReformed;
    std::vector<Write> m_writes;
    std::vector<std::size_t> m_position;  ///< of exprs, as the program runs
};

}  // namespace sonde::passes
