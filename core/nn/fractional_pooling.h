#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// How large the output of a fractional pooling is: in numbers, or as a share of the input; one of the two.
struct FractionalPoolOptions {
    Ints outputSize = {};                  ///< one number for all axes or one each
    std::vector<double> outputRatio = {};  ///< 0…1
    bool returnIndices = false;
    Tensor samples = {};  ///< [N,C,axes] in 0…1: fixed places of the windows; none: random ones at each call
};

/// Largest number of windows that begin at random places (Graham 2014, arXiv:1412.6071): with a = (L - k) / (L' - 1)
/// and u random in 0…1, window i of an axis begins at floor((i + u) a) - floor(u a), the last one at L - k. x [N,C,…]
/// or [C,…]; with returnIndices the pair with places as MaxPool's.
class FractionalMaxPool : public Layer {
  public:
    bool makesTensor() const override { return !m_options.returnIndices; }
    Var forward(std::span<const Var> in) override;

  protected:
    /// Throws TraceError (ValueError) unless the options give exactly one size.
    FractionalMaxPool(std::string className, std::size_t axes, const Sizes& kernel, FractionalPoolOptions options);

  private:
    Ints m_kernel;
    FractionalPoolOptions m_options;
    Attribute m_samples;
};
struct FractionalMaxPool2d : FractionalMaxPool {
    FractionalMaxPool2d(const Sizes& kernel, FractionalPoolOptions options)
        : FractionalMaxPool("FractionalMaxPool2d", 2, kernel, std::move(options)) {}
};
struct FractionalMaxPool3d : FractionalMaxPool {
    FractionalMaxPool3d(const Sizes& kernel, FractionalPoolOptions options)
        : FractionalMaxPool("FractionalMaxPool3d", 3, kernel, std::move(options)) {}
};

}  // namespace sonde::nn
