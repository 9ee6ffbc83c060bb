#include "core/nn/distance.h"

#include "core/nn/functional.h"

namespace sonde::nn {

Var CosineSimilarity::forward(std::span<const Var> in) { return cosineSimilarity(in[0], in[1], m_dim, m_eps); }
Var PairwiseDistance::forward(std::span<const Var> in) { return pairwiseDistance(in[0], in[1], m_p, m_eps, m_keepDim); }

}  // namespace sonde::nn
