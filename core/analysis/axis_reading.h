#pragma once

#include <vector>

#include "core/analysis/axis_move.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// For every axis of the operand; empty if the call may read all of it. What shapes and arguments that are not known
/// decide counts as all, so that it is never less than what is read.
std::vector<AxisMove> axisMoves(const graph::InternalGraph& graph, const graph::Expr& expr, const Operand& operand);

}  // namespace sonde::analysis
