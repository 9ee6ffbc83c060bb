#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// Batch normalisation (Ioffe, Szegedy 2015, arXiv:1502.03167) with the running statistics:
///   y = (x - mean_c) / sqrt(var_c + eps) * weight_c + bias_c.  x [N,C,…] -> y [N,C,…]; all vectors [C].
class BatchNorm : public Layer {
  public:
    BatchNorm(std::string className, std::int64_t channels, double eps, double momentum);
    Var forward(std::span<const Var> in) override;

  private:
    double m_eps;
    double m_momentum;
    Attribute m_weight;
    Attribute m_bias;
    Attribute m_mean;
    Attribute m_var;
    Attribute m_batches;
};
struct BatchNorm1d : BatchNorm {
    explicit BatchNorm1d(std::int64_t c, double eps = 1e-5, double momentum = 0.1) : BatchNorm("BatchNorm1d", c, eps, momentum) {}
};
struct BatchNorm2d : BatchNorm {
    explicit BatchNorm2d(std::int64_t c, double eps = 1e-5, double momentum = 0.1) : BatchNorm("BatchNorm2d", c, eps, momentum) {}
};
struct BatchNorm3d : BatchNorm {
    explicit BatchNorm3d(std::int64_t c, double eps = 1e-5, double momentum = 0.1) : BatchNorm("BatchNorm3d", c, eps, momentum) {}
};

/// Layer normalisation (Ba et al. 2016, arXiv:1607.06450) over the last axes, `shape`:
///   y = (x - mean) / sqrt(var + eps) * weight + bias, mean and variance over those axes.
class LayerNorm : public Layer {
  public:
    explicit LayerNorm(Ints shape, double eps = 1e-5);
    Var forward(std::span<const Var> in) override;

  private:
    Ints m_shape;
    double m_eps;
    Attribute m_weight;
    Attribute m_bias;
};

/// Group normalisation (Wu, He 2018, arXiv:1803.08494): mean and variance over each of `groups` groups of channels.
class GroupNorm : public Layer {
  public:
    GroupNorm(std::int64_t groups, std::int64_t channels, double eps = 1e-5);
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_groups;
    double m_eps;
    Attribute m_weight;
    Attribute m_bias;
};

}  // namespace sonde::nn
