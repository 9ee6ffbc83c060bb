#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

// How one call may be spelled in several ways: attributes at their defaults, dimensions that count from the end,
// operands in the other order.

/// Null if the operator has no such attribute, or is not known.
const ops::FormalAttribute* formalAttribute(const graph::Expr& expr, std::string_view name);

/// With the default of the operator's version; null: it has none.
const tensor::AttributeValue* effectiveAttribute(const graph::Expr& expr, std::string_view name);

/// Of attributes and parameters that are numbers of dimensions.
bool isAxisName(std::string_view name);

/// The numbers of dimensions, those that count from the end from the front; none: they are no numbers, or the rank of
/// the value that they are of is not known.
std::optional<std::vector<std::int64_t>> axesFromFront(const graph::InternalGraph& graph, const graph::Expr& expr,
                                                       const tensor::Value& axes);
std::optional<std::vector<std::int64_t>> axesFromFront(const graph::InternalGraph& graph, const graph::Expr& expr,
                                                       const tensor::AttributeValue* axes);

/// Of two operands, which may stand in either order: a + b, not a + alpha·b.
bool isCommutative(const graph::Expr& expr);

}  // namespace sonde::analysis
