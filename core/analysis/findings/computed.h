#pragma once

#include "core/analysis/weight_positions.h"

namespace sonde::analysis {

/// Whether `expr` computes something: no input, stored value or output, and no call of a body.
inline bool isComputed(const graph::Expr& expr) {
    if (isStored(expr) || expr.kind == graph::ExprKind::Input || expr.kind == graph::ExprKind::Output) return false;
    return !expr.op.name.empty() || expr.bodies.empty();
}

}  // namespace sonde::analysis
