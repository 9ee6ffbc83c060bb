#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// An operator of one tensor with constant settings. x -> y of the same shape.
class ActivationLayer : public Layer {
  public:
    ActivationLayer(std::string className, std::string_view op, std::string_view display, std::vector<Var> settings = {})
        : Layer(std::move(className)), m_op(op), m_display(display), m_settings(std::move(settings)) {}
    Var forward(std::span<const Var> in) override;

  private:
    std::string_view m_op;
    std::string_view m_display;
    std::vector<Var> m_settings;
};

struct ReLU : ActivationLayer {  ///< max(x, 0)
    ReLU() : ActivationLayer("ReLU", "relu", "relu") {}
};
struct ReLU6 : ActivationLayer {  ///< min(max(x, 0), 6)
    ReLU6() : ActivationLayer("ReLU6", "hardtanh", "hardtanh", {0.0, 6.0}) {}
};
struct Hardtanh : ActivationLayer {  ///< min(max(x, low), high)
    explicit Hardtanh(double low = -1, double high = 1) : ActivationLayer("Hardtanh", "hardtanh", "hardtanh", {low, high}) {}
};
struct LeakyReLU : ActivationLayer {  ///< x if x > 0, else slope x
    explicit LeakyReLU(double slope = 0.01) : ActivationLayer("LeakyReLU", "leaky_relu", "leaky_relu", {slope}) {}
};
struct ELU : ActivationLayer {  ///< x if x > 0, else alpha (e^x - 1)
    explicit ELU(double alpha = 1) : ActivationLayer("ELU", "elu", "elu", {alpha}) {}
};
struct CELU : ActivationLayer {  ///< max(x, 0) + min(0, alpha (e^(x / alpha) - 1))
    explicit CELU(double alpha = 1) : ActivationLayer("CELU", "celu", "celu", {alpha}) {}
};
struct SELU : ActivationLayer {  ///< scale (max(x, 0) + min(0, alpha (e^x - 1))), arXiv:1706.02515
    SELU() : ActivationLayer("SELU", "selu", "selu") {}
};
struct GELU : ActivationLayer {  ///< x Phi(x), arXiv:1606.08415
    GELU() : ActivationLayer("GELU", "gelu", "gelu") {}
};
struct SiLU : ActivationLayer {  ///< x sigmoid(x)
    SiLU() : ActivationLayer("SiLU", "silu", "silu") {}
};
struct Mish : ActivationLayer {  ///< x tanh(ln(1 + e^x)), arXiv:1908.08681
    Mish() : ActivationLayer("Mish", "mish", "mish") {}
};
struct Sigmoid : ActivationLayer {  ///< 1 / (1 + e^-x)
    Sigmoid() : ActivationLayer("Sigmoid", "sigmoid", "sigmoid") {}
};
struct LogSigmoid : ActivationLayer {  ///< ln sigmoid(x)
    LogSigmoid() : ActivationLayer("LogSigmoid", "log_sigmoid", "logsigmoid") {}
};
struct Tanh : ActivationLayer {
    Tanh() : ActivationLayer("Tanh", "tanh", "tanh") {}
};
struct Tanhshrink : Layer {  ///< x - tanh(x)
    Tanhshrink() : Layer("Tanhshrink") {}
    Var forward(std::span<const Var> in) override;
};
struct Softplus : ActivationLayer {  ///< ln(1 + e^(beta x)) / beta, x itself above the threshold
    explicit Softplus(double beta = 1, double threshold = 20) : ActivationLayer("Softplus", "softplus", "softplus", {beta, threshold}) {}
};
struct Softsign : Layer {  ///< x / (1 + |x|)
    Softsign() : Layer("Softsign") {}
    Var forward(std::span<const Var> in) override;
};
struct Softshrink : ActivationLayer {  ///< x moved toward 0 by lambda
    explicit Softshrink(double lambda = 0.5) : ActivationLayer("Softshrink", "softshrink", "softshrink", {lambda}) {}
};
struct Hardshrink : ActivationLayer {  ///< x, or 0 if |x| <= lambda
    explicit Hardshrink(double lambda = 0.5) : ActivationLayer("Hardshrink", "hardshrink", "hardshrink", {lambda}) {}
};
struct Hardswish : ActivationLayer {  ///< x min(max(x + 3, 0), 6) / 6, arXiv:1905.02244
    Hardswish() : ActivationLayer("Hardswish", "hardswish", "hardswish") {}
};
struct Hardsigmoid : ActivationLayer {  ///< min(max(x + 3, 0), 6) / 6
    Hardsigmoid() : ActivationLayer("Hardsigmoid", "hardsigmoid", "hardsigmoid") {}
};
struct Threshold : ActivationLayer {  ///< x if x > threshold, else value
    Threshold(double threshold, double value) : ActivationLayer("Threshold", "threshold", "threshold", {threshold, value}) {}
};
struct GLU : ActivationLayer {  ///< first half times sigmoid of the second half along dim
    explicit GLU(std::int64_t dim = -1) : ActivationLayer("GLU", "glu", "glu", {dim}) {}
};
struct Softmax : ActivationLayer {  ///< e^x / sum e^x along dim
    explicit Softmax(std::int64_t dim) : ActivationLayer("Softmax", "softmax.int", "softmax", {dim}) {}
};
struct LogSoftmax : ActivationLayer {
    explicit LogSoftmax(std::int64_t dim) : ActivationLayer("LogSoftmax", "log_softmax.int", "log_softmax", {dim}) {}
};
struct Softmin : Layer {  ///< softmax of -x
    explicit Softmin(std::int64_t dim) : Layer("Softmin"), m_dim(dim) {}
    Var forward(std::span<const Var> in) override;

  private:
    std::int64_t m_dim;
};

/// x if x > 0, else weight_c x with a learned slope per channel or one for all, arXiv:1502.01852. weight [C] or [1].
class PReLU : public Layer {
  public:
    explicit PReLU(std::int64_t parameters = 1);
    Var forward(std::span<const Var> in) override;

  private:
    Attribute m_weight;
};

/// Drops values with probability p and scales the rest by 1 / (1 - p) while training; y = x otherwise.
class Dropout : public Layer {
  public:
    explicit Dropout(double p = 0.5) : Layer("Dropout"), m_p(p) {}
    Var forward(std::span<const Var> in) override;

  private:
    double m_p;
};

}  // namespace sonde::nn
