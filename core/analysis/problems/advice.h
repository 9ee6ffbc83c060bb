#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/problems/suspects.h"

namespace sonde::analysis {

/// Why an operation made NaN or infinity, as far as its kind, its weights and its attributes tell, and what to try.
/// `hasBadWeight`: one of its weights holds NaN or infinity itself.
std::string adviceFor(const graph::InternalGraph& graph, const Suspect& suspect, bool hasBadWeight);

/// The value of an argument that is known before a run, by its position or its keyword; null if there is none.
const tensor::Value* knownArgument(const graph::InternalGraph& graph, const graph::Expr& expr, std::size_t index,
                                   std::string_view keyword);
/// The same of a number, or of a tensor with one element; a bool is 0 or 1.
std::optional<double> knownNumber(const graph::InternalGraph& graph, const graph::Expr& expr, std::size_t index,
                                  std::string_view keyword);

}  // namespace sonde::analysis
