#include "core/session/debug/timeline_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sonde::session::debug {

using nlohmann::ordered_json;

namespace {

std::string_view kindName(const Item& item) {
    switch (item.kind) {
        case Item::Kind::Operation: return "operation";
        case Item::Kind::Module: return "module";
        case Item::Kind::Body: break;
    }
    return item.iteration >= 0 ? "iteration" : "branch";
}

ordered_json rowOf(const graph::InternalGraph& graph, const Timeline& timeline, ItemId id) {
    const Item& item = timeline[id];
    ordered_json row{{"position", id},
                     {"depth", item.depth},
                     {"kind", kindName(item)},
                     {"name", nameOf(graph, item)},
                     {"module", moduleOf(graph, item)}};
    if (item.kind == Item::Kind::Operation) {
        const graph::Expr& expr = graph.expr(item.expr);
        row["operator"] = expr.op.name.empty() ? expr.target : expr.op.name;
    }
    row["begin_ns"] = static_cast<std::int64_t>(timeline.begin(id, TimelineScale::Time));
    row["end_ns"] = nullptr;
    if (item.end != kNoItem) row["end_ns"] = static_cast<std::int64_t>(timeline.end(id, TimelineScale::Time));
    row["events"] = ordered_json::array();
    for (std::size_t bit = 0; bit < Timeline::kEvents; ++bit)
        if ((item.events >> bit & 1) != 0) row["events"].push_back(eventName(bit));
    return row;
}

}  // namespace

ordered_json timelineJson(const graph::InternalGraph& graph, const Timeline& timeline, std::size_t first,
                          std::size_t count) {
    ordered_json json{{"steps", timeline.size()},
                      {"elapsed_ns", static_cast<std::int64_t>(timeline.length(TimelineScale::Time))},
                      {"rows", ordered_json::array()}};
    const std::size_t begin = std::min(first, timeline.size());
    const std::size_t end = begin + std::min({count, kMaxTimelineRows, timeline.size() - begin});
    for (std::size_t i = begin; i < end; ++i) json["rows"].push_back(rowOf(graph, timeline, static_cast<ItemId>(i)));
    return json;
}

ordered_json positionsJson(std::span<const ItemId> items) {
    const auto shown = items.first(std::min(items.size(), kMaxTimelineRows));
    return {{"count", items.size()}, {"positions", std::vector<ItemId>(shown.begin(), shown.end())}};
}

ordered_json keptUseJson(const KeptUse& use) {
    return {{"limit_bytes", use.limits.memoryBytes},    {"bytes", use.memoryBytes},
            {"disk_limit_bytes", use.limits.diskBytes}, {"disk_bytes", use.diskBytes},
            {"dropped_bytes", use.droppedBytes},        {"computed_again", use.computedAgain}};
}

}  // namespace sonde::session::debug
