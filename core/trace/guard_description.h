#pragma once

#include <string>

#include "core/graph/internal_graph.h"
#include "core/trace/value_oracle.h"

namespace sonde::trace {

/// How a value comes about, as a person writes it: "sum(x) > 0", "x.shape[0]". What is too long to read is cut at
/// nodes' names.
std::string expressionText(const graph::InternalGraph& graph, graph::NodeId node);

/// What a trace did because of a value: "took the branch because sum(x) > 0 was true", "used x.shape[0] as the integer
/// 3", "iterated over x, which had 3 elements".
std::string guardDescription(KnownUse use, const std::string& expression, const tensor::AttributeValue& came);

/// "+" of "add", "//" of "floordiv"; empty if the operator is not written between its operands.
std::string_view infixSign(std::string_view op);

/// "bool", "int", "float", "length" or "iteration".
const char* guardKind(KnownUse use);

}  // namespace sonde::trace
