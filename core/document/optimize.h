#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace sonde::trace {
class TracedModule;
}

namespace sonde::document {

/// `optimize` of a traced module (traced-module.md, "Optimisation"): a copy with its hierarchy, changed by these passes
/// (ids or other names of passes::findPass) and verified: on random inputs of the recorded types its results
/// differ by 1e-4 at most. Their order is that of passes::optimizeOrder: BackwardFoldScale also runs FuseConvBn, with a
/// warning in `findings`, and FuseAddMul after it. Whatever the copy is asked afterwards, a pass that was asked for
/// finds nothing more to do in it. fuse-conv-bn changes modules, any other pass each graph by itself, with the weights
/// of the convolutions that it calls. Errors: an unknown pass; one that would have to change several graphs, or
/// built-in modules, at once (Usage); other results (Run).
base::Result<std::shared_ptr<trace::TracedModule>> optimize(const trace::TracedModule& module,
                                                            const std::vector<std::string>& passes = {"fuse-conv-bn"},
                                                            const base::WorkContext& work = {},
                                                            base::Diagnostics* findings = nullptr);

/// The same with exactly these passes in this order.
base::Result<std::shared_ptr<trace::TracedModule>> runModulePasses(const trace::TracedModule& module,
                                                                   const std::vector<std::string>& passes,
                                                                   const base::WorkContext& work = {});

}  // namespace sonde::document
