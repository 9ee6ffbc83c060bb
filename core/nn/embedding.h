#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// Rows of a table: ids […] (integers in 0…n-1) -> y […,D]; weight [n,D].
class Embedding : public Layer {
  public:
    Embedding(std::int64_t count, std::int64_t dim, std::int64_t paddingIndex = -1);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;
    const Attribute& weight() const { return m_weight; }

  private:
    std::int64_t m_paddingIndex;
    Attribute m_weight;
};

/// In the order of torch's arguments after num_embeddings and embedding_dim, as far as they change what is computed.
struct EmbeddingBagOptions {
    std::string mode = "mean";  ///< sum, mean or max
    bool includeLastOffset = false;
    std::int64_t paddingIndex = -1;  ///< these ids do not count; -1: all count
};

/// Sum, mean or largest of the rows of each bag: ids [B,L] -> y [B,D], each row of ids a bag; or ids [M] with offsets
/// [B], where each bag begins (includeLastOffset: [B + 1], the last one is M). per_sample_weights, like ids, scale the
/// rows of a sum. An empty bag gives zeros. weight [n,D].
class EmbeddingBag : public Layer {
  public:
    EmbeddingBag(std::int64_t count, std::int64_t dim, EmbeddingBagOptions options = {});
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    EmbeddingBagOptions m_options;
    Attribute m_weight;
};

}  // namespace sonde::nn
