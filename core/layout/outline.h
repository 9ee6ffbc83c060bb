#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::layout {

using graph::BodyId;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using graph::ScopeId;

using GroupId = base::Id<struct GroupTag>;

/// The boxes in boxes that a graph can be drawn as, whatever is open: made once per graph, linear in its size,
/// immutable, thread-safe. A *group* is a module call within one body, an operation that owns bodies (control flow, a
/// call with an inside), or a body. Every expr is a member of exactly one group.
class Outline {
  public:
    enum class Kind : std::uint8_t { Module, Operation, Body };

    /// What stands directly in a group: an expr, or a group of its own (of kind Operation: both).
    struct Member {
        ExprId expr;
        GroupId group;
    };

    struct Group {
        Kind kind = Kind::Module;
        GroupId parent;               ///< none for the main body's
        ScopeId scope;                ///< Module: its call. Others: the scope that they are in
        ExprId expr;                  ///< Operation: the expr
        BodyId body;                  ///< Module, Operation: the body that they are in. Body: the body
        std::vector<Member> members;  ///< in the order of execution (groups by their first expr)
        /// Inside, at any depth; of an Operation without itself. The inside of a called leaf module (see isCall) counts
        /// for its own group only: those around it have the call.
        std::uint32_t exprs = 0;
        std::uint32_t constants = 0;  ///< of these: constants and attributes
        std::uint32_t depth = 0;      ///< 0 for the main body, bodies not counted
    };

    /// Equal modules called one after another, each reading what the one before made: blocks that differ in their
    /// weights only. "Equal" is exact: operators, attributes, literals, types and wiring, at any depth. Several modules
    /// in turn, A B A B A B, are a run of period 2 with three instances.
    struct Run {
        GroupId parent;
        std::vector<GroupId> instances;  ///< at least two (three of a longer period), in order; of each its first group
        std::uint32_t period = 1;        ///< groups in an instance
        std::vector<GroupId> groups;     ///< of all instances one after the other

        /// Which of its instance's groups a group is.
        std::size_t placeOf(GroupId id) const {
            return static_cast<std::size_t>(std::find(groups.begin(), groups.end(), id) - groups.begin()) % period;
        }
    };

    explicit Outline(std::shared_ptr<const InternalGraph> graph);

    const InternalGraph& graph() const { return *m_graph; }
    const std::shared_ptr<const InternalGraph>& sharedGraph() const { return m_graph; }
    GroupId root() const { return GroupId(std::size_t{0}); }  ///< the main body
    const Group& group(GroupId id) const { return m_groups[id.index()]; }
    std::size_t groupCount() const { return m_groups.size(); }
    /// The group that an expr stands directly in; none for an erased one.
    GroupId groupOf(ExprId expr) const { return m_groupOfExpr[expr.index()]; }
    /// The group of a scope (the first one if its exprs are in several bodies); none if it has no exprs.
    GroupId groupOf(ScopeId scope) const { return m_groupOfScope[scope.index()]; }
    /// The group that an expr with bodies is; none for others.
    GroupId operationGroup(ExprId expr) const;

    const std::vector<Run>& runs() const { return m_runs; }
    static constexpr std::uint32_t kNoRun = 0xffffffff;
    /// The run that a group is an instance of, or kNoRun, and which one it is.
    std::uint32_t runOf(GroupId id) const { return m_runOfGroup[id.index()]; }
    std::uint32_t instanceOf(GroupId id) const { return m_instanceOfGroup[id.index()]; }
    /// The values that are in the same place of every instance of the innermost run around a value, itself among them;
    /// empty if it is in no run.
    std::vector<NodeId> counterparts(NodeId node) const;

    /// Constants and attribute reads: hidden if ViewState::hideConstants.
    static bool isConstant(const graph::Expr& expr) {
        return expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr;
    }
    /// A call with an inside: a module that the tracer did not look into keeps what it does in a body.
    static bool isCall(const graph::Expr& expr) {
        return expr.kind == graph::ExprKind::CallModule || expr.kind == graph::ExprKind::CallMethod ||
               expr.kind == graph::ExprKind::CallFunction;
    }

  private:
    class Builder;
    void findRuns();  // repeats.cpp

    std::shared_ptr<const InternalGraph> m_graph;
    std::vector<Group> m_groups;
    std::vector<Run> m_runs;
    std::vector<std::uint32_t> m_runOfGroup, m_instanceOfGroup;
    std::vector<GroupId> m_groupOfExpr;
    std::vector<GroupId> m_groupOfScope;
};

}  // namespace sonde::layout
