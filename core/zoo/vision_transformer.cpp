#include "core/zoo/vision_transformer.h"

#include "core/nn/attention.h"
#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

constexpr double kVitEps = 1e-6;
constexpr double kVitDropout = 0;

std::shared_ptr<nn::LayerNorm> vitNorm(std::int64_t dim) { return make<nn::LayerNorm>(nn::Ints{dim}, kVitEps); }

void require(const Var& condition, std::string message) {
    trace::callFunction({"_assert", "_assert", "torch._assert", false, "prim"}, {condition, std::move(message)});
}

/// x [N,L,E]: the check that torchvision makes, with its nodes (the shape is read for the message).
void requireSequence(const Var& x) {
    const Var isSequence = x.method("dim", {}, {}) == 3;
    x.attr("shape");
    require(isSequence, "Expected (batch_size, seq_length, hidden_dim)");
}

/// x = x + attention(norm(x)); y = x + mlp(norm(x)).
class EncoderBlock final : public Block {
  public:
    EncoderBlock(std::int64_t heads, std::int64_t dim, std::int64_t mlpDim)
        : Block("EncoderBlock", {"input"}), m_norm1(add("ln_1", vitNorm(dim))),
          m_attention(add("self_attention",
                          make<nn::MultiheadAttention>(dim, heads, nn::AttentionOptions{.batchFirst = true}))),
          m_dropout(add("dropout", make<nn::Dropout>(kVitDropout))), m_norm2(add("ln_2", vitNorm(dim))),
          m_mlp(add("mlp",
                    make<NamedSequential>(
                        "MLPBlock", std::vector<ModulePtr>{
                                        make<nn::Linear>(dim, mlpDim), make<nn::GELU>(), make<nn::Dropout>(kVitDropout),
                                        make<nn::Linear>(mlpDim, dim), make<nn::Dropout>(kVitDropout)}))) {}

    Var forward(std::span<const Var> in) override {
        requireSequence(in[0]);
        const Var normed = (*m_norm1)(in[0]);
        const std::vector<Var> attended =
            m_attention->call({}, {{"query", normed}, {"key", normed}, {"value", normed}, {"need_weights", false}})
                .unpack(2);
        const Var x = (*m_dropout)(attended[0]) + in[0];
        return x + (*m_mlp)((*m_norm2)(x));
    }

  private:
    std::shared_ptr<nn::LayerNorm> m_norm1;
    std::shared_ptr<nn::MultiheadAttention> m_attention;
    std::shared_ptr<nn::Dropout> m_dropout;
    std::shared_ptr<nn::LayerNorm> m_norm2;
    std::shared_ptr<NamedSequential> m_mlp;
};

class VitEncoder final : public Block {
  public:
    VitEncoder(std::int64_t length, const Settings& settings) : Block("Encoder", {"input"}) {
        const std::int64_t dim = settings.whole("dim");
        m_positions = addParameter("pos_embedding", nn::zeros({1, length, dim}));
        m_dropout = add("dropout", make<nn::Dropout>(kVitDropout));
        m_layers = add("layers", sequential());
        for (std::int64_t i = 0; i < settings.whole("layers"); ++i) {
            m_layers->addChild("encoder_layer_" + std::to_string(i),
                               make<EncoderBlock>(settings.whole("heads"), dim, settings.whole("mlp")));
        }
        m_norm = add("ln", vitNorm(dim));
    }

    Var forward(std::span<const Var> in) override {
        requireSequence(in[0]);
        const Var positions = m_positions;
        return (*m_norm)((*m_layers)((*m_dropout)(in[0] + positions)));
    }

  private:
    Attribute m_positions;
    std::shared_ptr<nn::Dropout> m_dropout;
    std::shared_ptr<nn::Sequential> m_layers;
    std::shared_ptr<nn::LayerNorm> m_norm;
};

class VisionTransformer final : public Block {
  public:
    explicit VisionTransformer(const Settings& settings)
        : Block("VisionTransformer"), m_image(settings.whole("image")), m_patch(settings.whole("patch")),
          m_dim(settings.whole("dim")) {
        requireWholeParts(m_image, m_patch, "image", "patch");
        requireWholeParts(m_dim, settings.whole("heads"), "dim", "heads");
        const std::int64_t rows = m_image / m_patch;
        m_projection = add("conv_proj", make<nn::Conv2d>(3, m_dim, m_patch, withBias(m_patch)));
        m_classToken = addParameter("class_token", nn::zeros({1, 1, m_dim}));
        m_encoder = add("encoder", make<VitEncoder>(rows * rows + 1, settings));
        m_heads = add("heads", sequential());
        m_heads->addChild("head", make<nn::Linear>(m_dim, settings.whole("classes")));
    }

    Var forward(std::span<const Var> in) override {
        const Var patches = patchesOf(in[0]);
        const Var batch = patches.attr("shape")[0];
        const Var classToken = m_classToken;
        const Var tokens = nn::cat({nn::expand(classToken, {batch, -1, -1}), patches}, 1);
        const Var encoded = (*m_encoder)(tokens);
        return (*m_heads)(encoded[Var::tuple({Var::slice({}, {}), 0})]);
    }

  private:
    /// [N,3,S,S] -> [N,patches,E].
    Var patchesOf(const Var& x) {
        const std::vector<Var> size = x.attr("shape").unpack(4);
        require(size[2] == m_image, "Wrong image height! Expected " + std::to_string(m_image));
        require(size[3] == m_image, "Wrong image width! Expected " + std::to_string(m_image));
        const Var rows = floordiv(size[2], m_patch);
        const Var columns = floordiv(size[3], m_patch);
        const Var projected = (*m_projection)(x);
        return nn::permute(nn::reshape(projected, {size[0], m_dim, rows * columns}), {0, 2, 1});
    }

    std::int64_t m_image;
    std::int64_t m_patch;
    std::int64_t m_dim;
    std::shared_ptr<nn::Conv2d> m_projection;
    Attribute m_classToken;
    std::shared_ptr<VitEncoder> m_encoder;
    std::shared_ptr<nn::Sequential> m_heads;
};

}  // namespace

ModulePtr visionTransformer(const Settings& settings) { return make<VisionTransformer>(settings); }

}  // namespace sonde::zoo
