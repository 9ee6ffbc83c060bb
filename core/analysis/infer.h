#pragma once

#include <map>
#include <span>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// Shapes and dtypes of all nodes, bodies included, from the types of the inputs and constants, following shape
/// computations through the values that are known before a run (Shape → Gather → Concat → Reshape).
/// Where base::stopRequested(), the rest stays as it is.
/// Writes them into the graph's nodes; a declared type that says less is refined, one that disagrees stays and becomes
/// a finding. Dimensions are expressions of the inputs' symbols where they can be ("(H+1)//2"); a dimension of an input
/// that has no name gets one, "x.0". Operators that are unknown or cannot infer leave their outputs as declared. Never
/// fails.
void inferTypes(graph::InternalGraph& graph, base::Diagnostics& findings,
                const ops::Registry& registry = ops::Registry::all());

/// A copy whose types are those for these inputs (in the order of graph.inputs(); none: as declared): dimensions are
/// numbers wherever they follow from the inputs. What cannot be told is as in the graph. `seen`: types that a run on
/// these inputs had, where the values decide.
graph::InternalGraph typedFor(const graph::InternalGraph& graph, std::span<const tensor::Value> inputs,
                              const std::map<graph::NodeId, tensor::TypeInfo>& seen = {},
                              const ops::Registry& registry = ops::Registry::all());

}  // namespace sonde::analysis
