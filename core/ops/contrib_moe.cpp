// com.microsoft: mixture of experts.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// One layer of all experts: weights [E, out, in] and bias [E, out]. With `bits`, weights are packed along the last
/// axis and mean (number − zero point)·scale, the scales [E, out] or [E, out, in / block], zero points packed the same
/// way along their last axis (2^(bits−1) where there are none).
struct ExpertLayer {
    Tensor weights, bias, scales, zeros;
    std::int64_t bits = 0, block = 0;

    bool defined() const { return weights.defined(); }
    void check(const Eager& e, std::int64_t experts) const {
        for (const Tensor* each : {&weights, &bias, &scales, &zeros}) {
            if (each->defined() && (each->rank() < 1 || each->dim(0) != experts))
                e.fail(each->typeText() + " does not match " + std::to_string(experts) + " experts");
        }
        if (weights.defined() && weights.rank() != 3)
            e.fail("expects one matrix for each expert, but found " + weights.typeText());
        if (bits == 0 || !weights.defined()) return;
        const std::int64_t rows = weights.dim(1), pack = 8 / bits, columns = weights.dim(2) * pack,
                           blocks = block > 0 ? columns / block : 1;
        const bool fit = scales.defined() && (block == 0 || (columns % block == 0 && blocks > 0)) &&
                         scales.numel() == experts * rows * blocks;
        if (!fit) e.fail("weights " + weights.typeText() + " and their scales do not match");
        const std::int64_t packed = block > 0 ? rows * ((blocks + pack - 1) / pack) : (rows + pack - 1) / pack;
        if (zeros.defined() && zeros.numel() != experts * packed)
            e.fail("zero points " + zeros.typeText() + " do not match " + weights.typeText());
    }
    Tensor matrix(Eager& e, std::int64_t expert) const {
        if (bits == 0) return e.get(weights.selected(0, expert).contiguous());
        const std::int64_t rows = weights.dim(1), pack = 8 / bits, columns = weights.dim(2) * pack,
                           blocks = block > 0 ? columns / block : 1;
        Tensor made = e.get(Tensor::allocate(DType::Float32, Shape{rows, columns}));
        const float* scale = scales.data<float>() + expert * rows * blocks;
        const auto zeroOf = [&](std::int64_t row, std::int64_t b) {
            if (!zeros.defined()) return static_cast<float>(1U << (bits - 1));
            const std::uint8_t* of = zeros.data<std::uint8_t>() + expert * (zeros.numel() / zeros.dim(0));
            return static_cast<float>(block > 0 ? packedNumber(of + row * ((blocks + pack - 1) / pack), b, bits)
                                                : packedNumber(of, row, bits));
        };
        e.context().pool().parallelFor(static_cast<std::size_t>(rows), 16, [&](std::size_t begin, std::size_t end) {
            for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
                const std::uint8_t* from = weights.data<std::uint8_t>() + (expert * rows + row) * weights.dim(2);
                for (std::int64_t i = 0; i < columns; ++i) {
                    const std::int64_t b = block > 0 ? i / block : 0;
                    made.mutableData<float>()[row * columns + i] =
                        (static_cast<float>(packedNumber(from, i, bits)) - zeroOf(row, b)) * scale[row * blocks + b];
                }
            }
        });
        return made;
    }
    Tensor run(Eager& e, const Tensor& x, std::int64_t expert) const {
        const Tensor w = matrix(e, expert);
        if (!bias.defined()) return e("linear", x, w);
        return e("linear", x, w, e.get(bias.selected(0, expert).contiguous()));
    }
};

