#include "ui/models/module_result.h"

#include "core/graph/scope_output.h"
#include "ui/context/open_model.h"
#include "ui/context/selection.h"

namespace sonde::models {
namespace {

using context::Selection;
using layout::GroupId;

/// Exprs of a group in the order of execution, at any depth.
std::vector<graph::ExprId> exprsInside(const layout::Outline& outline, GroupId top) {
    struct Place {
        GroupId group;
        std::size_t member;
    };
    std::vector<graph::ExprId> exprs;
    // An explicit stack: modules of a hostile file may be thousands deep.
    std::vector<Place> stack{{top, 0}};
    while (!stack.empty()) {
        Place& place = stack.back();
        const auto& members = outline.group(place.group).members;
        if (place.member == members.size()) {
            stack.pop_back();
            continue;
        }
        const layout::Outline::Member& member = members[place.member++];
        if (member.expr.valid()) exprs.push_back(member.expr);
        if (member.group.valid()) stack.push_back({member.group, 0});
    }
    return exprs;
}

/// The call whose inside a group is, if the tracer did not look into that module; none otherwise.
graph::ExprId callAround(const layout::Outline& outline, GroupId id, const std::string& module) {
    const auto kind = [&] { return outline.group(id).kind; };
    if (kind() == layout::Outline::Kind::Module && outline.group(id).parent.valid()) id = outline.group(id).parent;
    if (kind() == layout::Outline::Kind::Body && outline.group(id).parent.valid()) id = outline.group(id).parent;
    if (kind() != layout::Outline::Kind::Operation) return {};
    const graph::Expr& call = outline.graph().expr(outline.group(id).expr);
    return call.kind == graph::ExprKind::CallModule && call.target == module && !call.outputs.empty() ? call.id
                                                                                                      : graph::ExprId();
}

graph::NodeId outputOf(const layout::Outline& outline, graph::ScopeId scope) {
    const GroupId group = outline.groupOf(scope);
    if (!group.valid()) return {};
    const graph::InternalGraph& graph = outline.graph();
    if (const graph::ExprId call = callAround(outline, group, graph.scope(scope).qualname); call.valid())
        return graph.expr(call).outputs.front();
    return graph::outputOfScope(graph, scope, exprsInside(outline, group));
}

}  // namespace

graph::NodeId resultOf(const context::OpenModel& opened, const Selection& selection) {
    if (!opened.isOpen()) return {};
    const graph::InternalGraph& graph = opened.graph();
    switch (selection.kind) {
        case Selection::Kind::Node: return selection.node;
        case Selection::Kind::Expr: {
            // The Output has no value of its own: what it returns is meant.
            const auto& inputs = graph.expr(selection.expr).inputs;
            return inputs.empty() ? graph::NodeId() : inputs.front();
        }
        case Selection::Kind::Scope: {
            if (!graph.scope(selection.scope).parent.valid() && !graph.outputs().empty())
                return graph.outputs().front();
            return opened.outline() ? outputOf(*opened.outline(), selection.scope) : graph::NodeId();
        }
        case Selection::Kind::Module:
        case Selection::Kind::None: break;
    }
    return {};
}

}  // namespace sonde::models
