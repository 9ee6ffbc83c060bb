#pragma once

#include <memory>

#include "core/trace/traced_module.h"

namespace sonde::trace {

/// FuseConvBn on a traced module (traced-module.md, "Optimisation"): a copy with the same hierarchy in which a
/// convolution followed by a batch norm is one convolution, with s = γ / sqrt(var + ε), w' = w·s by output channel and
/// b' = β + γ (b − mean) / sqrt(var + ε). Both are built-in modules that one graph calls; only the norm reads the
/// convolution, and its statistics are stored. The norm's place is taken by an Identity. A convolution that is called
/// elsewhere, too, keeps its weights there: a copy "NAME_1" is installed beside it.
///
/// Needs an EvaluatorScope. Errors: what a built-in module does cannot be recorded, no memory.
base::Result<std::shared_ptr<TracedModule>> fuseConvBn(const TracedModule& module);

}  // namespace sonde::trace
