#pragma once

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// A call of which only a run knows what it does: it may write to its arguments, and it may fail. So may an operator of
/// a library of the user's own.
bool isOpaque(const Expr& expr);

}  // namespace sonde::passes
