#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "core/analysis/problem.h"

namespace sonde::session {

/// Problems of a run of `graph`, as they are listed under "problems" by the verb and by the debugger.
nlohmann::ordered_json problemsJson(const graph::InternalGraph& graph, std::span<const analysis::Problem> problems);

}  // namespace sonde::session
