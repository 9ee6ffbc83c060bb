// Derivatives of the losses of classification: scores [N,C,D…], labels [N,D…].

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;

/// −weight[label]·logs[label] of every label that is not ignored; their sum, or that over the sum of the weights.
NodeId labelLoss(GradientBuilder& b, const Expr& e, NodeId logs, NodeId labels, NodeId weights) {
    NodeId index = labels, counts;
    if (e.attributes.has("ignore_index")) {
        const auto ignored = static_cast<double>(e.attributes.getInt("ignore_index", 0));
        const NodeId isIgnored = b.op("Equal", {labels, b.number(ignored, labels)});
        index = b.op("Where", {isIgnored, b.number(0, labels), labels});
        counts = b.op("Where", {isIgnored, b.number(0, logs), b.number(1, logs)});
    }
    const NodeId column = b.op("GatherElements", {logs, b.unsqueezed(index, 1)}, {{"axis", std::int64_t{1}}});
    const NodeId picked = b.reshapedTo(column, labels);
    NodeId weight = weights.valid() ? b.op("Gather", {weights, index}, {{"axis", std::int64_t{0}}}) : NodeId();
    if (weight.valid() && counts.valid()) weight = b.mul(weight, counts);
    if (!weight.valid()) weight = counts.valid() ? counts : b.filled(picked, 1);
    const NodeId loss = b.op("Neg", {b.mul(weight, picked)});
    const std::string reduction = e.attributes.getString("reduction", "mean");
    const auto sum = [&](NodeId x) { return b.op("ReduceSum", {x}, {{"keepdims", std::int64_t{0}}}); };
    if (reduction == "none") return loss;
    return reduction == "sum" ? sum(loss) : b.div(sum(loss), sum(weight));
}

void likelihoodRule(GradientBuilder& b, const Expr& e) {
    if (b.version() < 13) return b.fail("the derivative of " + e.op.name + " needs version 13");
    b.through(e,
              [&]() -> std::vector<NodeId> { return {labelLoss(b, e, inputOf(e, 0), inputOf(e, 1), inputOf(e, 2))}; });
}

void crossEntropyRule(GradientBuilder& b, const Expr& e) {
    if (b.version() < 13) return b.fail("the derivative of " + e.op.name + " needs version 13");
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId logs = b.op("LogSoftmax", {inputOf(e, 0)}, {{"axis", std::int64_t{1}}});
        return {labelLoss(b, e, logs, inputOf(e, 1), inputOf(e, 2)), logs};
    });
}

}  // namespace

void addLossGradients(GradientRules& rules) {
    rules.insert({{"NegativeLogLikelihoodLoss", likelihoodRule}, {"SoftmaxCrossEntropyLoss", crossEntropyRule}});
}

}  // namespace sonde::passes
