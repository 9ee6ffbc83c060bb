#include "core/analysis/findings/stored_mask.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;

namespace {

/// Between a mask and its softmax; more is no attention.
constexpr std::size_t kMaxValues = 64;

bool hasOnlyNegativeInfinity(const tensor::Tensor& mask) {
    if (!tensor::isFloating(mask.dtype())) return false;
    bool hasAny = false;
    for (std::int64_t i = 0; i < mask.numel(); ++i) {
        const double x = mask.toDouble(i);
        if (std::isnan(x) || x == INFINITY) return false;
        hasAny = hasAny || std::isinf(x);
    }
    return hasAny;
}

/// −∞ stays what it is: sums with finite numbers, also those of products; views, selections and copies.
bool passesMask(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    switch (traits.opClass) {
        case OpClass::Add:
        case OpClass::AddMatrixProduct:
        case OpClass::BatchMatrixProduct:
        case OpClass::Cast:
        case OpClass::Where:
        case OpClass::MaskedFill: return true;
        default: return traits.mayBeView() || traits.is(Trait::MovesData) || traits.isIdentityAtInference();
    }
}

/// Follows values into called modules and out of them.
std::vector<NodeId> resultsOf(const InternalGraph& graph, const Expr& expr, NodeId node) {
    const bool isCall = expr.op.name.empty() && expr.bodies.size() == 1;
    if (!isCall) return expr.outputs;
    std::vector<NodeId> inside;
    const graph::Body& body = graph.body(expr.bodies.front());
    for (std::size_t i = 0; i < expr.inputs.size() && i < body.inputs.size(); ++i)
        if (expr.inputs[i] == node) inside.push_back(body.inputs[i]);
    return inside;
}

}  // namespace

bool isStoredMask(const InternalGraph& graph, NodeId node) {
    const auto& constant = graph.node(node).constant;
    if (!constant || !constant->isTensor() || !hasOnlyNegativeInfinity(constant->tensor())) return false;
    std::set<NodeId> known{node};
    std::vector<NodeId> open{node};
    bool isRead = false;
    while (!open.empty()) {
        const NodeId value = open.back();
        open.pop_back();
        for (const graph::ExprId id : graph.node(value).users) {
            const Expr& user = graph.expr(id);
            const operators::Traits& traits = graph::traitsOf(user);
            if (traits.opClass == OpClass::Softmax || traits.is(Trait::Attends)) {
                isRead = true;
                continue;
            }
            const bool isCall = user.op.name.empty() && user.bodies.size() == 1;
            if (!isCall && !passesMask(user)) return false;
            for (const NodeId next : resultsOf(graph, user, value))
                if (known.insert(next).second) open.push_back(next);
            if (known.size() > kMaxValues) return false;
        }
    }
    return isRead;
}

}  // namespace sonde::analysis
