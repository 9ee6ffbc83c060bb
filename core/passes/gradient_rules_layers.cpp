// Derivatives of normalisations: by formula where they are used most, else by what they are made of.

#include <algorithm>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using Axes = std::vector<std::int64_t>;

/// Over axes that stay with size 1.
struct Moments {
    NodeId mean, variance, deviation;  ///< sqrt(var + ε)
    NodeId normal;                     ///< (x − mean) / deviation
};
Moments momentsOf(GradientBuilder& b, NodeId x, const Axes& axes, NodeId epsilon) {
    Moments made;
    made.mean = b.reduced("ReduceMean", x, axes);
    const NodeId centred = b.sub(x, made.mean);
    made.variance = b.reduced("ReduceMean", b.mul(centred, centred), axes);
    made.deviation = b.op("Sqrt", {b.add(made.variance, epsilon)});
    made.normal = b.div(centred, made.deviation);
    return made;
}
NodeId normalised(GradientBuilder& b, NodeId x, const Axes& axes, NodeId epsilon) {
    return momentsOf(b, x, axes, epsilon).normal;
}
NodeId epsilonOf(GradientBuilder& b, const Expr& e, NodeId x) {
    return b.number(e.attributes.getFloat("epsilon", 1e-5), x);
}
/// Whether the gradient reaches an output beside the first one.
bool reachesOthers(const GradientBuilder& b, const Expr& e) {
    return std::any_of(e.outputs.begin() + 1, e.outputs.end(),
                       [&](NodeId output) { return b.gradientOf(output).valid(); });
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

/// Of a batch: the statistics are the batch's, and the running ones go there by 1 − momentum.
void trainedBatchNorm(GradientBuilder& b, const Expr& e, std::size_t rank, const Axes& axes) {
    const NodeId x = inputOf(e, 0);
    b.through(e, [&]() -> std::vector<NodeId> {
        const Moments moments = momentsOf(b, x, axes, epsilonOf(b, e, x));
        const auto channels = [&](std::size_t input) { return b.castLike(perChannel(b, inputOf(e, input), rank), x); };
        const double momentum = e.attributes.getFloat("momentum", 0.9);
        const auto running = [&](std::size_t input, NodeId batch) {
            const NodeId before = inputOf(e, input), now = b.castLike(b.reshapedTo(batch, before), before);
            return b.add(b.mul(before, b.number(momentum, before)), b.mul(now, b.number(1 - momentum, before)));
        };
        std::vector<NodeId> outputs{b.add(b.mul(moments.normal, channels(1)), channels(2))};
        if (reachesOthers(b, e)) outputs.push_back(running(3, moments.mean));
        if (reachesOthers(b, e)) outputs.push_back(running(4, moments.variance));
        return outputs;
    });
}

/// y = scale·(x − mean)/sqrt(var + ε) + bias; in inference mean and var are constants.
void batchNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), g = gradientOf(b, e);
    const auto rank = b.rankOf(x);
    if (!rank || *rank < 2) return b.fail("the rank of the input of BatchNormalization is unknown");
    Axes axes{0};
    for (std::size_t i = 2; i < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (e.attributes.getInt("training_mode", 0) != 0) return trainedBatchNorm(b, e, *rank, axes);
    if (!g.valid()) return b.fail("only the first output of BatchNormalization has a derivative in inference");
    const auto channels = [&](std::size_t input) { return perChannel(b, inputOf(e, input), *rank); };
    const NodeId deviation = b.op("Sqrt", {b.add(channels(4), epsilonOf(b, e, x))});
    const NodeId normal = b.div(b.sub(x, channels(3)), deviation);
    b.give(x, b.mul(g, b.div(channels(1), deviation)));
    b.give(inputOf(e, 1), b.reshapedTo(b.reduced("ReduceSum", b.mul(g, normal), axes), inputOf(e, 1)));
    b.give(inputOf(e, 2), b.reshapedTo(b.reduced("ReduceSum", g, axes), inputOf(e, 2)));
}

