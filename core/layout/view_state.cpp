#include "core/layout/view_state.h"

#include <algorithm>

namespace sonde::layout {

namespace {

/// What of a group counts as an operation of its own in this view.
std::uint32_t drawable(const Outline::Group& group, const ViewState& view) {
    return view.hideConstants ? group.exprs - group.constants : group.exprs;
}

void open(const Outline& outline, ViewState& view, GroupId id) {
    const Outline::Group& group = outline.group(id);
    if (group.kind == Outline::Kind::Operation) view.openExprs.insert(group.expr);
    if (group.kind == Outline::Kind::Module && !inlined(outline, view, id).valid()) view.openScopes.insert(group.scope);
}

bool isLeafCall(const Outline& outline, const Outline::Group& group) {
    return group.kind == Outline::Kind::Operation && Outline::isCall(outline.graph().expr(group.expr));
}

void openFrom(const Outline& outline, ViewState& view, GroupId id) {
    for (; id.valid(); id = outline.group(id).parent) open(outline, view, id);
}

}  // namespace

bool isOpen(const Outline& outline, const ViewState& view, GroupId id) {
    const Outline::Group& group = outline.group(id);
    switch (group.kind) {
        case Outline::Kind::Module: return view.openScopes.contains(group.scope);
        case Outline::Kind::Operation: return view.openExprs.contains(group.expr);
        case Outline::Kind::Body: return !group.parent.valid() || isOpen(outline, view, group.parent);
    }
    return false;
}

ExprId inlined(const Outline& outline, const ViewState& view, GroupId id) {
    if (!view.inlineSingles || outline.group(id).kind != Outline::Kind::Module) return {};
    while (drawable(outline.group(id), view) == 1) {
        GroupId inner;
        for (const Outline::Member& member : outline.group(id).members) {
            if (member.expr.valid()) {
                if (!view.hideConstants || !Outline::isConstant(outline.graph().expr(member.expr))) return member.expr;
            } else if (drawable(outline.group(member.group), view) == 1) {
                inner = member.group;
            }
        }
        if (!inner.valid()) break;
        id = inner;
    }
    return {};
}

void reveal(const Outline& outline, ViewState& view, ExprId expr) { openFrom(outline, view, outline.groupOf(expr)); }

void reveal(const Outline& outline, ViewState& view, ScopeId scope) {
    const GroupId group = outline.groupOf(scope);
    if (group.valid()) openFrom(outline, view, outline.group(group).parent);
}

void openToDepth(const Outline& outline, ViewState& view, std::size_t depth) {
    view.openScopes.clear();
    view.openExprs.clear();
    for (std::size_t i = 0; i < outline.groupCount(); ++i) {
        const Outline::Group& group = outline.group(GroupId(i));
        if (group.depth <= depth && !isLeafCall(outline, group)) open(outline, view, GroupId(i));
    }
}

std::size_t greatestDepth(const Outline& outline) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < outline.groupCount(); ++i) {
        const Outline::Group& group = outline.group(GroupId(i));
        if (!isLeafCall(outline, group)) depth = std::max<std::size_t>(depth, group.depth);
    }
    return depth;
}

void setOpen(const Outline& outline, ViewState& view, GroupId id, bool opened) {
    const Outline::Group& group = outline.group(id);
    if (group.kind == Outline::Kind::Body) return;
    if (group.kind == Outline::Kind::Module) {
        if (opened) view.openScopes.insert(group.scope);
        else view.openScopes.erase(group.scope);
    } else if (opened) {
        view.openExprs.insert(group.expr);
    } else {
        view.openExprs.erase(group.expr);
    }
}

}  // namespace sonde::layout
