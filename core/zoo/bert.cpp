#include "core/zoo/bert.h"

#include <cmath>
#include <limits>

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

constexpr double kEps = 1e-12;
constexpr double kDropout = 0.1;

std::shared_ptr<nn::LayerNorm> layerNorm(std::int64_t dim) { return make<nn::LayerNorm>(nn::Ints{dim}, kEps); }

/// Sum of the embeddings of token, sentence (always the first) and position, normalised.
class Embeddings final : public Block {
  public:
    explicit Embeddings(const Settings& settings) : Block("BertEmbeddings", {"input_ids"}) {
        const std::int64_t dim = settings.whole("dim");
        requireWholeParts(dim, settings.whole("heads"), "dim", "heads");
        m_words = add("word_embeddings", make<nn::Embedding>(settings.whole("vocab"), dim, 0));
        m_positions = add("position_embeddings", make<nn::Embedding>(settings.whole("positions"), dim));
        m_types = add("token_type_embeddings", make<nn::Embedding>(2, dim));
        m_norm = add("LayerNorm", layerNorm(dim));
        m_dropout = add("dropout", make<nn::Dropout>(kDropout));
    }

    Var forward(std::span<const Var> in) override {
        const Var length = nn::size(in[0], 1);
        const Var words = (*m_words)(in[0]);
        const Var zeros = trace::callFunction({"zeros_like", "zeros_like", "torch.zeros_like"}, {in[0]});
        const Var typed = words + (*m_types)(zeros);
        const Var numbers = trace::callFunction({"arange", "arange", "torch.arange"}, {length});
        return (*m_dropout)((*m_norm)(typed + (*m_positions)(numbers)));
    }

  private:
    std::shared_ptr<nn::Embedding> m_words;
    std::shared_ptr<nn::Embedding> m_positions;
    std::shared_ptr<nn::Embedding> m_types;
    std::shared_ptr<nn::LayerNorm> m_norm;
    std::shared_ptr<nn::Dropout> m_dropout;
};

/// softmax(q k^T / sqrt(d) + mask) v, per head.
class SelfAttention final : public Block {
  public:
    SelfAttention(std::int64_t dim, std::int64_t heads)
        : Block("BertSelfAttention", {"hidden_states", "attention_mask"}), m_heads(heads), m_depth(dim / heads),
          m_query(add("query", make<nn::Linear>(dim, dim))), m_key(add("key", make<nn::Linear>(dim, dim))),
          m_value(add("value", make<nn::Linear>(dim, dim))), m_dropout(add("dropout", make<nn::Dropout>(kDropout))) {}

    Var forward(std::span<const Var> in) override {
        const Var batch = nn::size(in[0], 0);
        const Var length = nn::size(in[0], 1);
        const auto heads = [&](nn::Linear& projection) {
            return nn::transpose(nn::view(projection(in[0]), {batch, length, m_heads, m_depth}), 1, 2);
        };
        const Var query = heads(*m_query);
        const Var key = heads(*m_key);
        const Var value = heads(*m_value);
        const Var products = matmul(query, nn::transpose(key, -1, -2));
        const Var scores = products / std::sqrt(static_cast<double>(m_depth)) + in[1];
        const Var weights = (*m_dropout)(nn::softmax(scores, -1));
        const Var y = nn::contiguous(nn::transpose(matmul(weights, value), 1, 2));
        return nn::view(y, {batch, length, m_heads * m_depth});
    }

  private:
    std::int64_t m_heads;
    std::int64_t m_depth;
    std::shared_ptr<nn::Linear> m_query;
    std::shared_ptr<nn::Linear> m_key;
    std::shared_ptr<nn::Linear> m_value;
    std::shared_ptr<nn::Dropout> m_dropout;
};

/// y = LayerNorm(dense(x) + shortcut).
class Output final : public Block {
  public:
    Output(const char* className, std::int64_t in, std::int64_t out)
        : Block(className, {"hidden_states", "input_tensor"}), m_dense(add("dense", make<nn::Linear>(in, out))),
          m_norm(add("LayerNorm", layerNorm(out))), m_dropout(add("dropout", make<nn::Dropout>(kDropout))) {}
    Var forward(std::span<const Var> in) override { return (*m_norm)((*m_dropout)((*m_dense)(in[0])) + in[1]); }

  private:
    std::shared_ptr<nn::Linear> m_dense;
    std::shared_ptr<nn::LayerNorm> m_norm;
    std::shared_ptr<nn::Dropout> m_dropout;
};

