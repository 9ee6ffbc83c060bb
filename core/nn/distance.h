#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// a · b / max(|a| |b|, eps) along dim, which goes. a and b broadcast.
class CosineSimilarity : public Layer {
  public:
    explicit CosineSimilarity(std::int64_t dim = 1, double eps = 1e-8)
        : Layer("CosineSimilarity"), m_dim(dim), m_eps(eps) {}
    std::vector<ForwardParameter> signature() const override {
        return {{"x1", {}, false, true}, {"x2", {}, false, true}};
    }
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_dim;
    double m_eps;
};

/// |a - b + eps|_p along the last axis, which goes unless keepDim. a and b […,D] broadcast.
class PairwiseDistance : public Layer {
  public:
    explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepDim = false)
        : Layer("PairwiseDistance"), m_p(p), m_eps(eps), m_keepDim(keepDim) {}
    std::vector<ForwardParameter> signature() const override {
        return {{"x1", {}, false, true}, {"x2", {}, false, true}};
    }
    Var forward(std::span<const Var> in) override;

  private:
    double m_p;
    double m_eps;
    bool m_keepDim;
};

}  // namespace sonde::nn
