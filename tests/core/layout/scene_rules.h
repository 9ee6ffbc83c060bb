#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "core/layout/scene.h"
#include "tests/core/layout/box_graphs.h"

// The rules that every picture of a graph keeps.

namespace layout_test {

inline bool isWithin(const SceneLayout& scene, ItemId item, ItemId box) {
    for (; item.valid(); item = scene.item(item).parent) {
        if (item == box) return true;
    }
    return false;
}

/// Every broken rule, at most `most` of them: children inside their box and below its title, siblings apart, edges from
/// border to border, none through a box that has nothing to do with it, all within the bounds, everything finite.
inline std::vector<std::string> brokenRules(const SceneLayout& scene, bool through = true, std::size_t most = 1) {
    std::vector<std::string> broken;
    const auto tell = [&](std::string what) {
        if (broken.size() < most) broken.push_back(std::move(what));
    };
    const double slack = 1e-6;
    auto grown = [&](Rect r) { return Rect{r.x - slack, r.y - slack, r.width + 2 * slack, r.height + 2 * slack}; };
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
        const SceneItem& item = scene.items[i];
        const std::string name = "item " + std::to_string(i);
        if (!std::isfinite(item.rect.x + item.rect.y + item.rect.width + item.rect.height))
            tell(name + " is not finite");
        Rect room = scene.bounds;
        if (item.parent.valid()) {
            room = scene.item(item.parent).rect;
            room.y += scene.item(item.parent).titleHeight;
            room.height -= scene.item(item.parent).titleHeight;
        }
        if (!grown(room).contains(item.rect)) tell(name + " is not inside its box");
        const auto overlaps = [&](const std::vector<ItemId>& siblings) {
            std::vector<ItemId> sorted = siblings;
            std::sort(sorted.begin(), sorted.end(),
                      [&](ItemId a, ItemId b) { return scene.item(a).rect.y < scene.item(b).rect.y; });
            for (std::size_t a = 0; a < sorted.size(); ++a) {
                Rect smaller = scene.item(sorted[a]).rect;
                smaller = {smaller.x + slack, smaller.y + slack, smaller.width - 2 * slack, smaller.height - 2 * slack};
                for (std::size_t b = a + 1; b < sorted.size() && scene.item(sorted[b]).rect.y < smaller.bottom(); ++b) {
                    if (smaller.overlaps(scene.item(sorted[b]).rect)) return true;
                }
            }
            return false;
        };
        if (overlaps(item.children)) tell("children of " + name + " overlap");
        if (i == 0 && overlaps(scene.top)) tell("items at the top overlap");
    }
    for (std::size_t i = 0; i < scene.edges.size(); ++i) {
        const SceneEdge& edge = scene.edges[i];
        const std::string name = "edge " + std::to_string(i);
        if (edge.path.empty() || !std::isfinite(edge.path.bounds().width + edge.path.bounds().height)) {
            tell(name + " has no path");
            continue;
        }
        if (!onBorder(scene.item(edge.from).rect, edge.path.start())) tell(name + " does not begin at its item");
        if (!onBorder(scene.item(edge.to).rect, edge.path.end())) tell(name + " does not end at its item");
        if (!grown(scene.bounds).contains(edge.path.bounds())) tell(name + " leaves the picture");
        if (edge.values.empty()) tell(name + " carries nothing");
        if (!through) continue;
        const Rect bounds = edge.path.bounds();
        for (std::size_t k = 0; k < scene.items.size(); ++k) {
            const ItemId box(k);
            if (!bounds.overlaps(scene.items[k].rect)) continue;
            if (isWithin(scene, edge.from, box) || isWithin(scene, edge.to, box)) continue;
            if (crosses(edge.path, scene.item(box).rect, 1)) tell(name + " passes through item " + std::to_string(k));
        }
    }
    return broken;
}

/// The first of them, or empty.
inline std::string brokenRule(const SceneLayout& scene, bool through = true) {
    const auto broken = brokenRules(scene, through);
    return broken.empty() ? std::string() : broken.front();
}

/// How many closed operations have lines that do not come in, from left to right, in the order of their arguments, or
/// do not leave in the order of their outputs.
inline std::size_t disorderedPorts(const sonde::graph::InternalGraph& graph, const SceneLayout& scene) {
    std::map<std::uint32_t, std::vector<std::pair<double, std::size_t>>> in, out;
    const bool across = scene.direction == Direction::LeftRight;
    for (const SceneEdge& edge : scene.edges) {
        const auto least = [&](const auto& list) {
            std::size_t at = list.size();
            for (const NodeId value : edge.values)
                at = std::min(at, static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin()));
            return at;
        };
        const ItemDescription &to = scene.item(edge.to).what, &from = scene.item(edge.from).what;
        if (to.expr.valid() && !to.open && to.hiddenExprs == 0)
            in[edge.to.value].emplace_back(across ? edge.path.end().y : edge.path.end().x,
                                           least(graph.expr(to.expr).inputs));
        if (from.expr.valid() && !from.open && from.hiddenExprs == 0 && from.kind == ItemKind::Expr) {
            std::size_t first = graph.expr(from.expr).outputs.size();
            for (std::size_t k = first; k-- > 0;)
                if (graph.expr(from.expr).outputs[k] == edge.values.front()) first = k;
            out[edge.from.value].emplace_back(across ? edge.path.start().y : edge.path.start().x, first);
        }
    }
    std::size_t wrong = 0;
    for (auto* ends : {&in, &out}) {
        for (auto& [item, list] : *ends) {
            std::sort(list.begin(), list.end());
            bool sorted = true;
            for (std::size_t i = 1; i < list.size(); ++i)
                sorted = sorted && (list[i].second >= list[i - 1].second || list[i].first - list[i - 1].first < 1e-6);
            wrong += !sorted;
        }
    }
    return wrong;
}

}  // namespace layout_test
