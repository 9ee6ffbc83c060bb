#include "core/nn/embedding.h"

#include "core/nn/functional.h"

namespace sonde::nn {

namespace {

std::string tableText(const Attribute& weight) {
    const tensor::Shape& shape = weight.value().shape();
    return std::to_string(shape[0]) + ", " + std::to_string(shape[1]);
}

}  // namespace

Embedding::Embedding(std::int64_t count, std::int64_t dim, std::int64_t paddingIndex)
    : Layer("Embedding"), m_paddingIndex(paddingIndex), m_weight(addParameter("weight", zeros({count, dim}))) {}

Var Embedding::forward(std::span<const Var> in) { return embedding(in[0], m_weight.read(), m_paddingIndex); }

std::string Embedding::extraText() const {
    return tableText(m_weight) + (m_paddingIndex < 0 ? "" : ", padding_idx=" + std::to_string(m_paddingIndex));
}

EmbeddingBag::EmbeddingBag(std::int64_t count, std::int64_t dim, EmbeddingBagOptions options)
    : Layer("EmbeddingBag"), m_options(std::move(options)), m_weight(addParameter("weight", zeros({count, dim}))) {
    if (m_options.mode != "sum" && m_options.mode != "mean" && m_options.mode != "max") {
        throw trace::TraceError(trace::TraceErrorKind::Value, "mode has to be one of sum or mean or max");
    }
}

std::vector<ForwardParameter> EmbeddingBag::signature() const {
    return {{"input", {}, false, true}, {"offsets", tensor::Value()}, {"per_sample_weights", tensor::Value()}};
}

Var EmbeddingBag::forward(std::span<const Var> in) {
    Var ids = in[0];
    Var offsets = in[1];
    Var scales = in[2];
    if (offsets.isNone()) {
        // Each row is a bag: row i begins at i L.
        const Var length = size(ids, 1);
        offsets = arange(0, size(ids, 0) * length, length);
        ids = reshape(ids, {-1});
        if (!scales.isNone()) scales = reshape(scales, {-1});
    }
    return embeddingBag(ids, m_weight.read(), offsets, m_options.mode, scales,
                        m_options.includeLastOffset && !in[1].isNone(), m_options.paddingIndex);
}

std::string EmbeddingBag::extraText() const { return tableText(m_weight) + ", mode='" + m_options.mode + "'"; }

}  // namespace sonde::nn
