#pragma once

#include <functional>

#include "core/ops/dependence/dependence.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

/// What com.microsoft's attention operators add to the scores.
struct AttentionMask {
    /// int32, 0 hides: [B, keys], [B, queries, keys], [B, 1, most, most] of which the rows behind `past` count; or how
    /// many keys of each batch count: [B], or [2·B] with the first key that counts behind, or [3·B + 2].
    Tensor mask;
    double hidden = -10000;       ///< added where the mask hides
    bool unidirectional = false;  ///< a token sees only itself and what was before
    Tensor bias;                  ///< float32 [B or 1, H or 1, queries, keys]
    std::int64_t past = 0;

    /// Error: a shape that does not fit.
    void check(const Eager& e, std::int64_t batches, std::int64_t heads, std::int64_t queries, std::int64_t keys) const;
    void apply(std::int64_t b, std::int64_t h, std::int64_t query, float* row, std::int64_t keys,
               std::int64_t batches) const;
};

struct HeadAttention {
    Tensor q, k, v;                 ///< float32 [B, H, S, d], [B, Hk, L, d], [B, Hk, L, dv]
    double scale = 0, softcap = 0;  ///< scale 0: 1/√d
    std::function<void(std::int64_t b, std::int64_t h, std::int64_t query, float* row)> bias = {};
    int watchedStep = -1;  ///< see kernels::AttentionCall::watch
};

/// [B, S, H·dv], and the scores [B, H, S, L] after the watched step (undefined without).
std::pair<Tensor, Tensor> attendHeads(Eager& e, const HeadAttention& attention);

/// x [B, S, H·d] (+ bias [H·d] from `offset` on, if defined) as float32 [B, H, S, d].
Tensor splitHeads(Eager& e, const Tensor& x, std::int64_t heads, const Tensor& bias, std::int64_t offset);
/// The number of heads from the attribute, at least 1.
std::int64_t headCount(Eager& e, std::string_view attribute = "num_heads");

/// query, key, value, bias … past_key, past_value -> output, present_key, present_value, qk: the rule of its elements.
base::Result<Dependence> termsByHeads(const ElementCall& call);
/// The same for grouped queries.
base::Result<Dependence> termsByGroups(const ElementCall& call);

}  // namespace sonde::ops
