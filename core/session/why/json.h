#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/session/why/explanation.h"
#include "core/session/why/receptive_field.h"

namespace sonde::session::why {

/// Adds "value", "formula", "numbers", "terms", "count", "rest" and, where there is one, "note" and "inputs" to the
/// answer of `why`. Each term: {"node","index","weight","value","part"}; "member" where the node's value is a list,
/// "weight_node" and "weight_index" where the weight is an element itself.
void addExplanation(nlohmann::ordered_json& answer, const Explanation& explanation, const graph::InternalGraph& graph);

/// [{"node","begin","end","shape","exact"}…]
nlohmann::ordered_json fieldJson(const ReceptiveField& field, const graph::InternalGraph& graph);

}  // namespace sonde::session::why
