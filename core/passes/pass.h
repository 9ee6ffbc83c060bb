#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/passes/report.h"
#include "core/passes/rewrite.h"

namespace sonde::passes {

/// A change of a graph. One file and one entry in the table in passes.cpp for each.
struct Pass {
    std::string_view id;           ///< "fuse-conv-bn"
    std::string_view name;         ///< "Fuse convolution and batch norm"
    std::string_view description;  ///< help text
    /// Changes the graph; how often it applied. An error leaves the caller's graph as it was.
    base::Result<std::size_t> (*run)(Rewrite& rewrite);
    std::vector<std::string_view> required = {};  ///< ids of passes that run first
    bool runOnce = true;                          ///< false: again until nothing changes, at most 100 times
    /// The outputs stay what they were. Not so for passes that give in-place writes their effect: a graph computes
    /// values, so before them a write to a part of a tensor has none; and for those that round at other places.
    bool keepsValues = true;
    std::string_view alias = {};  ///< another name by which it is known
};

/// All passes. Alphabetical by id.
const std::vector<Pass>& passes();
/// By id, name of its reference (FuseConvBn, FlodConstant) or alias; case, '-' and '_' do not matter.
/// Usage error "NAME is not found" with the names that there are.
base::Result<const Pass*> findPass(std::string_view name);

/// What passes are given besides the graph.
struct PassContext {
    std::vector<std::string> disabled;  ///< passes that must not run; what requires them is skipped, too
    Evaluate evaluate;                  ///< computes an operator on constants; without it nothing is folded
    /// Compares what two graphs compute: true if they agree, false if that could not be found out, an error for a
    /// difference. Called after each pass that keeps values.
    std::function<base::Result<bool>(const std::shared_ptr<const InternalGraph>& before,
                                     const std::shared_ptr<const InternalGraph>& after)>
        compare;
};

struct PassResult {
    std::shared_ptr<InternalGraph> graph;  ///< the changed copy
    std::vector<PassReport> reports;       ///< in the order in which the passes ran, required ones included
    base::Diagnostics diagnostics;         ///< a warning for each pass that was skipped
};

/// Runs passes in order on a copy of the graph, each preceded by those that it requires. After each the graph is
/// validated and, with `context.compare`, compared.
/// Errors: an unknown pass (Usage); what a pass found to be impossible, or a pass whose result differs (Run). The graph
/// given is never changed.
base::Result<PassResult> runPasses(const InternalGraph& graph, std::span<const std::string> ids,
                                   const PassContext& context = {}, const base::WorkContext& work = {});

/// `optimize` of TracedModule (traced-module.md, "Optimisation"): FuseConvBn, then FuseAddMul, and with
/// BackwardFoldScale that one and FuseAddMul once more, each only if asked for; BackwardFoldScale brings FuseConvBn
/// with it and a warning. Unknown names are errors.
base::Result<PassResult> optimize(const InternalGraph& graph, std::vector<std::string> enabled = {"fuse-conv-bn"},
                                  const PassContext& context = {}, const base::WorkContext& work = {});

}  // namespace sonde::passes
