#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostics.h"

namespace sonde::passes {

/// In what order `optimize` of TracedModule runs passes (traced-module.md, "Optimisation"): ids of FuseConvBn, then of
/// FuseAddMul, and with BackwardFoldScale of that one and of FuseAddMul once more, each only if asked for;
/// BackwardFoldScale brings FuseConvBn with it. Other passes follow in their order. Unknown names are left out.
std::vector<std::string> optimizeOrder(const std::vector<std::string>& enabled);

/// The warning that BackwardFoldScale brought FuseConvBn with it.
base::Diagnostic forcedFuseConvBn();

}  // namespace sonde::passes
