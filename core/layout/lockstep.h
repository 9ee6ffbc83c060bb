#pragma once

#include <utility>
#include <vector>

#include "core/layout/outline.h"

namespace sonde::layout {

/// Calls visit(ExprId) for every expr in a group, at any depth.
template <typename Visit>
void forEachExpr(const Outline& outline, GroupId top, Visit visit) {
    std::vector<GroupId> stack{top};
    while (!stack.empty()) {
        const GroupId id = stack.back();
        stack.pop_back();
        for (const Outline::Member& member : outline.group(id).members) {
            if (member.expr.valid()) visit(member.expr);
            if (member.group.valid()) stack.push_back(member.group);
        }
    }
}

/// Goes through two equal groups (see Outline::Run) side by side: visit(member of a, member of b).
template <typename Visit>
void forEachPair(const Outline& outline, GroupId a, GroupId b, Visit visit) {
    std::vector<std::pair<GroupId, GroupId>> stack{{a, b}};
    while (!stack.empty()) {
        const auto [first, second] = stack.back();
        stack.pop_back();
        const auto &mine = outline.group(first).members, &theirs = outline.group(second).members;
        for (std::size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
            visit(mine[i], theirs[i]);
            if (mine[i].group.valid() && theirs[i].group.valid()) stack.emplace_back(mine[i].group, theirs[i].group);
        }
    }
}

}  // namespace sonde::layout
