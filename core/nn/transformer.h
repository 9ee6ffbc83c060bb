#pragma once

#include <functional>

#include "core/nn/attention.h"
#include "core/nn/containers.h"
#include "core/nn/dropout.h"
#include "core/nn/normalization.h"

namespace sonde::nn {

/// In the order of torch's arguments after d_model and nhead.
struct TransformerOptions {
    std::int64_t feedForwardSize = 2048;
    double dropout = 0.1;
    std::string activation = "relu";  ///< "relu" or "gelu"
    double eps = 1e-5;                ///< of the layer norms
    bool batchFirst = false;
    bool normFirst = false;  ///< norms precede the parts instead of after the sums
    bool bias = true;
};

/// What encoder and decoder layers share: linear1, dropout, linear2 between two sums.
class TransformerLayer : public Layer {
  protected:
    TransformerLayer(std::string className, std::int64_t size, std::int64_t heads, const TransformerOptions& options,
                     bool decodes);
    /// x + part(norm(x)) if normFirst, else norm(x + part(x)).
    Var around(const Var& x, LayerNorm& norm, const std::function<Var(const Var&)>& part) const;
    Var attend(MultiheadAttention& attention, Dropout& dropout, const Var& x, const Var& keys, const Var& mask,
               const Var& paddingMask) const;
    Var feedForward(const Var& x) const;

    TransformerOptions m_options;
    std::shared_ptr<MultiheadAttention> m_selfAttention;
    std::shared_ptr<MultiheadAttention> m_crossAttention;  ///< of decoders
    std::shared_ptr<Linear> m_linear1;
    std::shared_ptr<Linear> m_linear2;
    std::shared_ptr<Dropout> m_dropout;
    std::vector<std::shared_ptr<LayerNorm>> m_norms;
    std::vector<std::shared_ptr<Dropout>> m_dropouts;
};

/// A layer of the encoder of Vaswani et al. 2017 (arXiv:1706.03762): x [L,N,E] ([N,L,E] if batchFirst) -> y of that
/// shape,
///   x = norm1(x + self_attn(x)),  y = norm2(x + linear2(activation(linear1(x)))).
/// Masks as MultiheadAttention's: src_mask [L,L], src_key_padding_mask [N,L]. is_causal says what the mask is and
/// changes nothing.
class TransformerEncoderLayer : public TransformerLayer {
  public:
    TransformerEncoderLayer(std::int64_t size, std::int64_t heads, const TransformerOptions& options = {})
        : TransformerLayer("TransformerEncoderLayer", size, heads, options, false) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;
};

/// A layer of the decoder: between the two parts of the encoder's stands attention to what the encoder made,
///   x = norm2(x + multihead_attn(x, memory)).  tgt [T,N,E], memory [S,N,E] -> y [T,N,E].
class TransformerDecoderLayer : public TransformerLayer {
  public:
    TransformerDecoderLayer(std::int64_t size, std::int64_t heads, const TransformerOptions& options = {})
        : TransformerLayer("TransformerDecoderLayer", size, heads, options, true) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;
};

/// Layers one after the other (`layers.0` …), then `norm` if there is one.
class TransformerEncoder : public Layer {
  public:
    explicit TransformerEncoder(std::vector<std::shared_ptr<Module>> layers, std::shared_ptr<Module> norm = {});
    TransformerEncoder(std::int64_t size, std::int64_t heads, std::int64_t layers,
                       const TransformerOptions& options = {});
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    std::shared_ptr<ModuleList> m_layers;
    std::shared_ptr<Module> m_norm;
};

class TransformerDecoder : public Layer {
  public:
    explicit TransformerDecoder(std::vector<std::shared_ptr<Module>> layers, std::shared_ptr<Module> norm = {});
    TransformerDecoder(std::int64_t size, std::int64_t heads, std::int64_t layers,
                       const TransformerOptions& options = {});
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    std::shared_ptr<ModuleList> m_layers;
    std::shared_ptr<Module> m_norm;
};

/// Both, each with a norm at its end: src [S,N,E], tgt [T,N,E] -> y [T,N,E]. Children `encoder` and `decoder`.
class Transformer : public Layer {
  public:
    Transformer(std::int64_t size = 512, std::int64_t heads = 8, std::int64_t encoderLayers = 6,
                std::int64_t decoderLayers = 6, const TransformerOptions& options = {});
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    std::shared_ptr<TransformerEncoder> m_encoder;
    std::shared_ptr<TransformerDecoder> m_decoder;
};

}  // namespace sonde::nn
