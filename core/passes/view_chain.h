#pragma once

#include <optional>
#include <vector>

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// Views from the inside out: the producer of a written node first.
using ViewChain = std::vector<ExprId>;

/// The expr cuts a part out of its first argument that a setitem can write: slice, select, narrow, getitem with a basic
/// index.
bool cutsPart(const InternalGraph& graph, const Expr& expr);
/// The index of such an expr as getitem takes it.
/// None: an axis counted from the end of a tensor whose rank is not known, a narrow by numbers that only a run knows.
std::optional<Argument> indexOf(const InternalGraph& graph, const Expr& expr);
/// One index for all views of a chain, in the axes of the root; axes that no view cuts are taken whole.
/// None: an axis is cut twice, or a getitem stands among several views.
std::optional<Argument> mergedIndex(const InternalGraph& graph, const ViewChain& chain);

/// Inserts exprs one behind the other, in front of an expr or behind it.
class Cursor {
  public:
    static Cursor before(Rewrite& rewrite, ExprId anchor) { return {rewrite, anchor, false}; }
    static Cursor behind(Rewrite& rewrite, ExprId anchor) { return {rewrite, anchor, true}; }
    ExprId insert(Expr expr, std::string_view name, std::string why);
    Rewrite& rewrite() const { return m_rewrite; }

  private:
    Cursor(Rewrite& rewrite, ExprId anchor, bool isBehind)
        : m_rewrite(rewrite), m_anchor(anchor), m_isBehind(isBehind) {}
    Rewrite& m_rewrite;
    ExprId m_anchor;
    bool m_isBehind;
};

/// The same view of another base, with the type that the first one had.
NodeId takenAgain(Cursor& cursor, const std::vector<ExprId>& steps, NodeId base);
/// `base` with `value` in the part that the view shows, as a new value: the view turned round. An invalid id if it
/// cannot be: several elements are one place in memory (expand), or what the view takes is known only in a run.
NodeId putBack(Cursor& cursor, const std::vector<ExprId>& steps, NodeId base, const Argument& value);
inline constexpr std::string_view kSetItem = "setitem";
/// One setitem.
NodeId setItem(Cursor& cursor, NodeId base, Argument index, Argument value, std::string_view op = kSetItem);

}  // namespace sonde::passes
