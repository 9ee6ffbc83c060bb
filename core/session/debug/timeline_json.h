#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "core/session/debug/kept_values.h"
#include "core/session/debug/timeline.h"

namespace sonde::session::debug {

/// Items that one answer lists.
inline constexpr std::size_t kMaxTimelineRows = 1'000;

/// {"steps","elapsed_ns","rows":[…]} with the rows of `count` items from `first` on, but no more than kMaxTimelineRows:
/// {"position","depth","kind","name","module","operator","begin_ns","end_ns","events"}; "end_ns" is null of what is not
/// done.
nlohmann::ordered_json timelineJson(const graph::InternalGraph& graph, const Timeline& timeline, std::size_t first,
                                    std::size_t count);
/// {"count","positions"}: the first kMaxTimelineRows of some items.
nlohmann::ordered_json positionsJson(std::span<const ItemId> items);
/// {"limit_bytes","bytes","disk_limit_bytes","disk_bytes","dropped_bytes","computed_again"}
nlohmann::ordered_json keptUseJson(const KeptUse& use);

}  // namespace sonde::session::debug
