// Derivatives of reductions and of softmax.

#include <algorithm>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;

/// The gradient of a reduction along the axes that were reduced, with x's shape. `kept`: the result with these axes.
NodeId spreadGradient(GradientBuilder& b, const Expr& e, NodeId& kept) {
    tensor::Attributes attributes = e.attributes;
    attributes.set("keepdims", std::int64_t{1});
    std::vector<NodeId> inputs{inputOf(e, 0)};
    if (inputOf(e, 1).valid()) inputs.push_back(inputOf(e, 1));
    kept = b.like(e, inputs, std::move(attributes));
    return b.op("Expand", {b.op("Reshape", {gradientOf(b, e), b.shapeOf(kept)}), b.shapeOf(inputOf(e, 0))});
}

/// The axes of a reduction, as ReduceSum of version 13 takes them.
NodeId axesOf(GradientBuilder& b, const Expr& e) {
    if (inputOf(e, 1).valid()) return inputOf(e, 1);
    std::vector<std::int64_t> axes = e.attributes.getInts("axes");
    const auto rank = b.rankOf(inputOf(e, 0));
    if (b.version() < 13 || (axes.empty() && !rank)) {
        b.fail("the derivative of " + e.op.name + " needs version 13 and a known rank");
        return {};
    }
    if (axes.empty()) {
        axes.resize(*rank);
        std::iota(axes.begin(), axes.end(), 0);
    }
    return b.integers(axes);
}

void reduceSumRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    b.give(inputOf(e, 0), spreadGradient(b, e, kept));
}
void reduceMeanRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept);
    b.give(x, b.div(spread, elementsFor(b, x, kept)));
}
void reduceSquaresRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept);
    b.give(x, b.mul(spread, b.mul(x, b.number(2, x))));
}
/// x / y, 0 where y is 0.
void reduceLengthRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept);
    const NodeId isZero = b.op("Equal", {kept, b.number(0, x)});
    b.give(x, b.op("Where", {isZero, b.number(0, x), b.mul(spread, b.div(x, kept))}));
}
/// To the extreme elements, in equal shares.
void reduceExtremeRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept);
    const NodeId hits = b.op("Where", {b.op("Equal", {x, kept}), b.number(1, x), b.number(0, x)});
    const NodeId count = b.op("ReduceSum", {hits, axesOf(b, e)}, {{"keepdims", std::int64_t{1}}});
    b.give(x, b.mul(spread, b.div(hits, count)));
}
/// y / x; with one zero among the elements it is only that one's, the product of the others.
void reduceProductRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept), zero = b.number(0, x), one = b.number(1, x);
    const NodeId isZero = b.op("Equal", {x, zero}), others = b.op("Where", {isZero, one, x});
    std::vector<NodeId> inputs{others};
    if (inputOf(e, 1).valid()) inputs.push_back(inputOf(e, 1));
    tensor::Attributes attributes = e.attributes;
    attributes.set("keepdims", std::int64_t{1});
    const NodeId product = b.like(e, inputs, attributes);
    const NodeId zeros =
        b.op("ReduceSum", {b.op("Where", {isZero, one, zero}), axesOf(b, e)}, {{"keepdims", std::int64_t{1}}});
    const NodeId atZero = b.op("Where", {b.op("Equal", {zeros, one}), product, zero});
    const NodeId elsewhere = b.op("Where", {b.op("Equal", {zeros, zero}), b.div(product, others), zero});
    b.give(x, b.mul(spread, b.op("Where", {isZero, atZero, elsewhere})));
}
void reduceSumOfSizesRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    b.give(inputOf(e, 0), b.mul(spreadGradient(b, e, kept), b.op("Sign", {inputOf(e, 0)})));
}
/// y = ln Σ x: 1 / Σ x, not exp(−y), which is NaN below 0 also where the gradient is 0.
void reduceLogSumRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept);
    b.give(x, b.div(spread, b.op("ReduceSum", {x, axesOf(b, e)}, {{"keepdims", std::int64_t{1}}})));
}
/// y = ln Σ exp x: exp(x − y).
void reduceLogSumExpRule(GradientBuilder& b, const Expr& e) {
    NodeId kept;
    const NodeId x = inputOf(e, 0), spread = spreadGradient(b, e, kept);
    b.give(x, b.mul(spread, b.op("Exp", {b.sub(x, kept)})));
}

/// y·(g − Σ g·y), and g − exp(y)·Σ g of the logarithm. Before version 13 all axes from the given one on are one.
void softmaxOn(GradientBuilder& b, const Expr& e, bool isLog) {
    const NodeId g = gradientOf(b, e);
    const std::int64_t axis = e.attributes.getInt("axis", e.op.version >= 13 ? -1 : 1);
    const auto rank = b.rankOf(inputOf(e, 0));
    const bool isFlat = e.op.version < 13 && axis != -1 && (!rank || axis != static_cast<std::int64_t>(*rank) - 1);
    const auto flat = [&](NodeId x) { return isFlat ? b.op("Flatten", {x}, {{"axis", axis}}) : x; };
    const auto sum = [&](NodeId x) { return b.reduced("ReduceSum", x, {isFlat ? 1 : axis}); };
    const NodeId flatG = flat(g), y = flat(e.outputs.front());
    const NodeId dx =
        isLog ? b.sub(flatG, b.mul(b.op("Exp", {y}), sum(flatG))) : b.mul(y, b.sub(flatG, sum(b.mul(flatG, y))));
    b.give(inputOf(e, 0), isFlat ? b.reshapedTo(dx, inputOf(e, 0)) : dx);
}
void softmaxRule(GradientBuilder& b, const Expr& e) { softmaxOn(b, e, false); }
void logSoftmaxRule(GradientBuilder& b, const Expr& e) { softmaxOn(b, e, true); }

/// g times the cofactors.
void determinantRule(GradientBuilder& b, const Expr& e) {
    b.give(inputOf(e, 0), b.prim("grad_det", {gradientOf(b, e), inputOf(e, 0)}, {}, 1).front());
}

}  // namespace

void addReductionGradients(GradientRules& rules) {
    rules.insert({{"Det", determinantRule},
                  {"LogSoftmax", logSoftmaxRule},
                  {"ReduceL1", reduceSumOfSizesRule},
                  {"ReduceL2", reduceLengthRule},
                  {"ReduceLogSum", reduceLogSumRule},
                  {"ReduceLogSumExp", reduceLogSumExpRule},
                  {"ReduceMax", reduceExtremeRule},
                  {"ReduceMean", reduceMeanRule},
                  {"ReduceMin", reduceExtremeRule},
                  {"ReduceProd", reduceProductRule},
                  {"ReduceSum", reduceSumRule},
                  {"ReduceSumSquare", reduceSquaresRule},
                  {"Softmax", softmaxRule}});
}

}  // namespace sonde::passes
