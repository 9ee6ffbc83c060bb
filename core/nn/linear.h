#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// y = x W^T + b.  x […,I] -> y […,O]; weight [O,I], bias [O].
class Linear : public Layer {
  public:
    Linear(std::int64_t inFeatures, std::int64_t outFeatures, bool bias = true);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;
    const Attribute& weight() const { return m_weight; }
    const Attribute& bias() const { return m_bias; }
    /// Shares another module's parameter (tied weights).
    void setWeight(const Attribute& weight);

  protected:
    Linear(std::string className, std::int64_t inFeatures, std::int64_t outFeatures, bool bias);

  private:
    Attribute m_weight;
    Attribute m_bias;
};

/// y_o = x1^T W_o x2 + b_o.  x1 […,I], x2 […,J] -> y […,O]; weight [O,I,J], bias [O].
class Bilinear : public Layer {
  public:
    Bilinear(std::int64_t in1, std::int64_t in2, std::int64_t out, bool bias = true);
    std::vector<ForwardParameter> signature() const override {
        return {{"input1", {}, false, true}, {"input2", {}, false, true}};
    }
    Var forward(std::span<const Var> in) override;

  private:
    Attribute m_weight;
    Attribute m_bias;
};

}  // namespace sonde::nn
