#include "core/session/bisection/likeness.h"

#include <algorithm>
#include <map>

namespace sonde::session::bisection {

using graph::InternalGraph;
using graph::NodeId;

namespace {

constexpr double kUnlike = 0.1;  ///< of the values: forms of one network in other operators have more in common
constexpr double kHalf = 0.5;
constexpr double kSameWeights = 0.9;  ///< then only the names are others

using Dims = std::vector<std::int64_t>;

/// Elements of the weights by their dimensions, without those of 1, in ascending order.
std::map<Dims, std::int64_t> elementsByDims(const InternalGraph& graph) {
    std::map<Dims, std::int64_t> elements;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (!expr.isParameter || expr.outputs.empty()) continue;
        const graph::Node& node = graph.node(expr.outputs.front());
        if (!node.constant || !node.constant->isTensor()) continue;
        const tensor::Tensor& weight = node.constant->tensor();
        Dims dims(weight.shape().begin(), weight.shape().end());
        std::erase(dims, 1);
        std::ranges::sort(dims);
        if (!dims.empty()) elements[std::move(dims)] += weight.numel();
    }
    return elements;
}

std::optional<double> sharedWeights(const InternalGraph& model, const InternalGraph& other) {
    const auto own = elementsByDims(model), others = elementsByDims(other);
    double all = 0, allOthers = 0, shared = 0;
    for (const auto& [dims, count] : others) allOthers += static_cast<double>(count);
    for (const auto& [dims, count] : own) {
        all += static_cast<double>(count);
        if (const auto there = others.find(dims); there != others.end())
            shared += static_cast<double>(std::min(count, there->second));
    }
    const double fewer = std::min(all, allOthers);
    return fewer > 0 ? std::optional(shared / fewer) : std::nullopt;
}

}  // namespace

Likeness likenessOf(const InternalGraph& model, const InternalGraph& other, const analysis::ModelTarget& target) {
    Likeness likeness;
    likeness.computed = target.computed();
    likeness.weights = sharedWeights(model, other);
    for (const NodeId input : model.inputs()) {
        const NodeId there = target.counterpart(input);
        const bool isInput = std::ranges::find(other.inputs(), there) != other.inputs().end();
        if (isInput && other.node(there).name != model.node(input).name)
            likeness.pairedInputs.emplace_back(model.node(input).name, other.node(there).name);
    }
    return likeness;
}

bool areUnlike(const Likeness& likeness, const analysis::Bisection& found) {
    const auto fewer = static_cast<double>(std::min(likeness.computed, found.computed));
    if (!found.differs || fewer == 0 || likeness.weights.value_or(0) >= kSameWeights) return false;
    const double share = static_cast<double>(found.matched - std::min(found.reshaped, found.matched)) / fewer;
    return share < kUnlike || (share < kHalf && likeness.weights && *likeness.weights < kHalf);
}

}  // namespace sonde::session::bisection
