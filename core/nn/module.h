#pragma once

// What a layer is written with. A module of one's own:
//
//     class Block : public nn::Module {
//       public:
//         explicit Block(std::int64_t c) : m_conv(add("conv", std::make_shared<nn::Conv2d>(c, c, 3))) {}
//         std::string className() const override { return "Block"; }
//         Var forward(std::span<const Var> in) override { return nn::relu((*m_conv)(in[0])) + in[0]; }
//       private:
//         std::shared_ptr<nn::Conv2d> m_conv;
//     };

#include <functional>
#include <span>

#include "core/trace/module.h"
#include "core/trace/record.h"
#include "core/trace/var.h"

namespace sonde::nn {

using tensor::Tensor;
using trace::Attribute;
using trace::ForwardParameter;
using trace::Keywords;
using trace::Module;
using trace::Var;

using Ints = std::vector<std::int64_t>;

/// A module that comes with Sonde: a leaf for tracers.
class Layer : public Module {
  public:
    explicit Layer(std::string className) : m_className(std::move(className)) {}
    std::string className() const final { return m_className; }
    bool isLibrary() const override { return true; }

  private:
    std::string m_className;
};

/// Parameters of this size and more take memory only when they are read.
inline constexpr std::int64_t kDeferredNumel = 16384;

/// New tensors for parameters, float32. Throw TraceError (MemoryError's text) if there is no room.
Tensor zeros(const tensor::Shape& shape);
Tensor ones(const tensor::Shape& shape);
/// Zeros, or what `fill` makes of them when the tensor is first read.
Tensor deferred(const tensor::Shape& shape, std::function<void(std::span<float>)> fill);

/// n copies of a number: `3` as a kernel size of a 2-d layer means [3, 3].
Ints repeated(std::int64_t value, std::size_t n);
/// Integers given as one (for all axes) or as one per axis.
struct Sizes {
    Ints values;
    Sizes(std::int64_t value) : values{value} {}
    Sizes(int value) : values{value} {}
    Sizes(Ints list) : values(std::move(list)) {}
    Sizes(std::initializer_list<std::int64_t> list) : values(list) {}
    Ints of(std::size_t n) const {
        return values.size() == n ? values : repeated(values.empty() ? 0 : values.front(), n);
    }
};

/// A window moves by its own size unless a stride is given.
inline Ints strideOr(const Sizes& stride, const Ints& kernel) {
    return stride.values.empty() ? kernel : stride.of(kernel.size());
}

}  // namespace sonde::nn
