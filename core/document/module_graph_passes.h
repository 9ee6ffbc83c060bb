#pragma once

#include <set>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/passes/pass.h"
#include "core/passes/report.h"
#include "core/trace/traced_module/builtin_graphs.h"
#include "core/trace/traced_module/fuse_conv_bn.h"
#include "core/trace/traced_module/module_graph.h"

namespace sonde::document {

/// What passes know of the module that a graph belongs to.
struct ModuleGraphContext {
    trace::BuiltinGraphs& builtins;
    const std::set<const std::byte*>& written;  ///< where tensors begin that may be written to: they are no constants
    trace::LayerModules* layers = nullptr;      ///< calls of these are operations whose weights change; null: opaque
};

/// Runs a pass, and those that it needs, on the graph of a traced module and puts what it made of it back. How many
/// changes it made. Needs an EvaluatorScope. Errors: what the pass says; what it made cannot be held by such a graph
/// (Usage), and then the module is to be thrown away.
base::Result<std::size_t> runPassOn(trace::ModuleGraph& graph, const ModuleGraphContext& context,
                                    const passes::Pass& pass, const base::WorkContext& work);

/// What a pass and those that it needs did; by the reports, as counts leave out some changes of nodes (remove-inplace
/// counts a write only if somebody reads what it wrote).
std::size_t changesIn(const std::vector<passes::PassReport>& reports);

}  // namespace sonde::document
