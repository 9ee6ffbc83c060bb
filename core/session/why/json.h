#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/session/why/chain.h"
#include "core/session/why/contributions.h"
#include "core/session/why/explanation.h"
#include "core/session/why/receptive_field.h"

namespace sonde::session::why {

/// Adds "node" and "index" of the element that is answered about, and "member" where the node's value is a list.
void addPlace(nlohmann::ordered_json& answer, const Place& place, const graph::InternalGraph& graph);

/// Adds those, "value", "formula", "numbers", "terms", "count", "rest" and, where there is one, "note" and "inputs" to
/// the answer of `why`. Each term: {"node","index","weight","value","part"}; "member" where the node's value is a list,
/// "weight_node" and "weight_index" where the weight is an element itself; for a state inside of an operator, which is
/// no element of a node, "inside": {"node","state","index"}, "h of layer 0" at an index of the operator's first output.
void addExplanation(nlohmann::ordered_json& answer, const Explanation& explanation, const graph::InternalGraph& graph);

/// [{"node","begin","end","shape","exact"}…]
nlohmann::ordered_json fieldJson(const ReceptiveField& field, const graph::InternalGraph& graph);

/// Adds "contributions", for each input {"node","share","shape","largest":[{"index","share"}…]} with so many elements,
/// and "constants", "unexplained", "cut" and "sampled".
void addContributions(nlohmann::ordered_json& answer, const Contributions& contributions,
                      const graph::InternalGraph& graph, std::size_t elements);

/// Adds "chain", [{"node","index","operator","value"}…], "end" and "origin", the name of the last node if NaN, infinity
/// or the difference from the reference is made there, else null. With a reference each has "reference", too. A state
/// inside of an operator has "inside" as above, an empty "index", and the node of the operator's first output.
void addChain(nlohmann::ordered_json& answer, const Chain& chain, const graph::InternalGraph& graph);

}  // namespace sonde::session::why
