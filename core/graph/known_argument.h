#pragma once

#include <optional>
#include <string_view>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// An argument by its keyword, else by its position; null if the call has neither, or leaves it out.
const Argument* givenArgument(const Expr& expr, std::size_t index, std::string_view keyword);
/// The value of an argument that is known before a run, by its position or its keyword; null if there is none.
const tensor::Value* knownArgument(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                   std::string_view keyword);
/// The same of a number, or of a tensor with one element; a bool is 0 or 1.
std::optional<double> knownNumber(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                  std::string_view keyword);

/// Whether an operation draws numbers, see operators::drawsNumbers(). Nothing: its arguments are not known before a
/// run.
std::optional<bool> drawsNumbers(const InternalGraph& graph, const Expr& expr);

}  // namespace sonde::graph