/// n = (x − mean)/deviation, y = scale·n + bias; with h = g·scale: dx = (h − mean(h) − n·mean(h·n)) / deviation.
/// Mean and 1/deviation may be results too.
void layerNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), scale = inputOf(e, 1), bias = inputOf(e, 2), g = gradientOf(b, e);
    const auto rank = b.rankOf(x);
    if (!rank) return b.fail("the rank of the input of LayerNormalization is unknown");
    std::int64_t axis = e.attributes.getInt("axis", -1);
    if (axis < 0) axis += static_cast<std::int64_t>(*rank);
    const Axes axes = axesFrom(static_cast<std::size_t>(axis), *rank);
    if (reachesOthers(b, e)) {
        return b.through(e, [&]() -> std::vector<NodeId> {
            const Moments moments = momentsOf(b, x, axes, epsilonOf(b, e, x));
            const NodeId scaled = b.mul(moments.normal, scale), inverse = b.op("Reciprocal", {moments.deviation});
            std::vector<NodeId> outputs{bias.valid() ? b.add(scaled, bias) : scaled, moments.mean, inverse};
            // stash_type: they are of another dtype.
            for (std::size_t i = 1; i < e.outputs.size(); ++i)
                outputs[i] = b.castLike(outputs[i], b.gradientOf(e.outputs[i]));
            return outputs;
        });
    }
    const auto mean = [&](NodeId of) { return b.reduced("ReduceMean", of, axes); };
    const Moments moments = momentsOf(b, x, axes, epsilonOf(b, e, x));
    const NodeId normal = moments.normal, h = b.mul(g, scale);
    b.give(x, b.div(b.sub(b.sub(h, mean(h)), b.mul(normal, mean(b.mul(h, normal)))), moments.deviation));
    b.giveBroadcast(e, scale, b.mul(g, normal));
    if (bias.valid()) b.giveBroadcast(e, bias, g);
}

void instanceNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const auto rank = b.rankOf(x);
    if (!rank || *rank < 2) return b.fail("the rank of the input of InstanceNormalization is unknown");
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId normal = normalised(b, x, axesFrom(2, *rank), epsilonOf(b, e, x));
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
        const NodeId normal = normalised(b, grouped, {2}, epsilonOf(b, e, x));
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
        const NodeId root = b.op("Sqrt", {b.add(square, epsilonOf(b, e, x))});
        return {b.mul(b.div(x, root), inputOf(e, 1))};
    });
}

/// A normalisation of input + skip + bias by rows, which is the last result too. `mean`: that is taken off.
void skipNormRule(GradientBuilder& b, const Expr& e, bool mean) {
    const NodeId x = inputOf(e, 0), gamma = inputOf(e, 2), beta = mean ? inputOf(e, 3) : NodeId(),
                 bias = inputOf(e, mean ? 4 : 3);
    b.through(e, [&]() -> std::vector<NodeId> {
        NodeId sum = b.add(x, inputOf(e, 1));
        if (bias.valid()) sum = b.add(sum, bias);
        const NodeId epsilon = b.number(e.attributes.getFloat("epsilon", 1e-12), x);
        if (mean) {
            const Moments moments = momentsOf(b, sum, {-1}, epsilon);
            const NodeId scaled = b.mul(moments.normal, gamma);
            return {beta.valid() ? b.add(scaled, beta) : scaled, moments.mean, b.op("Reciprocal", {moments.deviation}),
                    sum};
        }
        const NodeId square = b.reduced("ReduceMean", b.mul(sum, sum), {-1}),
                     root = b.op("Sqrt", {b.add(square, epsilon)});
        return {b.mul(b.div(sum, root), gamma), square, b.op("Reciprocal", {root}), sum};
    });
}
void skipLayerNormRule(GradientBuilder& b, const Expr& e) { skipNormRule(b, e, true); }
void skipRmsNormRule(GradientBuilder& b, const Expr& e) { skipNormRule(b, e, false); }

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
    rules.insert({{"BatchNormalization", batchNormRule},
                  {"GroupNormalization", groupNormRule},
                  {"InstanceNormalization", instanceNormRule},
                  {"LayerNormalization", layerNormRule},
                  {"LRN", lrnRule},
                  {"LpNormalization", lpNormRule},
                  {"MeanVarianceNormalization", meanVarianceRule},
                  {"RMSNormalization", rmsNormRule},
                  {"SimplifiedLayerNormalization", rmsNormRule},
                  {"com.microsoft::SkipLayerNormalization", skipLayerNormRule},
                  {"com.microsoft::SkipSimplifiedLayerNormalization", skipRmsNormRule}});
}

}  // namespace sonde::passes