/// One expert's two (or three) layers on the tokens that chose it: activation(x·W1ᵀ + b1)·W2ᵀ + b2.
struct Experts {
    ExpertLayer first, second, third;
    std::string activation;
    std::int64_t fusion = 0;
    double alpha = 1, beta = 0, limit = INFINITY;

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
        Tensor h = first.run(e, x, expert);
        if (activation == "swiglu") {
            const std::int64_t half = h.dim(1) / 2;
            if (fusion == 0 && !third.defined()) e.fail("swiglu expects fc3 where the layers are not fused");
            const Tensor g = fusion == 0 ? h : fusion == 1 ? h.sliced(1, 0, half, 2) : h.sliced(1, 0, half);
            const Tensor l = fusion == 0   ? third.run(e, x, expert)
                             : fusion == 1 ? h.sliced(1, 1, half, 2)
                                           : h.sliced(1, half, half);
            h = gated(e, e.get(g.contiguous()), e.get(l.contiguous()));
        } else {
            if (activation == "relu") h = e("relu", h);
            else if (activation == "gelu") h = e.onnx("Gelu", {Value(h)}, {{"approximate", std::string("tanh")}});
            else if (activation == "silu") h = e("silu", h);
            else if (activation != "identity") e.fail("activation '" + activation + "' is not supported");
            if (third.defined()) h = e("mul.Tensor", h, third.run(e, x, expert));
        }
        return second.run(e, h, expert);
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

/// input [tokens…, hidden], router [tokens, experts]. Each token's result is the sum of its k best experts' by their
/// share of the softmax over the router's numbers (`amongChosen`: over those of the k experts), or as `weights`
/// [tokens, experts] say.
EagerResult mixture(Eager& e, const Experts& experts, const Tensor& weights, bool amongChosen) {
    const Attributes& attributes = e.context().attributes();
    if (attributes.getInt("use_sparse_mixer", 0) != 0) e.fail("the sparse mixer is not supported");
    const Tensor input = widened(e, "input");
    if (input.rank() < 2 || experts.first.weights.rank() != 3 || experts.second.weights.rank() != 3)
        e.fail("expects tokens and one matrix for each expert");
    const std::int64_t hidden = input.dim(input.rank() - 1), tokens = hidden > 0 ? input.numel() / hidden : 0,
                       count = experts.first.weights.dim(0), k = attributes.getInt("k", 1);
    const Tensor router = widened(e, "router_probs");
    if (router.shape() != Shape{tokens, count} || k < 1 || k > count)
        e.fail("router " + router.typeText() + " or k " + std::to_string(k) + " do not match " + std::to_string(count) +
               " experts");
    if (weights.defined() && weights.shape() != router.shape())
        e.fail("router_weights " + weights.typeText() + " do not match " + router.typeText());
    for (const ExpertLayer* layer : {&experts.first, &experts.second, &experts.third}) layer->check(e, count);
    const Tensor x = e.reshape(input, Shape{tokens, hidden}),
                 shares = weights.defined() ? weights : e("softmax.int", router, 1);
    std::vector<std::vector<std::pair<std::int64_t, float>>> chosen(static_cast<std::size_t>(count));
    for (std::int64_t t = 0; t < tokens; ++t) {
        const float* row = shares.data<float>() + t * count;
        const std::vector<std::int64_t> best = largest(router.data<float>() + t * count, count, k);
        float sum = 0;
        for (std::int64_t expert : best) sum += row[expert];
        const float whole = amongChosen && sum > 0 ? sum : 1;
        for (std::int64_t expert : best) chosen[static_cast<std::size_t>(expert)].emplace_back(t, row[expert] / whole);
    }
    Tensor y = e.get(Tensor::zeros(DType::Float32, Shape{tokens, hidden}));
    for (std::int64_t expert = 0; expert < count; ++expert) {
        const auto& mine = chosen[static_cast<std::size_t>(expert)];
        if (mine.empty()) continue;
        Tensor rows = e.get(Tensor::allocate(DType::Float32, Shape{static_cast<std::int64_t>(mine.size()), hidden}));
        for (std::size_t i = 0; i < mine.size(); ++i)
            std::copy_n(x.data<float>() + mine[i].first * hidden, hidden,
                        rows.mutableData<float>() + static_cast<std::int64_t>(i) * hidden);
        const Tensor out = experts.run(e, rows, expert);
        if (out.dim(1) != hidden)
            e.fail("the second layer returns " + std::to_string(out.dim(1)) + " numbers instead of " +
                   std::to_string(hidden));
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const float* from = out.data<float>() + static_cast<std::int64_t>(i) * hidden;
            float* to = y.mutableData<float>() + mine[i].first * hidden;
            for (std::int64_t j = 0; j < hidden; ++j) to[j] += mine[i].second * from[j];
        }
    }
    return e.as(e.reshape(y, input.shape()), e.tensor("input").dtype());
}

Experts expertsOf(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    Experts experts;
    experts.activation = attributes.getString("activation_type", "relu");
    experts.fusion = attributes.getInt("swiglu_fusion", 0);
    experts.alpha = attributes.getFloat("activation_alpha", 1),
    experts.beta = attributes.getFloat("activation_beta", 0),
    experts.limit = attributes.getFloat("swiglu_limit", INFINITY);
    return experts;
}
Tensor optionalWide(Eager& e, Name input) { return e.has(input) ? widened(e, input) : Tensor(); }

EagerResult plainMixture(Eager& e) {
    Experts experts = expertsOf(e);
    experts.first.weights = widened(e, "fc1_experts_weights"), experts.first.bias = optionalWide(e, "fc1_experts_bias");
    experts.second.weights = widened(e, "fc2_experts_weights"),
    experts.second.bias = optionalWide(e, "fc2_experts_bias");
    experts.third.weights = optionalWide(e, "fc3_experts_weights"),
    experts.third.bias = optionalWide(e, "fc3_experts_bias");
    return mixture(e, experts, {}, e.context().attributes().getInt("normalize_routing_weights", 0) != 0);
}

