#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/conv.h"
#include "core/nn/dropout.h"
#include "core/nn/embedding.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/nn/module.h"
#include "core/nn/normalization.h"
#include "core/nn/pooling.h"

// What the built-in models are written with.

namespace sonde::zoo {

using nn::Attribute;
using nn::ForwardParameter;
using nn::Module;
using nn::Var;
using ModulePtr = std::shared_ptr<Module>;

template <typename M, typename... Args>
std::shared_ptr<M> make(Args&&... args) {
    return std::make_shared<M>(std::forward<Args>(args)...);
}

inline ModulePtr relu() { return make<nn::ReLU>(); }

/// A module of a model: its class's name, and the parameters of its forward (tensors without a default).
class Block : public Module {
  public:
    explicit Block(std::string className, std::initializer_list<const char*> parameters = {"x"})
        : m_className(std::move(className)) {
        for (const char* name : parameters) m_parameters.push_back({name, std::nullopt, false, true});
    }
    Block(std::string className, std::vector<ForwardParameter> parameters)
        : m_className(std::move(className)), m_parameters(std::move(parameters)) {}
    std::string className() const final { return m_className; }
    std::vector<ForwardParameter> signature() const final { return m_parameters; }

  private:
    std::string m_className;
    std::vector<ForwardParameter> m_parameters;
};

/// A Sequential under the name of its own class ("Conv2dNormActivation").
class NamedSequential : public nn::Sequential {
  public:
    explicit NamedSequential(std::string className, std::vector<ModulePtr> modules = {})
        : nn::Sequential(std::move(modules)), m_className(std::move(className)) {}
    std::string className() const final { return m_className; }

  private:
    std::string m_className;
};

inline std::shared_ptr<nn::Sequential> sequential(std::vector<ModulePtr> modules = {}) {
    return std::make_shared<nn::Sequential>(std::move(modules));
}

/// Settings of a convolution without a bias, with the padding that keeps the size at stride 1 (odd kernels).
inline nn::ConvOptions noBias(std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1) {
    return {
        .stride = stride, .padding = kernel / 2, .dilation = 1, .groups = groups, .bias = false, .outputPadding = 0};
}
/// The same with a bias.
inline nn::ConvOptions withBias(std::int64_t stride = 1, std::int64_t padding = 0) {
    return {.stride = stride, .padding = padding, .dilation = 1, .groups = 1, .bias = true, .outputPadding = 0};
}

/// Mean over windows that divide the map into size x size cells, as a function.
inline Var adaptiveAvgPool(const Var& x, std::int64_t size) {
    return trace::callFunction(
        {"adaptive_avg_pool2d", "adaptive_avg_pool2d", "torch.nn.functional.adaptive_avg_pool2d"},
        {x, nn::Ints{size, size}});
}

}  // namespace sonde::zoo
