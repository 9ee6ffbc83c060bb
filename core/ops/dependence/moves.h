#pragma once

#include "core/ops/dependence/dependence.h"

namespace sonde::ops {

/// Whether each element of its results is one of its inputs' or a fill, and none computed: what an operator declares
/// of how its elements depend on its inputs (explain()) says only where they come from.
bool onlyMoves(const OpDef& op);

}  // namespace sonde::ops
