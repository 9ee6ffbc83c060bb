#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/result.h"

namespace sonde::ops {

/// An activation of a recurrent layer by its ONNX name, with its parameters.
struct Activation {
    std::string name;
    double alpha = 0, beta = 0;

    double operator()(double x) const {
        switch (m_kind) {
            case Kind::Sigmoid: return 1 / (1 + std::exp(-x));
            case Kind::Tanh: return std::tanh(x);
            case Kind::Relu: return x < 0 ? 0 : x;
            case Kind::LeakyRelu: return x < 0 ? alpha * x : x;
            case Kind::ThresholdedRelu: return x > alpha ? x : 0;
            case Kind::Affine: return alpha * x + beta;
            case Kind::ScaledTanh: return alpha * std::tanh(beta * x);
            case Kind::HardSigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
            case Kind::Elu: return x < 0 ? alpha * std::expm1(x) : x;
            case Kind::Softsign: return x / (1 + std::fabs(x));
            case Kind::Softplus: return std::log1p(std::exp(-std::fabs(x))) + std::max(x, 0.0);
        }
        return x;
    }

    /// As an expression, with {} for x.
    std::string formula() const;
    /// From the name, with the parameters that it has where none are given. Error: a name that is not known.
    base::Result<void> resolve();

  private:
    // clang-format off
    enum class Kind { Sigmoid, Tanh, Relu, LeakyRelu, ThresholdedRelu, Affine, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus } m_kind = Kind::Tanh;
    // clang-format on
};

}  // namespace sonde::ops
