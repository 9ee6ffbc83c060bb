#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// More numbers at the edges of the last n axes: x […,L…] -> y […,L + before + after…].
/// `padding` is one number for all edges, or before and after for each axis, the LAST axis first: left, right, top,
/// bottom, front, back. Negative numbers cut off. What is there, at distance d from the edge:
///   constant: a number;  reflection: x at d (the edge itself is not repeated);  replication: the edge;
///   circular: what is at the opposite edge.
class PadLayer : public Layer {
  public:
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  protected:
    PadLayer(std::string className, std::size_t axes, const Sizes& padding, std::string mode, Var value = {});

  private:
    Ints m_padding;
    std::string m_mode;
    Var m_value;
};

/// The layers for 1, 2 and 3 axes, with PyTorch's names.
template <std::size_t axes>
struct ConstantPad : PadLayer {
    ConstantPad(const Sizes& padding, double value)
        : PadLayer("ConstantPad" + std::to_string(axes) + 'd', axes, padding, "constant", value) {}
};
template <std::size_t axes>
struct ZeroPad : PadLayer {
    explicit ZeroPad(const Sizes& padding)
        : PadLayer("ZeroPad" + std::to_string(axes) + 'd', axes, padding, "constant", 0.0) {}
};
template <std::size_t axes>
struct ReflectionPad : PadLayer {
    explicit ReflectionPad(const Sizes& padding)
        : PadLayer("ReflectionPad" + std::to_string(axes) + 'd', axes, padding, "reflect") {}
};
template <std::size_t axes>
struct ReplicationPad : PadLayer {
    explicit ReplicationPad(const Sizes& padding)
        : PadLayer("ReplicationPad" + std::to_string(axes) + 'd', axes, padding, "replicate") {}
};
template <std::size_t axes>
struct CircularPad : PadLayer {
    explicit CircularPad(const Sizes& padding)
        : PadLayer("CircularPad" + std::to_string(axes) + 'd', axes, padding, "circular") {}
};

using ConstantPad1d = ConstantPad<1>;
using ConstantPad2d = ConstantPad<2>;
using ConstantPad3d = ConstantPad<3>;
using ZeroPad1d = ZeroPad<1>;
using ZeroPad2d = ZeroPad<2>;
using ZeroPad3d = ZeroPad<3>;
using ReflectionPad1d = ReflectionPad<1>;
using ReflectionPad2d = ReflectionPad<2>;
using ReflectionPad3d = ReflectionPad<3>;
using ReplicationPad1d = ReplicationPad<1>;
using ReplicationPad2d = ReplicationPad<2>;
using ReplicationPad3d = ReplicationPad<3>;
using CircularPad1d = CircularPad<1>;
using CircularPad2d = CircularPad<2>;
using CircularPad3d = CircularPad<3>;

}  // namespace sonde::nn
