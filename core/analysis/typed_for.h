#pragma once

#include <map>
#include <span>

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// typedFor() for inputs of these types, in the order of graph.inputs() (no kind: as declared). What operators refuse
/// becomes a finding.
graph::InternalGraph typedForTypes(const graph::InternalGraph& graph, std::span<const tensor::TypeInfo> inputs,
                                   base::Diagnostics& findings,
                                   const std::map<graph::NodeId, tensor::TypeInfo>& seen = {},
                                   const ops::Registry& registry = ops::Registry::all());

}  // namespace sonde::analysis
