#include <cmath>
#include <limits>

#include "core/zoo/gpt.h"
#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

/// y = x W + b with the weight as the published files have it, [in,out].
class Conv1D final : public Block {
  public:
    Conv1D(std::int64_t in, std::int64_t out)
        : Block("Conv1D"), m_weight(addParameter("weight", nn::zeros({in, out}))),
          m_bias(addParameter("bias", nn::zeros({out}))) {}

    Var forward(std::span<const Var> in) override {
        const Var weight = m_weight;
        const Var product = matmul(in[0], weight);
        const Var bias = m_bias;
        return product + bias;
    }

  private:
    Attribute m_weight;
    Attribute m_bias;
};

/// Causal attention; `mask` [1,1,T,T] is 0 where a token may look and -inf where not.
class Gpt2Attention final : public Block {
  public:
    Gpt2Attention(std::int64_t dim, std::int64_t heads)
        : Block("GPT2Attention", {"hidden_states", "mask"}), m_heads(heads), m_depth(dim / heads),
          m_input(add("c_attn", make<Conv1D>(dim, 3 * dim))), m_output(add("c_proj", make<Conv1D>(dim, dim))),
          m_weightDropout(add("attn_dropout", make<nn::Dropout>(0.1))),
          m_dropout(add("resid_dropout", make<nn::Dropout>(0.1))) {}

    Var forward(std::span<const Var> in) override {
        std::vector<Var> parts = nn::chunk((*m_input)(in[0]), 3, -1).unpack(3);
        const Var batch = nn::size(in[0], 0);
        const Var length = nn::size(in[0], 1);
        for (Var& part : parts) part = nn::transpose(nn::view(part, {batch, length, m_heads, m_depth}), 1, 2);
        const Var products = matmul(parts[0], nn::transpose(parts[1], -1, -2));
        const Var scores = products * (1.0 / std::sqrt(static_cast<double>(m_depth))) + in[1];
        const Var weights = (*m_weightDropout)(nn::softmax(scores, -1));
        const Var y = nn::contiguous(nn::transpose(matmul(weights, parts[2]), 1, 2));
        return (*m_dropout)((*m_output)(nn::view(y, {batch, length, m_heads * m_depth})));
    }

  private:
    std::int64_t m_heads;
    std::int64_t m_depth;
    std::shared_ptr<Conv1D> m_input;
    std::shared_ptr<Conv1D> m_output;
    std::shared_ptr<nn::Dropout> m_weightDropout;
    std::shared_ptr<nn::Dropout> m_dropout;
};

/// GELU by tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), arXiv:1606.08415.
class TanhGelu final : public Block {
  public:
    TanhGelu() : Block("NewGELUActivation", {"input"}) {}
    Var forward(std::span<const Var> in) override {
        return trace::callFunction({"gelu", "gelu", "torch.nn.functional.gelu"}, {in[0]}, {{"approximate", "tanh"}});
    }
};

class Mlp final : public Block {
  public:
    explicit Mlp(std::int64_t dim)
        : Block("GPT2MLP", {"hidden_states"}), m_wide(add("c_fc", make<Conv1D>(dim, 4 * dim))),
          m_narrow(add("c_proj", make<Conv1D>(4 * dim, dim))), m_act(add("act", make<TanhGelu>())),
          m_dropout(add("dropout", make<nn::Dropout>(0.1))) {}
    Var forward(std::span<const Var> in) override { return (*m_dropout)((*m_narrow)((*m_act)((*m_wide)(in[0])))); }

  private:
    std::shared_ptr<Conv1D> m_wide;
    std::shared_ptr<Conv1D> m_narrow;
    std::shared_ptr<TanhGelu> m_act;
    std::shared_ptr<nn::Dropout> m_dropout;
};

