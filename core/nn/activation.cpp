#include "core/nn/activation.h"

#include <algorithm>

namespace sonde::nn {

namespace {

std::string setting(const char* name, double value) { return std::string(name) + '=' + Var(value).value().text(); }
std::string dimension(std::int64_t dim) { return "dim=" + std::to_string(dim); }

}  // namespace

Hardtanh::Hardtanh(double low, double high)
    : ActivationLayer(
          "Hardtanh", [low, high](const Var& x) { return hardtanh(x, low, high); },
          setting("min_val", low) + ", " + setting("max_val", high)) {}

LeakyReLU::LeakyReLU(double slope)
    : ActivationLayer(
          "LeakyReLU", [slope](const Var& x) { return leakyRelu(x, slope); }, setting("negative_slope", slope)) {}

ELU::ELU(double alpha)
    : ActivationLayer(
          "ELU", [alpha](const Var& x) { return elu(x, alpha); }, setting("alpha", alpha)) {}

CELU::CELU(double alpha)
    : ActivationLayer(
          "CELU", [alpha](const Var& x) { return celu(x, alpha); }, setting("alpha", alpha)) {}

GELU::GELU(const std::string& approximate)
    : ActivationLayer(
          "GELU", [approximate](const Var& x) { return gelu(x, approximate); }, "approximate='" + approximate + "'") {}

Softplus::Softplus(double beta, double threshold)
    : ActivationLayer(
          "Softplus", [beta, threshold](const Var& x) { return softplus(x, beta, threshold); },
          setting("beta", beta) + ", " + setting("threshold", threshold)) {}

Softshrink::Softshrink(double lambda)
    : ActivationLayer(
          "Softshrink", [lambda](const Var& x) { return softshrink(x, lambda); }, setting("lambd", lambda)) {}

Hardshrink::Hardshrink(double lambda)
    : ActivationLayer(
          "Hardshrink", [lambda](const Var& x) { return hardshrink(x, lambda); }, setting("lambd", lambda)) {}

Threshold::Threshold(double threshold, double value)
    : ActivationLayer(
          "Threshold", [threshold, value](const Var& x) { return nn::threshold(x, threshold, value); },
          setting("threshold", threshold) + ", " + setting("value", value)) {}

GLU::GLU(std::int64_t dim)
    : ActivationLayer(
          "GLU", [dim](const Var& x) { return glu(x, dim); }, dimension(dim)) {}

Softmax::Softmax(std::int64_t dim)
    : ActivationLayer(
          "Softmax", [dim](const Var& x) { return softmax(x, dim); }, dimension(dim)) {}

LogSoftmax::LogSoftmax(std::int64_t dim)
    : ActivationLayer(
          "LogSoftmax", [dim](const Var& x) { return logSoftmax(x, dim); }, dimension(dim)) {}

Softmin::Softmin(std::int64_t dim)
    : ActivationLayer(
          "Softmin", [dim](const Var& x) { return softmin(x, dim); }, dimension(dim)) {}

std::string RReLU::extraText() const { return setting("lower", m_lower) + ", " + setting("upper", m_upper); }

PReLU::PReLU(std::int64_t parameters, double init)
    : Layer("PReLU"), m_weight(addParameter("weight", zeros({parameters}))) {
    std::ranges::fill(m_weight.slot()->value.mutableSpan<float>(), static_cast<float>(init));
}

std::string PReLU::extraText() const { return "num_parameters=" + std::to_string(m_weight.value().numel()); }

}  // namespace sonde::nn
