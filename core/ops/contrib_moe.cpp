// com.microsoft: mixture of experts.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// One expert's two (or three) layers on the tokens that chose it: activation(x·W1ᵀ + b1)·W2ᵀ + b2.
struct Experts {
    Tensor first, firstBias, second, secondBias, third, thirdBias;  ///< [E, out, in], [E, out]
    std::string activation;
    std::int64_t fusion = 0;
    double alpha = 1, beta = 0, limit = INFINITY;

    static Tensor layer(Eager& e, const Tensor& x, const Tensor& weights, const Tensor& bias, std::int64_t expert) {
        const Tensor w = e.get(weights.selected(0, expert).contiguous());
        if (!bias.defined()) return e("linear", x, w);
        return e("linear", x, w, e.get(bias.selected(0, expert).contiguous()));
    }
    /// G·sigmoid(alpha·G)·(L + beta) for G = min(g, limit) and L held in ±limit.
    Tensor gated(Eager& e, Tensor g, Tensor l) const {
        if (std::isfinite(limit)) {
            g = e("clamp_max", g, limit);
            l = e("clamp", l, -limit, limit);
        }
        const Tensor gate = e("sigmoid", e("mul.Scalar", g, alpha));
        return e("mul.Tensor", e("mul.Tensor", g, gate), e("add.Scalar", l, beta));
    }
    Tensor run(Eager& e, const Tensor& x, std::int64_t expert) const {
        Tensor h = layer(e, x, first, firstBias, expert);
        if (activation == "swiglu") {
            const std::int64_t half = h.dim(1) / 2;
            if (fusion == 0 && !third.defined()) e.fail("swiglu wants fc3 where the layers are not fused");
            const Tensor g = fusion == 0 ? h : fusion == 1 ? h.sliced(1, 0, half, 2) : h.sliced(1, 0, half);
            const Tensor l = fusion == 0 ? layer(e, x, third, thirdBias, expert) : fusion == 1 ? h.sliced(1, 1, half, 2) : h.sliced(1, half, half);
            h = gated(e, e.get(g.contiguous()), e.get(l.contiguous()));
        } else {
            if (activation == "relu") h = e("relu", h);
            else if (activation == "gelu") h = e.onnx("Gelu", {Value(h)}, {{"approximate", std::string("tanh")}});
            else if (activation == "silu") h = e("silu", h);
            else if (activation != "identity") e.fail("activation '" + activation + "' is not known");
            if (third.defined()) h = e("mul.Tensor", h, layer(e, x, third, thirdBias, expert));
        }
        return layer(e, h, second, secondBias, expert);
    }
};

/// The k largest of a row of router weights, the largest first, equal ones in order.
std::vector<std::int64_t> largest(const float* row, std::int64_t experts, std::int64_t k) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [row](std::int64_t a, std::int64_t b) { return row[a] > row[b]; });
    order.resize(static_cast<std::size_t>(k));
    return order;
}

/// input [tokens…, hidden], router [tokens, experts], weights and biases of the layers. Each token's result is the sum of
/// its k best experts' by their share of the softmax over the router's numbers.
EagerResult mixture(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    if (attributes.getInt("use_sparse_mixer", 0) != 0) e.fail("the sparse mixer is not known");
    const auto optional = [&](std::size_t i) { return e.has(i) ? widened(e, i) : Tensor(); };
    Experts experts{widened(e, 2), optional(3), widened(e, 4), optional(5), optional(6), optional(7), attributes.getString("activation_type", "relu"),
                    attributes.getInt("swiglu_fusion", 0), attributes.getFloat("activation_alpha", 1), attributes.getFloat("activation_beta", 0),
                    attributes.getFloat("swiglu_limit", INFINITY)};
    const Tensor input = widened(e, 0);
    if (input.rank() < 2 || experts.first.rank() != 3 || experts.second.rank() != 3) e.fail("wants tokens and one matrix for each expert");
    const std::int64_t hidden = input.dim(input.rank() - 1), tokens = hidden > 0 ? input.numel() / hidden : 0, count = experts.first.dim(0), k = attributes.getInt("k", 1);
    const Tensor router = widened(e, 1);
    if (router.shape() != Shape{tokens, count} || experts.second.dim(0) != count || k < 1 || k > count) e.fail("router " + router.typeText() + " or k " + std::to_string(k) + " do not fit " + std::to_string(count) + " experts");
    for (const Tensor* each : {&experts.firstBias, &experts.secondBias, &experts.third, &experts.thirdBias}) {
        if (each->defined() && (each->rank() < 1 || each->dim(0) != count)) e.fail(each->typeText() + " does not fit " + std::to_string(count) + " experts");
    }
    const Tensor x = e.reshape(input, Shape{tokens, hidden}), shares = e("softmax.int", router, 1);
    std::vector<std::vector<std::pair<std::int64_t, float>>> chosen(static_cast<std::size_t>(count));
    for (std::int64_t t = 0; t < tokens; ++t) {
        const float* row = shares.data<float>() + t * count;
        const std::vector<std::int64_t> best = largest(row, count, k);
        float sum = 0;
        for (std::int64_t expert : best) sum += row[expert];
        const float whole = attributes.getInt("normalize_routing_weights", 0) != 0 && sum > 0 ? sum : 1;
        for (std::int64_t expert : best) chosen[static_cast<std::size_t>(expert)].emplace_back(t, row[expert] / whole);
    }
    Tensor y = e.get(Tensor::zeros(DType::Float32, Shape{tokens, hidden}));
    for (std::int64_t expert = 0; expert < count; ++expert) {
        const auto& mine = chosen[static_cast<std::size_t>(expert)];
        if (mine.empty()) continue;
        Tensor rows = e.get(Tensor::allocate(DType::Float32, Shape{static_cast<std::int64_t>(mine.size()), hidden}));
        for (std::size_t i = 0; i < mine.size(); ++i) std::copy_n(x.data<float>() + mine[i].first * hidden, hidden, rows.mutableData<float>() + static_cast<std::int64_t>(i) * hidden);
        const Tensor out = experts.run(e, rows, expert);
        if (out.dim(1) != hidden) e.fail("the second layer gives " + std::to_string(out.dim(1)) + " numbers instead of " + std::to_string(hidden));
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const float* from = out.data<float>() + static_cast<std::int64_t>(i) * hidden;
            float* to = y.mutableData<float>() + mine[i].first * hidden;
            for (std::int64_t j = 0; j < hidden; ++j) to[j] += mine[i].second * from[j];
        }
    }
    return e.as(e.reshape(y, input.shape()), e.at(0).dtype());
}

}  // namespace

void define_contrib_moe(Registry& registry) {
    registry.add(contribRow("MoE", "each token by the k experts that a router chose for it", Category::Layer).in("input", kContribFloats, "T").in("router_probs", kContribFloats, "T")
                     .in("fc1_experts_weights", kContribFloats, "T").optionalIn("fc1_experts_bias", kContribFloats, "T").in("fc2_experts_weights", kContribFloats, "T")
                     .optionalIn("fc2_experts_bias", kContribFloats, "T").optionalIn("fc3_experts_weights", kContribFloats, "T").optionalIn("fc3_experts_bias", kContribFloats, "T")
                     .out("output").attrFloat("activation_alpha", 1).attrFloat("activation_beta", 0).attrString("activation_type", "relu").attrInt("k", 1)
                     .attrInt("normalize_routing_weights", 0).attrInt("swiglu_fusion", 0).attr("swiglu_limit", AttributeKind::Float).attrInt("use_sparse_mixer", 0)
                     .runs(eager(mixture), inferSame));
}

}  // namespace sonde::ops
