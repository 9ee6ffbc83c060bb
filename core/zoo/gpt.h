#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// Decoder-only transformers: each token attends to those before it; the output projection is the embedding's table.
/// Token numbers [N,T] (int64) -> logits [N,T,vocabulary].

/// GPT-2 (Radford et al. 2019), 12 layers of width 768, 1024 positions, with the parameter names of its published
/// weights: transformer.wte, transformer.h.0.attn.c_attn, …, lm_head. Settings: layers, heads, dim, vocab, positions.
std::shared_ptr<nn::Module> gpt2(const Settings& settings);
/// Two layers of width 48, 96 tokens, 32 positions. Settings: layers, heads, dim, vocab, positions.
std::shared_ptr<nn::Module> gptMini(const Settings& settings);

}  // namespace sonde::zoo