class Attention final : public Block {
  public:
    Attention(std::int64_t dim, std::int64_t heads)
        : Block("BertAttention", {"hidden_states", "attention_mask"}),
          m_self(add("self", make<SelfAttention>(dim, heads))),
          m_output(add("output", make<Output>("BertSelfOutput", dim, dim))) {}
    Var forward(std::span<const Var> in) override { return (*m_output)((*m_self)(in[0], in[1]), in[0]); }

  private:
    std::shared_ptr<SelfAttention> m_self;
    std::shared_ptr<Output> m_output;
};

class Intermediate final : public Block {
  public:
    explicit Intermediate(std::int64_t dim)
        : Block("BertIntermediate", {"hidden_states"}), m_dense(add("dense", make<nn::Linear>(dim, 4 * dim))),
          m_activation(add("intermediate_act_fn", make<nn::GELU>())) {}
    Var forward(std::span<const Var> in) override { return (*m_activation)((*m_dense)(in[0])); }

  private:
    std::shared_ptr<nn::Linear> m_dense;
    std::shared_ptr<nn::GELU> m_activation;
};

class Layer final : public Block {
  public:
    Layer(std::int64_t dim, std::int64_t heads)
        : Block("BertLayer", {"hidden_states", "attention_mask"}),
          m_attention(add("attention", make<Attention>(dim, heads))),
          m_intermediate(add("intermediate", make<Intermediate>(dim))),
          m_output(add("output", make<Output>("BertOutput", 4 * dim, dim))) {}
    Var forward(std::span<const Var> in) override {
        const Var x = (*m_attention)(in[0], in[1]);
        return (*m_output)((*m_intermediate)(x), x);
    }

  private:
    std::shared_ptr<Attention> m_attention;
    std::shared_ptr<Intermediate> m_intermediate;
    std::shared_ptr<Output> m_output;
};

class Encoder final : public Block {
  public:
    explicit Encoder(const Settings& settings)
        : Block("BertEncoder", {"hidden_states", "attention_mask"}), m_layers(add("layer", make<nn::ModuleList>())) {
        for (std::int64_t i = 0; i < settings.whole("layers"); ++i) {
            m_layers->append(make<Layer>(settings.whole("dim"), settings.whole("heads")));
        }
    }
    Var forward(std::span<const Var> in) override {
        Var x = in[0];
        for (std::size_t i = 0; i < m_layers->size(); ++i) x = (*m_layers)[i](x, in[1]);
        return x;
    }

  private:
    std::shared_ptr<nn::ModuleList> m_layers;
};

/// tanh(dense(first token)).
class Pooler final : public Block {
  public:
    explicit Pooler(std::int64_t dim)
        : Block("BertPooler", {"hidden_states"}), m_dense(add("dense", make<nn::Linear>(dim, dim))),
          m_activation(add("activation", make<nn::Tanh>())) {}
    Var forward(std::span<const Var> in) override {
        return (*m_activation)((*m_dense)(in[0][Var::tuple({Var::slice({}, {}), 0})]));
    }

  private:
    std::shared_ptr<nn::Linear> m_dense;
    std::shared_ptr<nn::Tanh> m_activation;
};

class Bert final : public Block {
  public:
    explicit Bert(const Settings& settings)
        : Block("BertModel", {"input_ids", "attention_mask"}),
          m_embeddings(add("embeddings", make<Embeddings>(settings))),
          m_encoder(add("encoder", make<Encoder>(settings))),
          m_pooler(add("pooler", make<Pooler>(settings.whole("dim")))) {}

    Var forward(std::span<const Var> in) override {
        // 0 where a token may be looked at, the lowest number where not. 6 is torch's number of float32.
        const Var none = Var::none();
        const Var all = Var::slice({}, {});
        const Var expanded = in[1][Var::tuple({all, none, none, all})];
        const Var hidden = 1.0 - expanded.method("to", {6}, {}, "to.dtype");
        const Var mask = hidden * static_cast<double>(std::numeric_limits<float>::lowest());
        const Var x = (*m_encoder)((*m_embeddings)(in[0]), mask);
        return Var::tuple({x, (*m_pooler)(x)});
    }
    bool makesTensor() const override { return false; }

  private:
    std::shared_ptr<Embeddings> m_embeddings;
    std::shared_ptr<Encoder> m_encoder;
    std::shared_ptr<Pooler> m_pooler;
};

}  // namespace

ModulePtr bert(const Settings& settings) { return make<Bert>(settings); }

}  // namespace sonde::zoo
