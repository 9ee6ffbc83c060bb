#pragma once

#include "core/nn/linear.h"

namespace sonde::nn {

/// In the order of torch's arguments after embed_dim and num_heads.
struct AttentionOptions {
    double dropout = 0;  ///< of the weights, while training
    bool bias = true;
    bool addBiasKv = false;      ///< a learned key and value after those given
    bool addZeroAttn = false;    ///< a key and value of zeros after those given
    std::int64_t keySize = 0;    ///< kdim, 0: embed_dim
    std::int64_t valueSize = 0;  ///< vdim, 0: embed_dim
    bool batchFirst = false;
};

/// The projection after an attention: a Linear whose parameters the attention uses itself.
struct NonDynamicallyQuantizableLinear : Linear {
    NonDynamicallyQuantizableLinear(std::int64_t inFeatures, std::int64_t outFeatures, bool bias = true)
        : Linear("NonDynamicallyQuantizableLinear", inFeatures, outFeatures, bias) {}
};

/// Attention with several heads (Vaswani et al. 2017, arXiv:1706.03762). With d = E / heads, for each head
///   w = softmax(q k^T / sqrt(d) + mask),  y = w v;  the heads' y side by side go through out_proj.
/// q, k, v are projections of query, key and value.
///   query [L,N,E], key [S,N,kdim], value [S,N,vdim]; batchFirst: [N,L,E] …; without N for a single sequence.
///   key_padding_mask [N,S] (or [S]), attn_mask [L,S] or [N heads,L,S]: true means hidden, numbers are added.
///   Result: (y like query, weights [N,L,S], averaged over the heads; [N,heads,L,S] if not average_attn_weights;
///   None if not need_weights).
/// Parameters: in_proj_weight [3 E,E] (q_proj_weight [E,E], k_proj_weight [E,kdim], v_proj_weight [E,vdim] if the sizes
/// differ), in_proj_bias [3 E], bias_k and bias_v [1,1,E], out_proj.weight [E,E], out_proj.bias [E].
class MultiheadAttention : public Layer {
  public:
    MultiheadAttention(std::int64_t embedSize, std::int64_t heads, const AttentionOptions& options = {});
    std::vector<ForwardParameter> signature() const override;
    bool makesTensor() const override { return false; }
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Var projected(const Var& x, std::size_t which) const;
    Var heads(const Var& x) const;
    Var withRow(const Var& x, const Attribute& learned) const;
    Var mask(const Var& keyPaddingMask, const Var& attentionMask, std::int64_t addedKeys) const;

    std::int64_t m_embedSize;
    std::int64_t m_heads;
    AttentionOptions m_options;
    Attribute m_joinedWeight;
    std::vector<Attribute> m_weights;  ///< of query, key, value where they are apart
    Attribute m_bias;
    Attribute m_keyBias;
    Attribute m_valueBias;
    std::shared_ptr<NonDynamicallyQuantizableLinear> m_out;
};

}  // namespace sonde::nn
