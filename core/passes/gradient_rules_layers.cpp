// Derivatives of normalisations.

#include <algorithm>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using Axes = std::vector<std::int64_t>;

// ---- normalisations, by what they are made of

/// (x − mean)/sqrt(var + ε) over axes that stay with size 1.
NodeId normalised(GradientBuilder& b, NodeId x, const Axes& axes, NodeId epsilon) {
    const NodeId centred = b.sub(x, b.reduced("ReduceMean", x, axes));
    const NodeId variance = b.reduced("ReduceMean", b.mul(centred, centred), axes);
    return b.div(centred, b.op("Sqrt", {b.add(variance, epsilon)}));
}

Axes axesFrom(std::size_t first, std::size_t rank) {
    Axes axes(rank - std::min(first, rank));
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
    return axes;
}

/// A value for each channel as [1,C,1…].
NodeId perChannel(GradientBuilder& b, NodeId values, std::size_t rank) {
    Axes shape(rank - 1, 1);
    shape.front() = -1;
    return b.op("Reshape", {values, b.integers(shape)});
}

void instanceNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const auto rank = b.rankOf(x);
    if (!rank || *rank < 2) return b.fail("the rank of the input of InstanceNormalization is unknown");
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId normal = normalised(b, x, axesFrom(2, *rank), b.number(e.attributes.getFloat("epsilon", 1e-5), x));
        return {b.add(b.mul(normal, perChannel(b, inputOf(e, 1), *rank)), perChannel(b, inputOf(e, 2), *rank))};
    });
}

/// scale and bias for each channel, before version 21 for each group.
void groupNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), scale = inputOf(e, 1), bias = inputOf(e, 2);
    const auto rank = b.rankOf(x);
    if (!rank || *rank < 2) return b.fail("the rank of the input of GroupNormalization is unknown");
    const std::int64_t groups = e.attributes.getInt("num_groups", 1);
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId grouped = b.op("Reshape", {x, b.integers({0, groups, -1})});
        const NodeId normal = normalised(b, grouped, {2}, b.number(e.attributes.getFloat("epsilon", 1e-5), x));
        if (e.op.version < 21) {
            const NodeId scaled = b.add(b.mul(normal, perChannel(b, scale, 3)), perChannel(b, bias, 3));
            return {b.op("Reshape", {scaled, b.shapeOf(x)})};
        }
        const NodeId whole = b.op("Reshape", {normal, b.shapeOf(x)});
        return {b.add(b.mul(whole, perChannel(b, scale, *rank)), perChannel(b, bias, *rank))};
    });
}

/// x / sqrt(mean x² + ε) · scale.
void rmsNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const auto rank = b.rankOf(x);
    if (!rank) return b.fail("the rank of the input of RMSNormalization is unknown");
    std::int64_t axis = e.attributes.getInt("axis", -1);
    if (axis < 0) axis += static_cast<std::int64_t>(*rank);
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId square = b.reduced("ReduceMean", b.mul(x, x), axesFrom(static_cast<std::size_t>(axis), *rank));
        const NodeId root = b.op("Sqrt", {b.add(square, b.number(e.attributes.getFloat("epsilon", 1e-5), x))});
        return {b.mul(b.div(x, root), inputOf(e, 1))};
    });
}

/// x / |x| along one axis.
void lpNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const char* norm = e.attributes.getInt("p", 2) == 1 ? "ReduceL1" : "ReduceL2";
    b.through(
        e, [&]() -> std::vector<NodeId> { return {b.div(x, b.reduced(norm, x, {e.attributes.getInt("axis", -1)}))}; });
}

void meanVarianceRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> {
        return {normalised(b, inputOf(e, 0), e.attributes.getInts("axes", {0, 2, 3}), b.number(1e-9, inputOf(e, 0)))};
    });
}

/// x / (bias + alpha · mean of x² over the channels in reach)^beta, where the mean counts channels beyond the ends.
void lrnRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const std::int64_t size = e.attributes.getInt("size", 1);
    const auto attribute = [&](const char* name, double fallback) {
        return b.number(e.attributes.getFloat(name, fallback), x);
    };
    b.through(e, [&]() -> std::vector<NodeId> {
        // [N,C,D…] as [N,1,C,D·…]: one column for each place.
        const NodeId columns = b.op("Reshape", {b.mul(x, x), b.integers({0, 0, -1})});
        const NodeId rows = b.unsqueezed(columns, 1);
        const NodeId mean = b.op("AveragePool", {rows},
                                 {{"kernel_shape", Axes{size, 1}},
                                  {"pads", Axes{(size - 1) / 2, 0, size / 2, 0}},
                                  {"count_include_pad", std::int64_t{1}}});
        const NodeId base =
            b.add(b.mul(b.op("Reshape", {mean, b.shapeOf(x)}), attribute("alpha", 1e-4)), attribute("bias", 1));
        return {b.div(x, b.op("Pow", {base, attribute("beta", 0.75)}))};
    });
}

}  // namespace

void addLayerGradients(GradientRules& rules) {
    rules.insert({{"GroupNormalization", groupNormRule},
                  {"InstanceNormalization", instanceNormRule},
                  {"LRN", lrnRule},
                  {"LpNormalization", lpNormRule},
                  {"MeanVarianceNormalization", meanVarianceRule},
                  {"RMSNormalization", rmsNormRule}});
}

}  // namespace sonde::passes
