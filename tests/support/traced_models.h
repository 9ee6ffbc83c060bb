#pragma once

// Modules of the worked examples of the TracedModule reference.

#include <QtTest>

#include <functional>

#include "core/document/evaluator.h"
#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/conv.h"
#include "core/nn/functional.h"
#include "core/nn/initialize.h"
#include "core/nn/linear.h"
#include "core/nn/normalization.h"
#include "core/trace/traced_module.h"
#include "tests/support/numbers.h"

namespace sonde::test {

using nn::Var;
using tensor::Tensor;
using tensor::Value;
using trace::ForwardParameter;

/// A module whose forward is a lambda.
class Lambda : public nn::Module {
  public:
    using Forward = std::function<Var(Lambda&, std::span<const Var>)>;
    Lambda(std::string className, Forward forward, std::vector<ForwardParameter> parameters)
        : m_className(std::move(className)), m_forward(std::move(forward)), m_parameters(std::move(parameters)) {}
    std::string className() const override { return m_className; }
    std::vector<ForwardParameter> signature() const override { return m_parameters; }
    Var forward(std::span<const Var> in) override { return m_forward(*this, in); }
    trace::Attribute parameter(const std::string& name, Tensor value) { return addParameter(name, std::move(value)); }
    /// A tensor of its own, read as the program does.
    Var own(std::string_view name) const {
        for (const NamedSlot& named : ownTensors()) {
            if (named.name == name) return trace::Attribute(named.slot).read();
        }
        throw trace::TraceError(trace::TraceErrorKind::Attribute, std::string(name));
    }

  private:
    std::string m_className;
    Forward m_forward;
    std::vector<ForwardParameter> m_parameters;
};

inline std::shared_ptr<Lambda> lambda(std::string name, Lambda::Forward forward,
                                      std::vector<ForwardParameter> parameters = {{"x", std::nullopt, false, true}}) {
    return std::make_shared<Lambda>(std::move(name), std::move(forward), std::move(parameters));
}

/// float32 [values.size()].
inline Value vec(const std::vector<float>& values) {
    return Value(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, std::span<const float>(values)));
}
/// float32 of a shape, element i is (i % 7 - 3) / 4.
inline Value ramp(const tensor::Shape& shape) {
    Tensor tensor = Tensor::allocate(tensor::DType::Float32, shape).value();
    float* data = tensor.mutableData<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<float>(i % 7 - 3) / 4.0F;
    return Value(std::move(tensor));
}

/// The library's function under the short name of MegEngine's text form.
inline Var nnRelu(const Var& x) { return trace::callFunction(trace::Function{"relu", "relu", "nn.relu"}, {x}); }

/// W1. forward(x) = x + 1 + 2.
inline std::shared_ptr<Lambda> seed() {
    return lambda("Seed", [](Lambda&, std::span<const Var> in) { return in[0] + 1 + 2; });
}

/// W2. relu(linear(x + param)).
inline std::shared_ptr<Lambda> myModule() {
    auto module = lambda("MyModule", [](Lambda& self, std::span<const Var> in) {
        trace::Module& linear = self.use("linear");
        return nnRelu(linear(in[0] + self.own("param")));
    });
    module->addChild("linear", std::make_shared<nn::Linear>(4, 5));
    module->parameter("param", ramp({3, 4}).tensor());
    return module;
}

/// y = x as a module of the user.
inline std::shared_ptr<Lambda> nothing() {
    return lambda("MyIdentity", [](Lambda&, std::span<const Var> in) { return in[0]; });
}

/// W3. x = conv1(x); x = bn1(x); x = relu(x) + 1; return nothing(x).
inline std::shared_ptr<Lambda> myBlock(std::int64_t channels = 3) {
    auto module = lambda("MyBlock", [](Lambda& self, std::span<const Var> in) {
        Var x = self.use("conv1")(in[0]);
        x = self.use("bn1")(x);
        x = nnRelu(x) + 1;
        return self.use("nothing")(x);
    });
    nn::ConvOptions options;
    options.padding = 1;
    module->addChild("conv1", std::make_shared<nn::Conv2d>(channels, channels, 3, options));
    module->addChild("bn1", std::make_shared<nn::BatchNorm2d>(channels));
    module->addChild("nothing", nothing());
    nn::initialize(*module, 1);
    return module;
}

/// W3. block0, block1, nothing.
inline std::shared_ptr<Lambda> net() {
    auto module = lambda("Net", [](Lambda& self, std::span<const Var> in) {
        Var x = self.use("block0")(in[0]);
        x = self.use("block1")(x);
        return self.use("nothing")(x);
    });
    module->addChild("block0", myBlock());
    module->addChild("block1", myBlock());
    module->addChild("nothing", nothing());
    nn::initialize(*module, 1);
    return module;
}
inline Value netInput() { return ramp({1, 3, 6, 6}); }

/// W4. a(x) + a(x, k=3) with a: x * w * k, k = 1 by default, w = 2.
inline std::shared_ptr<Lambda> sharedTwice() {
    auto a = lambda("A", [](Lambda& self, std::span<const Var> in) { return in[0] * self.own("w") * in[1]; },
                    {{"x", std::nullopt, false, true}, {"k", Value::ofInt(1), false}});
    a->parameter("w", vec({2}).tensor());
    auto module = lambda("Sh2", [](Lambda& self, std::span<const Var> in) {
        const Var first = self.use("a")(in[0]);
        return first + self.use("a").call({in[0]}, {{"k", 3}});
    });
    module->addChild("a", a);
    return module;
}

/// "0 self, 1 x, 2 add_out": all nodes in order.
inline std::string nodeList(const trace::ModuleGraph& graph, bool recursive = true) {
    std::string result;
    for (const trace::TracedNode* node : graph.nodes(recursive)) {
        result += (result.empty() ? "" : ", ") + std::to_string(node->id()) + ' ' + node->name();
    }
    return result;
}

/// Traces or ends the test.
inline std::shared_ptr<trace::TracedModule> traced(const std::shared_ptr<trace::Module>& module,
                                                   std::vector<Value> args,
                                                   std::vector<std::pair<std::string, Value>> keywords = {}) {
    auto result = trace::traceModule(module, std::move(args), std::move(keywords));
    if (!result) qFatal("%s", result.error().text().c_str());
    return *result;
}

inline trace::ModuleGraph& graphOf(const std::shared_ptr<trace::TracedModule>& module) { return **module->graph(); }

/// The node of that name in the graph itself.
inline trace::TracedNode* named(const trace::ModuleGraph& graph, const std::string& name) {
    for (trace::TracedNode* node : graph.nodes(false)) {
        if (node->name() == name) return node;
    }
    qFatal("no node %s", name.c_str());
}

template <typename Range>
std::string names(const Range& nodes) {
    std::string result;
    for (const trace::TracedNode* node : nodes) result += (result.empty() ? "" : " ") + node->name();
    return result;
}

template <typename Range>
std::string ids(const Range& items) {
    std::string result;
    for (const auto* item : items) result += (result.empty() ? "" : " ") + std::to_string(item->id());
    return result;
}

}  // namespace sonde::test

#define COMPARE_TEXT(actual, expected) QCOMPARE(QString::fromStdString(actual), QString::fromUtf8(expected))
