#pragma once

#include "core/nn/functional.h"
#include "core/nn/module.h"

namespace sonde::nn {

/// Drops values with probability p while training (Hinton et al. 2012, arXiv:1207.0580); y = x otherwise. x -> y of
/// that shape.
class DropoutLayer : public Layer {
  public:
    Var forward(std::span<const Var> in) override { return m_drop(in[0], m_p, isTraining()); }
    std::string extraText() const override { return "p=" + Var(m_p).value().text(); }

  protected:
    using Drop = Var (*)(const Var& x, double p, bool training);
    DropoutLayer(std::string className, Drop drop, double p) : Layer(std::move(className)), m_drop(drop), m_p(p) {}

  private:
    Drop m_drop;
    double m_p;
};

struct Dropout : DropoutLayer {  ///< single values; the rest is scaled by 1 / (1 - p)
    explicit Dropout(double p = 0.5) : DropoutLayer("Dropout", dropout, p) {}
};
struct Dropout1d : DropoutLayer {  ///< whole channels of x [N,C,L] (Tompson et al. 2014, arXiv:1411.4280)
    explicit Dropout1d(double p = 0.5) : DropoutLayer("Dropout1d", featureDropout, p) {}
};
struct Dropout2d : DropoutLayer {  ///< whole channels of x [N,C,H,W]
    explicit Dropout2d(double p = 0.5) : DropoutLayer("Dropout2d", featureDropout, p) {}
};
struct Dropout3d : DropoutLayer {  ///< whole channels of x [N,C,D,H,W]
    explicit Dropout3d(double p = 0.5) : DropoutLayer("Dropout3d", featureDropout, p) {}
};
struct AlphaDropout : DropoutLayer {  ///< keeps mean and variance after SELU (Klambauer et al. 2017, arXiv:1706.02515)
    explicit AlphaDropout(double p = 0.5) : DropoutLayer("AlphaDropout", alphaDropout, p) {}
};
struct FeatureAlphaDropout : DropoutLayer {  ///< the same for whole channels
    explicit FeatureAlphaDropout(double p = 0.5) : DropoutLayer("FeatureAlphaDropout", featureAlphaDropout, p) {}
};

}  // namespace sonde::nn
