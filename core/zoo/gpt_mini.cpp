#include <limits>

#include "core/zoo/gpt.h"
#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

/// y = proj(softmax(q k^T / sqrt(d), nothing from the future) v), per head. x [N,T,C] -> y [N,T,C].
class CausalSelfAttention final : public Block {
  public:
    CausalSelfAttention(std::int64_t dim, std::int64_t heads)
        : Block("CausalSelfAttention"), m_heads(heads), m_qkv(add("qkv", make<nn::Linear>(dim, 3 * dim))),
          m_proj(add("proj", make<nn::Linear>(dim, dim))) {}

    Var forward(std::span<const Var> in) override {
        const std::vector<Var> size = nn::size(in[0]).unpack(3);
        std::vector<Var> parts = nn::chunk((*m_qkv)(in[0]), 3, -1).unpack(3);
        const Var depth = floordiv(size[2], m_heads);
        for (Var& part : parts) part = nn::transpose(nn::view(part, {size[0], size[1], m_heads, depth}), 1, 2);
        const Var products = matmul(parts[0], nn::transpose(parts[1], -2, -1));
        const Var scores = products * (1.0 / nn::sqrt(depth));
        const Var future = nn::onesLike(scores).method("tril") == 0;
        const Var weights = nn::softmax(nn::maskedFill(scores, future, -std::numeric_limits<double>::infinity()), -1);
        const Var y = nn::contiguous(nn::transpose(matmul(weights, parts[2]), 1, 2));
        return (*m_proj)(nn::view(y, size));
    }

  private:
    std::int64_t m_heads;
    std::shared_ptr<nn::Linear> m_qkv;
    std::shared_ptr<nn::Linear> m_proj;
};

class GptBlock final : public Block {
  public:
    GptBlock(std::int64_t dim, std::int64_t heads)
        : Block("GPTBlock"), m_ln1(add("ln1", make<nn::LayerNorm>(nn::Ints{dim}))),
          m_attn(add("attn", make<CausalSelfAttention>(dim, heads))),
          m_ln2(add("ln2", make<nn::LayerNorm>(nn::Ints{dim}))),
          m_mlp(add("mlp",
                    sequential({make<nn::Linear>(dim, 4 * dim), make<nn::GELU>(), make<nn::Linear>(4 * dim, dim)}))) {}

    Var forward(std::span<const Var> in) override {
        const Var x = in[0] + (*m_attn)((*m_ln1)(in[0]));
        return x + (*m_mlp)((*m_ln2)(x));
    }

  private:
    std::shared_ptr<nn::LayerNorm> m_ln1;
    std::shared_ptr<CausalSelfAttention> m_attn;
    std::shared_ptr<nn::LayerNorm> m_ln2;
    std::shared_ptr<nn::Sequential> m_mlp;
};

class Gpt final : public Block {
  public:
    explicit Gpt(const Settings& settings) : Block("GPT", {"idx"}) {
        const std::int64_t dim = settings.whole("dim");
        const std::int64_t vocab = settings.whole("vocab");
        requireWholeParts(dim, settings.whole("heads"), "dim", "heads");
        m_positions = addParameter("pos_emb", nn::zeros({1, settings.whole("positions"), dim}));
        m_tokens = add("tok_emb", make<nn::Embedding>(vocab, dim));
        m_blocks = add("blocks", make<nn::ModuleList>());
        for (std::int64_t i = 0; i < settings.whole("layers"); ++i) {
            m_blocks->append(make<GptBlock>(dim, settings.whole("heads")));
        }
        m_norm = add("ln_f", make<nn::LayerNorm>(nn::Ints{dim}));
        m_head = add("head", make<nn::Linear>(dim, vocab, false));
        m_head->setWeight(m_tokens->weight());
    }

    Var forward(std::span<const Var> in) override {
        const Var length = nn::size(in[0], 1);
        const Var tokens = (*m_tokens)(in[0]);
        const Var positions = m_positions;
        const Var all = Var::slice({}, {});
        Var x = tokens + positions[Var::tuple({all, Var::slice({}, length), all})];
        for (std::size_t i = 0; i < m_blocks->size(); ++i) x = (*m_blocks)[i](x);
        return (*m_head)((*m_norm)(x));
    }

  private:
    Attribute m_positions;
    std::shared_ptr<nn::Embedding> m_tokens;
    std::shared_ptr<nn::ModuleList> m_blocks;
    std::shared_ptr<nn::LayerNorm> m_norm;
    std::shared_ptr<nn::Linear> m_head;
};

}  // namespace

ModulePtr gptMini(const Settings& settings) { return make<Gpt>(settings); }

}  // namespace sonde::zoo
