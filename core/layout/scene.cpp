#include "core/layout/scene.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::layout {

namespace {

bool isWithin(const SceneLayout& scene, ItemId item, ItemId box) {
    for (; item.valid(); item = scene.item(item).parent) {
        if (item == box) return true;
    }
    return false;
}

/// Positions along and across the flow.
struct FlowPoint {
    double along, across;
};
FlowPoint flowPoint(const SceneLayout& scene, ItemId item) {
    const Point center = scene.item(item).rect.center();
    return scene.direction == Direction::TopDown ? FlowPoint{center.y, center.x} : FlowPoint{center.x, center.y};
}

const std::vector<ItemId>& siblingsOf(const SceneLayout& scene, ItemId item) {
    const ItemId parent = scene.item(item).parent;
    return parent.valid() ? scene.item(parent).children : scene.top;
}

/// The other end of an edge at `from` that lies the least to the side; the nearest of those.
ItemId alongEdges(const SceneLayout& scene, ItemId from, bool forward) {
    const FlowPoint here = flowPoint(scene, from);
    ItemId best;
    std::pair<double, double> least;
    for (const std::size_t index : edgesAt(scene, from)) {
        const SceneEdge& edge = scene.edges[index];
        const bool leaves = isWithin(scene, edge.from, from);
        const ItemId other = leaves ? edge.to : edge.from;
        if (leaves != forward || other == from) continue;
        const FlowPoint there = flowPoint(scene, other);
        const std::pair distance{std::abs(there.across - here.across), std::abs(there.along - here.along)};
        if (!best.valid() || distance < least) {
            best = other;
            least = distance;
        }
    }
    return best;
}

ItemId amongSiblings(const SceneLayout& scene, ItemId from, bool next) {
    const double here = flowPoint(scene, from).across;
    ItemId best;
    double least = std::numeric_limits<double>::infinity();
    for (const ItemId other : siblingsOf(scene, from)) {
        if (other == from || scene.item(other).rank != scene.item(from).rank) continue;
        const double distance = next ? flowPoint(scene, other).across - here : here - flowPoint(scene, other).across;
        if (distance > 0 && distance < least) {
            best = other;
            least = distance;
        }
    }
    return best;
}

}  // namespace

ItemId SceneLayout::find(const ItemKey& key) const {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].key == key) return ItemId(i);
    }
    return {};
}

ItemId SceneLayout::itemAt(Point p) const {
    ItemId found;
    for (const std::vector<ItemId>* among = &top;; among = &item(found).children) {
        const auto hit =
            std::find_if(among->begin(), among->end(), [&](ItemId id) { return item(id).rect.contains(p); });
        if (hit == among->end()) return found;
        found = *hit;
    }
}

std::vector<std::size_t> edgesAt(const SceneLayout& scene, ItemId item) {
    std::vector<std::size_t> found;
    const bool open = item.valid() && !scene.item(item).children.empty();
    for (std::size_t i = 0; i < scene.edges.size(); ++i) {
        const SceneEdge& edge = scene.edges[i];
        if (open ? isWithin(scene, edge.from, item) != isWithin(scene, edge.to, item)
                 : edge.from == item || edge.to == item) {
            found.push_back(i);
        }
    }
    return found;
}

ItemId neighbour(const SceneLayout& scene, ItemId from, Move move) {
    if (!from.valid()) return {};
    switch (move) {
        case Move::Forward: return alongEdges(scene, from, true);
        case Move::Backward:
            if (scene.item(from).what.kind == ItemKind::Stub) return scene.item(from).source;
            return alongEdges(scene, from, false);
        case Move::Previous: return amongSiblings(scene, from, false);
        case Move::Next: return amongSiblings(scene, from, true);
    }
    return {};
}

}  // namespace sonde::layout
