#pragma once

#include <QString>

#include "core/graph/internal_graph.h"

namespace sonde::models {

/// The class of an operation, by the key under which ui/theme has its colours: "layer", "activation", …, "unknown".
QStringView categoryKey(const graph::Expr& expr);

}  // namespace sonde::models
