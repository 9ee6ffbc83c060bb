// Attention and transformer layers that torch runs as one operator.

#include <cmath>
#include <limits>

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

using Results = std::vector<Argument>;
using C = LoweredCall;

NodeId affine(C& c, NodeId x, NodeId w, NodeId b) {
    return c.make("Add", {c.make("MatMul", {x, c.permuted(w, {1, 0})}), b});
}

/// What attention needs beside x: heads, weights of the joint projection and of the last one, a mask and its kind.
struct Heads {
    std::int64_t heads = 1;
    NodeId inWeight, inBias, outWeight, outBias, mask;
    std::int64_t maskType = -1;
};

/// Zero where a mask is false, -inf where it is true, in a shape that scores [N,heads,L,S] take.
NodeId hidden(C& c, const Heads& h, DType dtype) {
    const Shape shape = c.shapeOf(h.mask);
    const std::int64_t type = h.maskType >= 0 ? h.maskType : shape.rank() != 2 ? 2 : shape[0] != shape[1] ? 1 : 0;
    NodeId mask = c.cast(h.mask, DType::Bool);
    if (type == 1 && shape.rank() == 2) mask = c.reshaped(mask, Shape{shape[0], 1, 1, shape[1]});
    return c.make("Where", {mask, c.scalar(-std::numeric_limits<double>::infinity(), dtype), c.scalar(0, dtype)});
}

/// The result and the weights of self-attention or of attention with one joint projection.
std::pair<NodeId, NodeId> attended(C& c, const std::vector<NodeId>& inputs, const Heads& h) {
    const Shape shape = c.shapeOf(inputs[0]);
    if (shape.rank() != 3 || h.heads < 1 || shape[2] % h.heads != 0) C::fail("heads that do not divide the width");
    const std::int64_t width = shape[2], each = width / h.heads;
    const DType dtype = c.dtypeOf(inputs[0]);
    std::vector<NodeId> parts;
    for (std::int64_t i = 0; i < 3; ++i) {
        const auto cut = [&](NodeId x) {
            return c.make("Slice",
                          {x, c.integersNode({i * width}), c.integersNode({(i + 1) * width}), c.integersNode({0})});
        };
        const NodeId y = affine(c, inputs[static_cast<std::size_t>(i)], cut(h.inWeight), cut(h.inBias));
        const Shape own = c.shapeOf(y);
        parts.push_back(
            c.permuted(c.reshaped(y, Shape{own[0], own[1], h.heads, each}),
                       i == 1 ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3}));
    }
    NodeId scores = c.make(
        "Mul", {c.make("MatMul", {parts[0], parts[1]}), c.scalar(1 / std::sqrt(static_cast<double>(each)), dtype)});
    if (h.mask.valid()) scores = c.make("Add", {scores, hidden(c, h, dtype)});
    const NodeId weights = c.make("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const NodeId joined = c.reshaped(c.permuted(c.make("MatMul", {weights, parts[2]}), {0, 2, 1, 3}), shape);
    return {affine(c, joined, h.outWeight, h.outBias), weights};
}

/// (query, key, value, width, heads, qkv weight, qkv bias, weight, bias, mask, need_weights, average_attn_weights,
/// mask_type)
Results multiHead(C& c) {
    Heads h{c.integer(4),
            c.tensor(5),
            c.tensor(6),
            c.tensor(7),
            c.tensor(8),
            c.has(9) ? c.tensor(9) : NodeId{},
            c.has(12) ? c.integer(12) : -1};
    const auto [y, weights] = attended(c, {c.tensor(0), c.tensor(1), c.tensor(2)}, h);
    Results results = one(y);
    if (c.expr().outputs.size() < 2) return results;
    if (!c.flag(10) || c.results().size() < 2 || !c.results()[1].isTensor()) results.push_back(Argument::of(Value()));
    else
        results.push_back(Argument::of(
            c.flag(11) ? c.make("ReduceMean", {weights, c.integersNode({1})}, {{"keepdims", std::int64_t{0}}})
                       : weights));
    return results;
}

NodeId gelu(C& c, NodeId x) {
    const auto number = [&](double value) { return c.scalar(value, c.dtypeOf(x)); };
    const NodeId inner = c.make("Erf", {c.make("Mul", {x, number(std::sqrt(0.5))})});
    return c.make("Mul", {c.make("Mul", {x, c.make("Add", {inner, number(1)})}), number(0.5)});
}

/// A layer of a transformer's encoder: attention and two linear layers, each with a sum and a norm.
Results encoderLayer(C& c) {
    const NodeId x = c.tensor(0);
    const Heads h{c.integer(2),
                  c.tensor(3),
                  c.tensor(4),
                  c.tensor(5),
                  c.tensor(6),
                  c.has(18) ? c.tensor(18) : NodeId{},
                  c.has(19) ? c.integer(19) : -1};
    const auto normed = [&](NodeId y, std::size_t at) {
        return c.make("LayerNormalization", {y, c.tensor(at), c.tensor(at + 1)},
                      {{"axis", std::int64_t{-1}}, {"epsilon", c.number(9)}});
    };
    const auto fed = [&](NodeId y) {
        const NodeId wide = affine(c, y, c.tensor(14), c.tensor(15));
        return affine(c, c.flag(7) ? gelu(c, wide) : c.make("Relu", {wide}), c.tensor(16), c.tensor(17));
    };
    const auto self = [&](NodeId y) { return attended(c, {y, y, y}, h).first; };
    if (c.flag(8)) {
        const NodeId y = c.make("Add", {x, self(normed(x, 10))});
        return one(c.make("Add", {y, fed(normed(y, 12))}));
    }
    const NodeId y = normed(c.make("Add", {x, self(x)}), 10);
    return one(normed(c.make("Add", {y, fed(y)}), 12));
}

/// A boolean mask as numbers to add.
Results canonicalMask(C& c) {
    if (c.dtypeOf(c.tensor(0)) != DType::Bool) return one(c.cast(c.tensor(0), c.result().dtype()));
    return one(c.make("Where", {c.tensor(0), c.like(-std::numeric_limits<double>::infinity()), c.like(0)}));
}

}  // namespace

void addAttentionRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    put("_native_multi_head_attention", multiHead);
    put("_transformer_encoder_layer_fwd", encoderLayer);
    put("_canonical_mask", canonicalMask);
    for (std::string_view name : {"lstm", "gru", "rnn_tanh", "rnn_relu"}) put(name, lowerRecurrent);
}

}  // namespace sonde::exporting
