#pragma once

#include <string>

#include "core/graph/internal_graph.h"

namespace sonde::session {

/// An operator's name without overload, case and marks: "aten::_convolution" and "Conv" are "conv". Of a call without
/// operator that of the module's class, or of the function.
std::string plainOperator(const graph::Expr& expr);

}  // namespace sonde::session
