#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

inline constexpr std::size_t kAnyDistance = std::numeric_limits<std::size_t>::max();

/// Which way data goes.
enum class Flow : std::uint8_t { Upstream, Downstream };

/// By ExprId: how many edges an expr lies from the nearest of `from` (which are at 0); kUnreached beyond `most` or if
/// there is no way. An operation with bodies and what is inside are joined: inner exprs feed their owner through the
/// body's results, and are fed by what they capture and by their owner's inputs; going in or out costs no step.
/// Linear in the graph.
inline constexpr std::uint32_t kUnreached = 0xffffffff;
std::vector<std::uint32_t> distances(const graph::InternalGraph& graph, const std::vector<graph::ExprId>& from,
                                     Flow flow, std::size_t most = kAnyDistance);

/// Every expr on any way from one of `from` to one of `to`, both included, in the order of the program; if data flows
/// only in the other direction, of that one. Empty: no way. Linear in the graph, however many ways there are.
std::vector<graph::ExprId> between(const graph::InternalGraph& graph, const std::vector<graph::ExprId>& from,
                                   const std::vector<graph::ExprId>& to);

}  // namespace sonde::analysis
