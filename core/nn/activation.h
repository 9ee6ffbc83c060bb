#pragma once

#include <functional>

#include "core/nn/functional.h"
#include "core/nn/module.h"

namespace sonde::nn {

/// A function of one tensor without parameters of its own. x -> y of the same shape, unless said otherwise.
class ActivationLayer : public Layer {
  public:
    using Compute = std::function<Var(const Var&)>;
    ActivationLayer(std::string className, Compute compute, std::string extraText = {})
        : Layer(std::move(className)), m_compute(std::move(compute)), m_extraText(std::move(extraText)) {}
    Var forward(std::span<const Var> in) override { return m_compute(in[0]); }
    std::string extraText() const override { return m_extraText; }

  private:
    Compute m_compute;
    std::string m_extraText;
};

struct ReLU : ActivationLayer {  ///< max(x, 0)
    ReLU() : ActivationLayer("ReLU", [](const Var& x) { return relu(x); }) {}
};
struct ReLU6 : ActivationLayer {  ///< min(max(x, 0), 6)
    ReLU6() : ActivationLayer("ReLU6", [](const Var& x) { return relu6(x); }) {}
};
struct Hardtanh : ActivationLayer {  ///< min(max(x, low), high)
    explicit Hardtanh(double low = -1, double high = 1);
};
struct LeakyReLU : ActivationLayer {  ///< x if x > 0, else slope x
    explicit LeakyReLU(double slope = 0.01);
};
struct ELU : ActivationLayer {  ///< x if x > 0, else alpha (e^x - 1), arXiv:1511.07289
    explicit ELU(double alpha = 1);
};
struct CELU : ActivationLayer {  ///< max(x, 0) + min(0, alpha (e^(x / alpha) - 1)), arXiv:1704.07483
    explicit CELU(double alpha = 1);
};
struct SELU : ActivationLayer {  ///< scale (max(x, 0) + min(0, alpha (e^x - 1))), arXiv:1706.02515
    SELU() : ActivationLayer("SELU", [](const Var& x) { return selu(x); }) {}
};
struct GELU
    : ActivationLayer {  ///< x Phi(x), arXiv:1606.08415; "tanh": x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
    explicit GELU(const std::string& approximate = "none");
};
struct SiLU : ActivationLayer {  ///< x sigmoid(x), arXiv:1710.05941
    SiLU() : ActivationLayer("SiLU", [](const Var& x) { return silu(x); }) {}
};
struct Mish : ActivationLayer {  ///< x tanh(ln(1 + e^x)), arXiv:1908.08681
    Mish() : ActivationLayer("Mish", [](const Var& x) { return mish(x); }) {}
};
struct Sigmoid : ActivationLayer {  ///< 1 / (1 + e^-x)
    Sigmoid() : ActivationLayer("Sigmoid", [](const Var& x) { return sigmoid(x); }) {}
};
struct LogSigmoid : ActivationLayer {  ///< ln sigmoid(x)
    LogSigmoid() : ActivationLayer("LogSigmoid", [](const Var& x) { return logSigmoid(x); }) {}
};
struct Tanh : ActivationLayer {  ///< (e^x - e^-x) / (e^x + e^-x)
    Tanh() : ActivationLayer("Tanh", [](const Var& x) { return tanh(x); }) {}
};
struct Tanhshrink : ActivationLayer {  ///< x - tanh(x)
    Tanhshrink() : ActivationLayer("Tanhshrink", [](const Var& x) { return tanhshrink(x); }) {}
};
struct Softplus : ActivationLayer {  ///< ln(1 + e^(beta x)) / beta, x itself where beta x is above the threshold
    explicit Softplus(double beta = 1, double threshold = 20);
};
struct Softsign : ActivationLayer {  ///< x / (1 + |x|)
    Softsign() : ActivationLayer("Softsign", [](const Var& x) { return softsign(x); }) {}
};
struct Softshrink : ActivationLayer {  ///< x moved by lambda toward 0, 0 if |x| <= lambda
    explicit Softshrink(double lambda = 0.5);
};
struct Hardshrink : ActivationLayer {  ///< x, or 0 if |x| <= lambda
    explicit Hardshrink(double lambda = 0.5);
};
struct Hardswish : ActivationLayer {  ///< x min(max(x + 3, 0), 6) / 6, arXiv:1905.02244
    Hardswish() : ActivationLayer("Hardswish", [](const Var& x) { return hardswish(x); }) {}
};
struct Hardsigmoid : ActivationLayer {  ///< min(max(x + 3, 0), 6) / 6
    Hardsigmoid() : ActivationLayer("Hardsigmoid", [](const Var& x) { return hardsigmoid(x); }) {}
};
struct Threshold : ActivationLayer {  ///< x if x > threshold, else value
    Threshold(double threshold, double value);
};
struct GLU
    : ActivationLayer {  ///< first half times sigmoid of the second half along dim, which is halved; arXiv:1612.08083
    explicit GLU(std::int64_t dim = -1);
};
struct Softmax : ActivationLayer {  ///< e^x / sum e^x along dim
    explicit Softmax(std::int64_t dim);
};
struct Softmax2d : ActivationLayer {  ///< softmax over the channels of x [N,C,H,W] or [C,H,W]
    Softmax2d() : ActivationLayer("Softmax2d", [](const Var& x) { return softmax(x, -3); }) {}
};
struct LogSoftmax : ActivationLayer {  ///< ln of softmax along dim
    explicit LogSoftmax(std::int64_t dim);
};
struct Softmin : ActivationLayer {  ///< softmax of -x along dim
    explicit Softmin(std::int64_t dim);
};

/// x if x > 0, else a x. While training, a is drawn from [lower, upper] for each number; else it is their mean.
/// Xu et al. 2015, arXiv:1505.00853.
class RReLU : public Layer {
  public:
    explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3) : Layer("RReLU"), m_lower(lower), m_upper(upper) {}
    Var forward(std::span<const Var> in) override { return rrelu(in[0], m_lower, m_upper, isTraining()); }
    std::string extraText() const override;

  private:
    double m_lower;
    double m_upper;
};

/// x if x > 0, else weight_c x with a learned slope per channel or one for all, arXiv:1502.01852. weight [C] or [1].
class PReLU : public Layer {
  public:
    explicit PReLU(std::int64_t parameters = 1, double init = 0.25);
    Var forward(std::span<const Var> in) override { return prelu(in[0], m_weight.read()); }
    std::string extraText() const override;

  private:
    Attribute m_weight;
};

}  // namespace sonde::nn
