#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// More numbers at the edges of the last n axes: x […,L…] -> y […,L + before + after…].
/// `padding` is one number for all edges, or before and after for each axis, the LAST axis first: left, right, top, bottom,
/// front, back. Negative numbers cut off. What stands there, at distance d from the edge:
///   constant: a number;  reflection: x at d (the edge itself is not repeated);  replication: the edge;
///   circular: what stands at the opposite edge.
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

struct ConstantPad1d : PadLayer {
    ConstantPad1d(const Sizes& padding, double value) : PadLayer("ConstantPad1d", 1, padding, "constant", value) {}
};
struct ConstantPad2d : PadLayer {
    ConstantPad2d(const Sizes& padding, double value) : PadLayer("ConstantPad2d", 2, padding, "constant", value) {}
};
struct ConstantPad3d : PadLayer {
    ConstantPad3d(const Sizes& padding, double value) : PadLayer("ConstantPad3d", 3, padding, "constant", value) {}
};
struct ZeroPad1d : PadLayer {
    explicit ZeroPad1d(const Sizes& padding) : PadLayer("ZeroPad1d", 1, padding, "constant", 0.0) {}
};
struct ZeroPad2d : PadLayer {
    explicit ZeroPad2d(const Sizes& padding) : PadLayer("ZeroPad2d", 2, padding, "constant", 0.0) {}
};
struct ZeroPad3d : PadLayer {
    explicit ZeroPad3d(const Sizes& padding) : PadLayer("ZeroPad3d", 3, padding, "constant", 0.0) {}
};
struct ReflectionPad1d : PadLayer {
    explicit ReflectionPad1d(const Sizes& padding) : PadLayer("ReflectionPad1d", 1, padding, "reflect") {}
};
struct ReflectionPad2d : PadLayer {
    explicit ReflectionPad2d(const Sizes& padding) : PadLayer("ReflectionPad2d", 2, padding, "reflect") {}
};
struct ReflectionPad3d : PadLayer {
    explicit ReflectionPad3d(const Sizes& padding) : PadLayer("ReflectionPad3d", 3, padding, "reflect") {}
};
struct ReplicationPad1d : PadLayer {
    explicit ReplicationPad1d(const Sizes& padding) : PadLayer("ReplicationPad1d", 1, padding, "replicate") {}
};
struct ReplicationPad2d : PadLayer {
    explicit ReplicationPad2d(const Sizes& padding) : PadLayer("ReplicationPad2d", 2, padding, "replicate") {}
};
struct ReplicationPad3d : PadLayer {
    explicit ReplicationPad3d(const Sizes& padding) : PadLayer("ReplicationPad3d", 3, padding, "replicate") {}
};
struct CircularPad1d : PadLayer {
    explicit CircularPad1d(const Sizes& padding) : PadLayer("CircularPad1d", 1, padding, "circular") {}
};
struct CircularPad2d : PadLayer {
    explicit CircularPad2d(const Sizes& padding) : PadLayer("CircularPad2d", 2, padding, "circular") {}
};
struct CircularPad3d : PadLayer {
    explicit CircularPad3d(const Sizes& padding) : PadLayer("CircularPad3d", 3, padding, "circular") {}
};

}  // namespace sonde::nn
