#include "core/nn/transformer.h"

#include "core/nn/functional.h"

namespace sonde::nn {

namespace {

ForwardParameter needed(std::string name) { return {std::move(name), {}, false, true}; }
ForwardParameter optional(std::string name) { return {std::move(name), tensor::Value(), false}; }
ForwardParameter flag(std::string name) { return {std::move(name), tensor::Value::ofBool(false), false}; }

/// Of a decoder and of its layers; they differ in whether the targets are causal if nothing is said.
std::vector<ForwardParameter> decoderParameters(ForwardParameter targetIsCausal) {
    return {needed("tgt"),
            needed("memory"),
            optional("tgt_mask"),
            optional("memory_mask"),
            optional("tgt_key_padding_mask"),
            optional("memory_key_padding_mask"),
            std::move(targetIsCausal),
            flag("memory_is_causal")};
}

template <typename L>
std::vector<std::shared_ptr<Module>> copies(std::int64_t count, std::int64_t size, std::int64_t heads,
                                            const TransformerOptions& options) {
    std::vector<std::shared_ptr<Module>> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(std::make_shared<L>(size, heads, options));
    return result;
}

}  // namespace

TransformerLayer::TransformerLayer(std::string className, std::int64_t size, std::int64_t heads,
                                   const TransformerOptions& options, bool decodes)
    : Layer(std::move(className)), m_options(options) {
    if (options.activation != "relu" && options.activation != "gelu") {
        throw trace::TraceError(trace::TraceErrorKind::Runtime,
                                "activation should be relu/gelu, not " + options.activation);
    }
    const AttentionOptions attention{
        .dropout = options.dropout, .bias = options.bias, .batchFirst = options.batchFirst};
    m_selfAttention = add("self_attn", std::make_shared<MultiheadAttention>(size, heads, attention));
    if (decodes) m_crossAttention = add("multihead_attn", std::make_shared<MultiheadAttention>(size, heads, attention));
    m_linear1 = add("linear1", std::make_shared<Linear>(size, options.feedForwardSize, options.bias));
    m_dropout = add("dropout", std::make_shared<Dropout>(options.dropout));
    m_linear2 = add("linear2", std::make_shared<Linear>(options.feedForwardSize, size, options.bias));
    const int parts = decodes ? 3 : 2;
    for (int i = 1; i <= parts; ++i) {
        m_norms.push_back(
            add("norm" + std::to_string(i), std::make_shared<LayerNorm>(Ints{size}, options.eps, true, options.bias)));
    }
    for (int i = 1; i <= parts; ++i)
        m_dropouts.push_back(add("dropout" + std::to_string(i), std::make_shared<Dropout>(options.dropout)));
}

Var TransformerLayer::around(const Var& x, LayerNorm& norm, const std::function<Var(const Var&)>& part) const {
    return m_options.normFirst ? x + part(norm(x)) : norm(x + part(x));
}

Var TransformerLayer::attend(MultiheadAttention& attention, Dropout& dropout, const Var& x, const Var& keys,
                             const Var& mask, const Var& paddingMask) const {
    const Var result = attention.call(
        {x, keys, keys}, {{"attn_mask", mask}, {"key_padding_mask", paddingMask}, {"need_weights", false}});
    return dropout(result[0]);
}

Var TransformerLayer::feedForward(const Var& x) const {
    const Var inner = (*m_linear1)(x);
    const Var y = (*m_linear2)((*m_dropout)(m_options.activation == "relu" ? relu(inner) : gelu(inner)));
    return (*m_dropouts.back())(y);
}

std::vector<ForwardParameter> TransformerEncoderLayer::signature() const {
    return {needed("src"), optional("src_mask"), optional("src_key_padding_mask"), flag("is_causal")};
}

Var TransformerEncoderLayer::forward(std::span<const Var> in) {
    const Var x = around(in[0], *m_norms[0], [&](const Var& part) {
        return attend(*m_selfAttention, *m_dropouts[0], part, part, in[1], in[2]);
    });
    return around(x, *m_norms[1], [&](const Var& part) { return feedForward(part); });
}

std::vector<ForwardParameter> TransformerDecoderLayer::signature() const {
    return decoderParameters(flag("tgt_is_causal"));
}

Var TransformerDecoderLayer::forward(std::span<const Var> in) {
    const Var x = around(in[0], *m_norms[0], [&](const Var& part) {
        return attend(*m_selfAttention, *m_dropouts[0], part, part, in[2], in[4]);
    });
    const Var y = around(x, *m_norms[1], [&](const Var& part) {
        return attend(*m_crossAttention, *m_dropouts[1], part, in[1], in[3], in[5]);
    });
    return around(y, *m_norms[2], [&](const Var& part) { return feedForward(part); });
}

TransformerEncoder::TransformerEncoder(std::vector<std::shared_ptr<Module>> layers, std::shared_ptr<Module> norm)
    : Layer("TransformerEncoder"), m_layers(add("layers", std::make_shared<ModuleList>(std::move(layers)))),
      m_norm(std::move(norm)) {
    if (m_norm) addChild("norm", m_norm);
}

TransformerEncoder::TransformerEncoder(std::int64_t size, std::int64_t heads, std::int64_t layers,
                                       const TransformerOptions& options)
    : TransformerEncoder(copies<TransformerEncoderLayer>(layers, size, heads, options)) {}

std::vector<ForwardParameter> TransformerEncoder::signature() const {
    return {needed("src"), optional("mask"), optional("src_key_padding_mask"), {"is_causal", tensor::Value(), false}};
}

Var TransformerEncoder::forward(std::span<const Var> in) {
    Var x = in[0];
    for (const Child& layer : m_layers->children()) {
        x = layer.module->call({x}, {{"src_mask", in[1]}, {"src_key_padding_mask", in[2]}});
    }
    return m_norm ? (*m_norm)(x) : x;
}

TransformerDecoder::TransformerDecoder(std::vector<std::shared_ptr<Module>> layers, std::shared_ptr<Module> norm)
    : Layer("TransformerDecoder"), m_layers(add("layers", std::make_shared<ModuleList>(std::move(layers)))),
      m_norm(std::move(norm)) {
    if (m_norm) addChild("norm", m_norm);
}

TransformerDecoder::TransformerDecoder(std::int64_t size, std::int64_t heads, std::int64_t layers,
                                       const TransformerOptions& options)
    : TransformerDecoder(copies<TransformerDecoderLayer>(layers, size, heads, options)) {}

std::vector<ForwardParameter> TransformerDecoder::signature() const {
    return decoderParameters(optional("tgt_is_causal"));
}

Var TransformerDecoder::forward(std::span<const Var> in) {
    Var x = in[0];
    for (const Child& layer : m_layers->children()) {
        x = layer.module->call({x, in[1]}, {{"tgt_mask", in[2]},
                                            {"memory_mask", in[3]},
                                            {"tgt_key_padding_mask", in[4]},
                                            {"memory_key_padding_mask", in[5]}});
    }
    return m_norm ? (*m_norm)(x) : x;
}

Transformer::Transformer(std::int64_t size, std::int64_t heads, std::int64_t encoderLayers, std::int64_t decoderLayers,
                         const TransformerOptions& options)
    : Layer("Transformer") {
    const auto norm = [&] { return std::make_shared<LayerNorm>(Ints{size}, options.eps, true, options.bias); };
    m_encoder = add("encoder", std::make_shared<TransformerEncoder>(
                                   copies<TransformerEncoderLayer>(encoderLayers, size, heads, options), norm()));
    m_decoder = add("decoder", std::make_shared<TransformerDecoder>(
                                   copies<TransformerDecoderLayer>(decoderLayers, size, heads, options), norm()));
}

std::vector<ForwardParameter> Transformer::signature() const {
    return {needed("src"),
            needed("tgt"),
            optional("src_mask"),
            optional("tgt_mask"),
            optional("memory_mask"),
            optional("src_key_padding_mask"),
            optional("tgt_key_padding_mask"),
            optional("memory_key_padding_mask"),
            optional("src_is_causal"),
            optional("tgt_is_causal"),
            flag("memory_is_causal")};
}

Var Transformer::forward(std::span<const Var> in) {
    const Var memory = m_encoder->call({in[0]}, {{"mask", in[2]}, {"src_key_padding_mask", in[5]}});
    return m_decoder->call({in[1], memory}, {{"tgt_mask", in[3]},
                                             {"memory_mask", in[4]},
                                             {"tgt_key_padding_mask", in[6]},
                                             {"memory_key_padding_mask", in[7]}});
}

}  // namespace sonde::nn