/// Weights, scales and bias of each layer, zero points of the three, weights of the router.
EagerResult quantizedMixture(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    if (const std::string type = attributes.getString("quant_type", "int"); type != "int")
        e.fail("weights quantised as " + type + " are not supported");
    if (attributes.getInt("weights_prepacked", -1) == 1)
        e.fail("weights in a layout of a graphics card cannot be read");
    const std::int64_t bits = attributes.getInt("expert_weight_bits", 4), block = attributes.getInt("block_size", 0);
    if ((bits != 2 && bits != 4 && bits != 8) || block < 0)
        e.fail("weights of " + std::to_string(bits) + " bits in blocks of " + std::to_string(block) +
               " are not defined");
    Experts experts = expertsOf(e);
    const auto read = [&](ExpertLayer& layer, Name weights, Name scales, Name bias, Name zeros) {
        if (!e.has(weights)) return;
        layer.weights = e.tensor(weights);
        layer.scales = e.has(scales) ? e.as(e.tensor(scales), DType::Float32) : Tensor();
        layer.bias = optionalWide(e, bias);
        layer.zeros = e.has(zeros) ? e.tensor(zeros) : Tensor();
        layer.bits = bits, layer.block = block;
    };
    read(experts.first, "fc1_experts_weights", "fc1_scales", "fc1_experts_bias", "fc1_zero_points");
    read(experts.second, "fc2_experts_weights", "fc2_scales", "fc2_experts_bias", "fc2_zero_points");
    read(experts.third, "fc3_experts_weights", "fc3_scales", "fc3_experts_bias", "fc3_zero_points");
    // ONNX Runtime takes the softmax over the chosen experts only; weights of the router count as they are, if not
    // asked otherwise.
    const Tensor weights = e.has("router_weights") ? e.as(e.tensor("router_weights"), DType::Float32) : Tensor();
    const bool amongChosen = !weights.defined() || attributes.getInt("normalize_routing_weights", 0) != 0;
    return mixture(e, experts, weights, amongChosen);
}

}  // namespace

void define_contrib_moe(Registry& registry) {
    registry.add(contribRow("MoE", "each token by the k experts that a router chose for it", Category::Layer)
                     .in("input", kContribFloats, "T")
                     .in("router_probs", kContribFloats, "T")
                     .in("fc1_experts_weights", kContribFloats, "T")
                     .optionalIn("fc1_experts_bias", kContribFloats, "T")
                     .in("fc2_experts_weights", kContribFloats, "T")
                     .optionalIn("fc2_experts_bias", kContribFloats, "T")
                     .optionalIn("fc3_experts_weights", kContribFloats, "T")
                     .optionalIn("fc3_experts_bias", kContribFloats, "T")
                     .out("output")
                     .attrFloat("activation_alpha", 1)
                     .attrFloat("activation_beta", 0)
                     .attrString("activation_type", "relu")
                     .attrInt("k", 1)
                     .attrInt("normalize_routing_weights", 0)
                     .attrInt("swiglu_fusion", 0)
                     .attr("swiglu_limit", AttributeKind::Float)
                     .attrInt("use_sparse_mixer", 0)
                     .runs(plainMixture, inferSame));
    Row row = contribRow("QMoE", "each token by the k experts that a router chose for it, their weights of few bits",
                         Category::Layer);
    constexpr DTypeSet kPacked = bit(DType::UInt8);
    row.in("input", kContribFloats, "T")
        .in("router_probs", kContribFloats, "T")
        .in("fc1_experts_weights", kPacked)
        .optionalIn("fc1_scales", kContribFloats)
        .optionalIn("fc1_experts_bias", kContribFloats, "T")
        .in("fc2_experts_weights", kPacked)
        .optionalIn("fc2_scales", kContribFloats)
        .optionalIn("fc2_experts_bias", kContribFloats, "T")
        .optionalIn("fc3_experts_weights", kPacked)
        .optionalIn("fc3_scales", kContribFloats)
        .optionalIn("fc3_experts_bias", kContribFloats, "T");
    registry.add(row.optionalIn("fc1_zero_points", kPacked)
                     .optionalIn("fc2_zero_points", kPacked)
                     .optionalIn("fc3_zero_points", kPacked)
                     .optionalIn("router_weights", kContribFloats, "T")
                     .out("output")
                     .attrInt("accuracy_level", 0)
                     .attrFloat("activation_alpha", 1)
                     .attrFloat("activation_beta", 0)
                     .attrString("activation_type", "relu")
                     .attr("block_size", AttributeKind::Int)
                     .attrInt("expert_weight_bits", 4)
                     .attrInt("k", 1)
                     .attrInt("normalize_routing_weights", 0)
                     .attrString("quant_type", "int")
                     .attrInt("swiglu_fusion", 0)
                     .attr("swiglu_limit", AttributeKind::Float)
                     .attrInt("use_sparse_mixer", 0)
                     .attrInt("weights_prepacked", -1)
                     .runs(quantizedMixture, inferSame));
}

}  // namespace sonde::ops
