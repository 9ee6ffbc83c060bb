#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"
#include "core/tensor/type_info.h"

namespace sonde::analysis {

enum class ProblemKind : std::uint8_t {
    Nan,
    Inf,         ///< a division by 0, a mask
    Overflow,    ///< finite inputs, and a result that is too large for its dtype
    Divergence,  ///< another value than in a reference
    Failure,
    Guard,
    Shape  ///< another type than the model declares, or than was inferred
};
std::string_view name(ProblemKind kind);  ///< "nan", "inf", …

enum class ProblemRole : std::uint8_t {
    Origin,  ///< it came up here
    Carrier  ///< it came from an input
};
std::string_view name(ProblemRole role);              ///< "origin", "carrier"
std::string_view severityName(base::Severity value);  ///< "error", "warning", "info"

/// One node with something wrong in a run.
struct Problem {
    ProblemKind kind = ProblemKind::Nan;
    ProblemRole role = ProblemRole::Origin;
    /// Error: NaN, an overflow or a difference was made here, or the run ended here. Warning: infinity (it may be
    /// meant), or a failure that the run went on after. Info: carriers.
    base::Severity severity = base::Severity::Error;
    graph::NodeId node;
    std::string qualname;
    std::string operatorName;
    std::string message;  ///< "3 elements are NaN, 1 is infinite"
    std::string advice;   ///< why that happens and what to try; empty for carriers
    /// Of the origin of a difference: operations of which one is at fault, the node's own among them. Else empty.
    std::vector<graph::ExprId> suspects = {};
};

/// By node: types that values of a run had against what the graph tells of them; see Contradictions.
using ContradictingTypes = std::map<graph::NodeId, tensor::TypeInfo>;

/// A problem of a node, with its module and operator.
Problem problemAt(const graph::InternalGraph& graph, graph::NodeId node, ProblemKind kind, ProblemRole role);
/// The same of an operation whose results may have no name.
Problem problemAt(const graph::InternalGraph& graph, const graph::Expr& expr, ProblemKind kind, ProblemRole role);

/// "Conv", "aten::conv2d", "Conv2d" of a module that is called, "Input": what the operation of a node is.
std::string operatorText(const graph::Expr& expr);
/// "features.3.1.bn (BatchNormalization)": the module and the operator of a node; of a node outside of modules, its
/// name.
std::string placeText(const graph::InternalGraph& graph, graph::NodeId node);

/// By expr: its position in execution, with what a body does before the operation that the body is of.
std::vector<std::size_t> executionOrder(const graph::InternalGraph& graph);

/// Origins first, in execution order, then carriers; those of one node stay in their order.
void sortProblems(const graph::InternalGraph& graph, std::vector<Problem>& problems);

}  // namespace sonde::analysis
