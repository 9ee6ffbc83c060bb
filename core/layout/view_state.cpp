#include "core/layout/view_state.h"

#include <algorithm>

#include "core/layout/lockstep.h"

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

/// Of every folded run around a group, the instance that it is in is the one to be seen.
void showInstancesAround(const Outline& outline, ViewState& view, GroupId id) {
    for (; id.valid(); id = outline.group(id).parent) {
        const std::uint32_t run = outline.runOf(id);
        if (run != Outline::kNoRun && isFolded(outline, view, run))
            showInstance(outline, view, run, outline.instanceOf(id));
    }
}

void openFrom(const Outline& outline, ViewState& view, GroupId id) {
    showInstancesAround(outline, view, id);
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
    if (!group.valid()) return;
    showInstancesAround(outline, view, group);
    openFrom(outline, view, outline.group(group).parent);
}

ScopeId scopeOf(const Outline& outline, std::uint32_t run) {
    return outline.group(outline.runs()[run].instances.front()).scope;
}

bool isFolded(const Outline& outline, const ViewState& view, std::uint32_t run) {
    return run != Outline::kNoRun && view.foldFrom > 0 && outline.runs()[run].instances.size() >= view.foldFrom &&
           !view.unfolded.contains(scopeOf(outline, run));
}

std::uint32_t shownInstance(const Outline& outline, const ViewState& view, std::uint32_t run) {
    const auto found = view.shownInstance.find(scopeOf(outline, run));
    const auto count = static_cast<std::uint32_t>(outline.runs()[run].instances.size());
    return found == view.shownInstance.end() || found->second >= count ? 0 : found->second;
}

void showInstance(const Outline& outline, ViewState& view, std::uint32_t run, std::uint32_t instance) {
    const std::uint32_t before = shownInstance(outline, view, run);
    const std::vector<GroupId>& instances = outline.runs()[run].instances;
    if (instance == before || instance >= instances.size()) return;
    view.shownInstance[scopeOf(outline, run)] = instance;
    const auto join = [&](const Outline::Member& mine, const Outline::Member& theirs) {
        if (!mine.group.valid() || !theirs.group.valid()) return;
        setOpen(outline, view, theirs.group, isOpen(outline, view, mine.group));
        const std::uint32_t inner = outline.runOf(mine.group);
        if (inner == Outline::kNoRun || outline.instanceOf(mine.group) != 0) return;
        const std::uint32_t other = outline.runOf(theirs.group);
        view.shownInstance[scopeOf(outline, other)] = shownInstance(outline, view, inner);
        setFolded(outline, view, other, !view.unfolded.contains(scopeOf(outline, inner)));
    };
    const Outline::Run& all = outline.runs()[run];
    for (std::uint32_t k = 0; k < all.period; ++k) {
        const GroupId from = all.groups[before * all.period + k], to = all.groups[instance * all.period + k];
        setOpen(outline, view, to, isOpen(outline, view, from));
        forEachPair(outline, from, to, join);
    }
}

void setFolded(const Outline& outline, ViewState& view, std::uint32_t run, bool folded) {
    if (folded) view.unfolded.erase(scopeOf(outline, run));
    else view.unfolded.insert(scopeOf(outline, run));
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
