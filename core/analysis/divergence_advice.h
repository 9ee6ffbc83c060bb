#pragma once

#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Why one of these operations may give another output for the same inputs, and what to try: what its kind usually has
/// wrong, and what its weights tell (statistics of a norm that was never trained).
std::string divergenceAdvice(const graph::InternalGraph& graph, const std::vector<graph::ExprId>& suspects);

}  // namespace sonde::analysis
