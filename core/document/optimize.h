#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace sonde::trace {
class TracedModule;
}

namespace sonde::document {

/// `optimize` of a traced module (traced-module.md, "Optimisation"): a copy with its hierarchy, changed by these passes
/// (ids or other names of passes::findPass) in order, and verified: on random inputs of the recorded types its results
/// differ by 1e-4 at most. Whatever the copy is asked afterwards, such a pass finds nothing more to do in it.
/// fuse-conv-bn changes modules, any other pass each graph by itself. Errors: an unknown pass; one that would have to
/// change several graphs, or built-in modules, at once (Usage); other results (Run).
base::Result<std::shared_ptr<trace::TracedModule>> optimize(const trace::TracedModule& module,
                                                            const std::vector<std::string>& passes = {"fuse-conv-bn"},
                                                            const base::WorkContext& work = {});

}  // namespace sonde::document