class Gpt2Layer final : public Block {
  public:
    Gpt2Layer(std::int64_t dim, std::int64_t heads)
        : Block("GPT2Block", {"hidden_states", "mask"}), m_norm1(add("ln_1", make<nn::LayerNorm>(nn::Ints{dim}))),
          m_attention(add("attn", make<Gpt2Attention>(dim, heads))),
          m_norm2(add("ln_2", make<nn::LayerNorm>(nn::Ints{dim}))), m_mlp(add("mlp", make<Mlp>(dim))) {}
    Var forward(std::span<const Var> in) override {
        const Var x = (*m_attention)((*m_norm1)(in[0]), in[1]) + in[0];
        return x + (*m_mlp)((*m_norm2)(x));
    }

  private:
    std::shared_ptr<nn::LayerNorm> m_norm1;
    std::shared_ptr<Gpt2Attention> m_attention;
    std::shared_ptr<nn::LayerNorm> m_norm2;
    std::shared_ptr<Mlp> m_mlp;
};

/// Tokens [N,T] -> hidden states [N,T,C].
class Gpt2Model final : public Block {
  public:
    explicit Gpt2Model(const Settings& settings) : Block("GPT2Model", {"input_ids"}) {
        const std::int64_t dim = settings.whole("dim");
        requireWholeParts(dim, settings.whole("heads"), "dim", "heads");
        m_tokens = add("wte", make<nn::Embedding>(settings.whole("vocab"), dim));
        m_positions = add("wpe", make<nn::Embedding>(settings.whole("positions"), dim));
        m_dropout = add("drop", make<nn::Dropout>(0.1));
        m_layers = add("h", make<nn::ModuleList>());
        for (std::int64_t i = 0; i < settings.whole("layers"); ++i)
            m_layers->append(make<Gpt2Layer>(dim, settings.whole("heads")));
        m_norm = add("ln_f", make<nn::LayerNorm>(nn::Ints{dim}));
    }
    const std::shared_ptr<nn::Embedding>& tokens() const { return m_tokens; }

    Var forward(std::span<const Var> in) override {
        const Var length = nn::size(in[0], 1);
        const Var tokens = (*m_tokens)(in[0]);
        const Var numbers = trace::callFunction({"arange", "arange", "torch.arange"}, {length});
        Var x = (*m_dropout)(tokens + (*m_positions)(numbers));
        const Var mask = futureMask(length);
        for (std::size_t i = 0; i < m_layers->size(); ++i) x = (*m_layers)[i](x, mask);
        return (*m_norm)(x);
    }

  private:
    static Var futureMask(const Var& length) {
        const double infinity = std::numeric_limits<double>::infinity();
        const Var full = trace::callFunction({"full", "full", "torch.full"}, {Var::list({length, length}), -infinity});
        return trace::callFunction({"triu", "triu", "torch.triu"}, {full}, {{"diagonal", 1}});
    }

    std::shared_ptr<nn::Embedding> m_tokens;
    std::shared_ptr<nn::Embedding> m_positions;
    std::shared_ptr<nn::Dropout> m_dropout;
    std::shared_ptr<nn::ModuleList> m_layers;
    std::shared_ptr<nn::LayerNorm> m_norm;
};

class Gpt2 final : public Block {
  public:
    explicit Gpt2(const Settings& settings)
        : Block("GPT2LMHeadModel", {"input_ids"}), m_model(add("transformer", make<Gpt2Model>(settings))),
          m_head(add("lm_head", make<nn::Linear>(settings.whole("dim"), settings.whole("vocab"), false))) {
        m_head->setWeight(m_model->tokens()->weight());
    }
    Var forward(std::span<const Var> in) override { return (*m_head)((*m_model)(in[0])); }

  private:
    std::shared_ptr<Gpt2Model> m_model;
    std::shared_ptr<nn::Linear> m_head;
};

}  // namespace

ModulePtr gpt2(const Settings& settings) { return make<Gpt2>(settings); }

}  // namespace sonde::zoo
