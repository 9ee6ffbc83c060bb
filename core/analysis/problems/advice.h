#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/problems/suspects.h"

namespace sonde::analysis {

/// Why an operation made NaN or infinity, as far as its kind, its weights and its attributes tell, and what to try.
/// `hasBadWeight`: one of its weights holds NaN or infinity itself.
std::string adviceFor(const graph::InternalGraph& graph, const Suspect& suspect, bool hasBadWeight);

}  // namespace sonde::analysis
