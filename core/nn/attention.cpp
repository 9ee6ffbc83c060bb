#include "core/nn/attention.h"

#include <cmath>

#include "core/nn/functional.h"

namespace sonde::nn {

using trace::callFunction;
using trace::Function;

namespace {

constexpr const char* kProjections[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};

/// A mask as numbers to be added to the scores.
Var additive(const Var& mask) {
    return callFunction(
        Function{"_canonical_mask", "_canonical_mask", "torch.nn.functional._canonical_mask", true, "prim"}, {mask});
}

Var withZeros(const Var& mask, std::int64_t columns) {
    return cat({mask, newZeros(mask, size(mask)[Var::slice(Var(), -1)] + Var::list({columns}))}, -1);
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embedSize, std::int64_t heads, const AttentionOptions& options)
    : Layer("MultiheadAttention"), m_embedSize(embedSize), m_heads(heads), m_options(options) {
    if (heads < 1 || embedSize < 1 || embedSize % heads != 0) {
        throw trace::TraceError(trace::TraceErrorKind::Assertion, "embed_dim must be divisible by num_heads");
    }
    const std::int64_t keySize = options.keySize > 0 ? options.keySize : embedSize;
    const std::int64_t valueSize = options.valueSize > 0 ? options.valueSize : embedSize;
    if (keySize == embedSize && valueSize == embedSize) {
        m_joinedWeight = addParameter("in_proj_weight", zeros({3 * embedSize, embedSize}));
    } else {
        const std::int64_t sizes[] = {embedSize, keySize, valueSize};
        for (std::size_t i = 0; i < 3; ++i)
            m_weights.push_back(addParameter(kProjections[i], zeros({embedSize, sizes[i]})));
    }
    if (options.bias) m_bias = addParameter("in_proj_bias", zeros({3 * embedSize}));
    if (options.addBiasKv) {
        m_keyBias = addParameter("bias_k", zeros({1, 1, embedSize}));
        m_valueBias = addParameter("bias_v", zeros({1, 1, embedSize}));
    }
    m_out = add("out_proj", std::make_shared<NonDynamicallyQuantizableLinear>(embedSize, embedSize, options.bias));
}

std::vector<ForwardParameter> MultiheadAttention::signature() const {
    using tensor::Value;
    return {{"query", {}, false, true},
            {"key", {}, false, true},
            {"value", {}, false, true},
            {"key_padding_mask", Value()},
            {"need_weights", Value::ofBool(true)},
            {"attn_mask", Value()},
            {"average_attn_weights", Value::ofBool(true)}};
}

Var MultiheadAttention::projected(const Var& x, std::size_t which) const {
    const std::int64_t first = static_cast<std::int64_t>(which) * m_embedSize;
    const Var weight =
        m_joinedWeight.defined() ? narrow(m_joinedWeight.read(), 0, first, m_embedSize) : m_weights[which].read();
    return linear(x, weight, m_bias.defined() ? narrow(m_bias.read(), 0, first, m_embedSize) : Var());
}

/// [L,N,E] or [N,L,E] -> [N heads,L,E / heads]. Nothing asks for the rank, so that it works without N.
Var MultiheadAttention::heads(const Var& x) const {
    const Var apart = unflatten(x, -1, Ints{m_heads, m_embedSize / m_heads});
    return m_options.batchFirst ? flatten(transpose(apart, -3, -2), 0, -3) : transpose(flatten(apart, 1, -2), 0, 1);
}

/// x [N heads,S,d] with one more row per head: from the learned vector, or zeros.
Var MultiheadAttention::withRow(const Var& x, const Attribute& learned) const {
    const std::int64_t width = m_embedSize / m_heads;
    if (!learned.defined()) return cat({x, newZeros(x, Var::list({size(x, 0), 1, width}))}, 1);
    const Var rows = view(learned.read(), {m_heads, 1, width});
    return cat({x, rows.method("repeat", {Var::list({floordiv(size(x, 0), m_heads), 1, 1})}, {})}, 1);
}

/// What is added to scores [N heads,L,S]; None if nothing is hidden. `addedKeys` are never hidden.
Var MultiheadAttention::mask(const Var& keyPaddingMask, const Var& attentionMask, std::int64_t addedKeys) const {
    Var result;
    if (!attentionMask.isNone()) result = additive(attentionMask);
    if (!keyPaddingMask.isNone()) {
        const Var keys = size(keyPaddingMask, -1);
        const Var perHead = expand(view(additive(keyPaddingMask), {-1, 1, 1, keys}), {-1, m_heads, -1, -1});
        const Var flat = reshape(perHead, {-1, 1, keys});
        result = result.isNone() ? flat : result + flat;
    }
    return result.isNone() || addedKeys == 0 ? result : withZeros(result, addedKeys);
}

Var MultiheadAttention::forward(std::span<const Var> in) {
    const bool wantsWeights = in[4].toBool();
    const Var queries = projected(in[0], 0);
    const Var q = heads(queries);
    Var k = heads(projected(in[1], 1));
    Var v = heads(projected(in[2], 2));
    if (m_options.addBiasKv) {
        k = withRow(k, m_keyBias);
        v = withRow(v, m_valueBias);
    }
    if (m_options.addZeroAttn) {
        k = withRow(k, {});
        v = withRow(v, {});
    }
    const Var hidden = mask(in[3], in[5], (m_options.addBiasKv ? 1 : 0) + (m_options.addZeroAttn ? 1 : 0));
    const double dropped = isTraining() ? m_options.dropout : 0;

    Var weights;
    Var y;
    if (wantsWeights) {
        const Var scaled = q * std::sqrt(1.0 / static_cast<double>(m_embedSize / m_heads));
        Var scores = trace::matmul(scaled, transpose(k, -2, -1));
        if (!hidden.isNone()) scores = scores + hidden;
        weights = softmax(scores, -1);
        if (dropped > 0) weights = dropout(weights, dropped, true);
        y = trace::matmul(weights, v);
    } else {
        y = scaledDotProductAttention(q, k, v, hidden, dropped);
    }

    const Var batch = size(in[0])[m_options.batchFirst ? Var::slice(Var(), -2) : Var::slice(1, -1)];
    const Var split = batch + Var::list({m_heads});
    if (m_options.batchFirst) {
        y = flatten(transpose(unflatten(y, 0, split), -3, -2), -2, -1);
    } else {
        y = reshapeTo(transpose(y, 0, 1), size(queries));
    }
    y = linear(y, m_out->weight().read(), m_out->bias().read());
    if (!wantsWeights) return Var::tuple({y, Var()});
    weights = unflatten(weights, 0, split);
    return Var::tuple({y, in[6].toBool() ? mean(weights, {-3}) : weights});
}

std::string MultiheadAttention::extraText() const {
    return "embed_dim=" + std::to_string(m_embedSize) + ", num_heads=" + std::to_string(m_heads) +
           (m_options.batchFirst ? ", batch_first=True" : "");
}

}  // namespace sonde::nn
