#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// BERT encoder (Devlin et al. 2019, arXiv:1810.04805), base size, with the parameter names of its published weights:
/// embeddings.word_embeddings, encoder.layer.0.attention.self.query, …, pooler.dense.
/// input_ids, attention_mask (1 for tokens, 0 for padding) [N,T] int64 -> hidden states [N,T,C], pooled [N,C].
/// Settings: layers, heads, dim, vocab, positions.
std::shared_ptr<nn::Module> bert(const Settings& settings);

}  // namespace sonde::zoo
