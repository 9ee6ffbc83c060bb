#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// What layers with statistics of each channel share. All vectors are [C]: weight and bias if affine, running_mean,
/// running_var and num_batches_tracked if they are tracked.
class ChannelNorm : public Layer {
  public:
    std::string extraText() const override;

  protected:
    ChannelNorm(std::string className, std::int64_t channels, double eps, double momentum, bool affine, bool tracks);

    std::int64_t m_channels;
    double m_eps;
    double m_momentum;
    Attribute m_weight;
    Attribute m_bias;
    Attribute m_mean;
    Attribute m_var;
    Attribute m_batches;
};

/// Batch normalisation (Ioffe, Szegedy 2015, arXiv:1502.03167):
///   y = (x - mean_c) / sqrt(var_c + eps) * weight_c + bias_c.  x [N,C,…] -> y of that shape.
/// Mean and variance are the running statistics; those of the batch while training or if none are tracked. A run
/// changes no module: running statistics stay as they are.
class BatchNorm : public ChannelNorm {
  public:
    BatchNorm(std::string className, std::int64_t channels, double eps, double momentum, bool affine, bool tracks)
        : ChannelNorm(std::move(className), channels, eps, momentum, affine, tracks) {}
    Var forward(std::span<const Var> in) override;
};
struct BatchNorm1d : BatchNorm {  ///< x [N,C] or [N,C,L]
    explicit BatchNorm1d(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = true,
                         bool tracks = true)
        : BatchNorm("BatchNorm1d", c, eps, momentum, affine, tracks) {}
};
struct BatchNorm2d : BatchNorm {  ///< x [N,C,H,W]
    explicit BatchNorm2d(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = true,
                         bool tracks = true)
        : BatchNorm("BatchNorm2d", c, eps, momentum, affine, tracks) {}
};
struct BatchNorm3d : BatchNorm {  ///< x [N,C,D,H,W]
    explicit BatchNorm3d(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = true,
                         bool tracks = true)
        : BatchNorm("BatchNorm3d", c, eps, momentum, affine, tracks) {}
};
struct SyncBatchNorm : BatchNorm {  ///< BatchNorm over several machines; on one it is the same
    explicit SyncBatchNorm(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = true,
                           bool tracks = true)
        : BatchNorm("SyncBatchNorm", c, eps, momentum, affine, tracks) {}
};

/// Instance normalisation (Ulyanov et al. 2016, arXiv:1607.08022): BatchNorm's formula with mean and variance of each
/// channel of each image; with the running statistics if they are tracked and the module does not train.
class InstanceNorm : public ChannelNorm {
  public:
    InstanceNorm(std::string className, std::int64_t channels, double eps, double momentum, bool affine, bool tracks)
        : ChannelNorm(std::move(className), channels, eps, momentum, affine, tracks) {}
    Var forward(std::span<const Var> in) override;
};
struct InstanceNorm1d : InstanceNorm {  ///< x [N,C,L]
    explicit InstanceNorm1d(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = false,
                            bool tracks = false)
        : InstanceNorm("InstanceNorm1d", c, eps, momentum, affine, tracks) {}
};
struct InstanceNorm2d : InstanceNorm {  ///< x [N,C,H,W]
    explicit InstanceNorm2d(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = false,
                            bool tracks = false)
        : InstanceNorm("InstanceNorm2d", c, eps, momentum, affine, tracks) {}
};
struct InstanceNorm3d : InstanceNorm {  ///< x [N,C,D,H,W]
    explicit InstanceNorm3d(std::int64_t c, double eps = 1e-5, double momentum = 0.1, bool affine = false,
                            bool tracks = false)
        : InstanceNorm("InstanceNorm3d", c, eps, momentum, affine, tracks) {}
};

/// Layer normalisation (Ba et al. 2016, arXiv:1607.06450) over the last axes, `shape`:
///   y = (x - mean) / sqrt(var + eps) * weight + bias, mean and variance over those axes; weight and bias of `shape`.
class LayerNorm : public Layer {
  public:
    explicit LayerNorm(Ints shape, double eps = 1e-5, bool affine = true, bool bias = true);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_shape;
    double m_eps;
    Attribute m_weight;
    Attribute m_bias;
};

/// Group normalisation (Wu, He 2018, arXiv:1803.08494): mean and variance over each of `groups` groups of channels of
/// each image. x [N,C,…] -> y of that shape; weight and bias [C].
class GroupNorm : public Layer {
  public:
    GroupNorm(std::int64_t groups, std::int64_t channels, double eps = 1e-5, bool affine = true);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    std::int64_t m_groups;
    std::int64_t m_channels;
    double m_eps;
    Attribute m_weight;
    Attribute m_bias;
};

/// Root mean square normalisation (Zhang, Sennrich 2019, arXiv:1910.07467) over the last axes, `shape`:
///   y = x / sqrt(mean(x^2) + eps) * weight.  Without eps: the smallest step of x's dtype at 1.
class RMSNorm : public Layer {
  public:
    explicit RMSNorm(Ints shape, Var eps = {}, bool affine = true);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_shape;
    Var m_eps;
    Attribute m_weight;
};

/// What layers share that normalise by the squares around a channel.
class ResponseNorm : public Layer {
  public:
    std::string extraText() const override;

  protected:
    ResponseNorm(std::string className, std::int64_t size, double alpha, double beta, double k)
        : Layer(std::move(className)), m_size(size), m_alpha(alpha), m_beta(beta), m_k(k) {}

    std::int64_t m_size;
    double m_alpha;
    double m_beta;
    double m_k;
};

/// Local response normalisation (Krizhevsky et al. 2012): x [N,C,…] -> y of that shape,
///   y_c = x_c / (k + alpha / size sum x_c'^2)^beta, over the `size` channels c' around c.
class LocalResponseNorm : public ResponseNorm {
  public:
    explicit LocalResponseNorm(std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1)
        : ResponseNorm("LocalResponseNorm", size, alpha, beta, k) {}
    Var forward(std::span<const Var> in) override;
};

/// torch.nn.CrossMapLRN2d: x [N,C,H,W] -> y of that shape,
///   y_c = x_c / (k + alpha / size sum x_c'^2)^beta,  |c' - c| < (size + 1) / 2 rounded down, and c' = 0 for every c.
/// PyTorch's running sum never lets go of the first channel; models were trained with it.
class CrossMapLRN2d : public ResponseNorm {
  public:
    explicit CrossMapLRN2d(std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1)
        : ResponseNorm("CrossMapLRN2d", size, alpha, beta, k) {}
    Var forward(std::span<const Var> in) override;
};

}  // namespace sonde::nn
