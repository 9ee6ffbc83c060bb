#pragma once

// The models of the robust tracer's reference (part (c), worked examples), and graphs as short text.

#include <functional>
#include <memory>
#include <string>

#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/trace/robust_tracer.h"

namespace robust_models {

using namespace sonde;
using nn::Var;

/// A module whose forward is a function that may use the module's children.
class Custom : public nn::Module {
  public:
    using Forward = std::function<Var(Custom&, std::span<const Var>)>;
    Custom(std::string className, Forward forward, std::vector<trace::ForwardParameter> parameters)
        : m_className(std::move(className)), m_forward(std::move(forward)), m_parameters(std::move(parameters)) {}
    std::string className() const override { return m_className; }
    std::vector<trace::ForwardParameter> signature() const override { return m_parameters; }
    Var forward(std::span<const Var> in) override { return m_forward(*this, in); }
    nn::Module& at(const char* name) { return *child(name); }

  private:
    std::string m_className;
    Forward m_forward;
    std::vector<trace::ForwardParameter> m_parameters;
};

inline std::shared_ptr<Custom> custom(std::string name, Custom::Forward forward,
                                      std::vector<trace::ForwardParameter> parameters = {{"x", std::nullopt, false}}) {
    return std::make_shared<Custom>(std::move(name), std::move(forward), std::move(parameters));
}

inline std::shared_ptr<nn::Linear> linear() { return std::make_shared<nn::Linear>(4, 4); }
inline std::shared_ptr<nn::Sequential> sequential(std::vector<std::shared_ptr<nn::Module>> modules) {
    return std::make_shared<nn::Sequential>(std::move(modules));
}

/// Calls its children one after the other, in the order of `names`.
inline std::shared_ptr<Custom> chain(std::string className,
                                     std::vector<std::pair<const char*, std::shared_ptr<nn::Module>>> modules) {
    std::vector<const char*> names;
    for (const auto& [name, module] : modules) names.push_back(name);
    auto result = custom(std::move(className), [names](Custom& self, std::span<const Var> in) {
        Var x = in[0];
        for (const char* name : names) x = self.at(name)(x);
        return x;
    });
    for (const auto& [name, module] : modules) result->addChild(name, module);
    return result;
}

/// Flag{conv}: forward(x, test_flag=false): test_flag ? conv(x + 1) : conv(x)
inline std::shared_ptr<Custom> flag() {
    auto module =
        custom("Flag", [](Custom& self, std::span<const Var> in) { return self.at("conv")(in[1] ? in[0] + 1 : in[0]); },
               {{"x", std::nullopt, false}, {"test_flag", tensor::Value::ofBool(false), false}});
    module->addChild("conv", linear());
    return module;
}

/// Err: forward(x) = iterate x
inline std::shared_ptr<Custom> err() {
    return custom("Err", [](Custom&, std::span<const Var> in) { return in[0].iterate().front(); });
}

/// CF{a: linear, b: Sequential(linear, relu)}: x = a(x); if sum(x) > 0 return b(x); return x
inline std::shared_ptr<Custom> controlFlow() {
    auto module = custom("CF", [](Custom& self, std::span<const Var> in) {
        const Var x = self.at("a")(in[0]);
        return nn::sum(x) > 0 ? self.at("b")(x) : x;
    });
    module->addChild("a", linear());
    module->addChild("b", sequential({linear(), std::make_shared<nn::ReLU>()}));
    return module;
}

/// KW{l}: forward(x, mask=None, scale=2.0, *, mode='a'): l(x), times the mask if there is one, times the scale
inline std::shared_ptr<Custom> keywords() {
    auto module = custom("KW",
                         [](Custom& self, std::span<const Var> in) {
                             Var x = self.at("l")(in[0]);
                             if (!in[1].isNone()) x = x * in[1];
                             if (in[3].value().toString() != "a") x = nn::relu(x);
                             return x * in[2];
                         },
                         {{"x", std::nullopt, false},
                          {"mask", tensor::Value(), false},
                          {"scale", tensor::Value::ofFloat(2.0), false},
                          {"mode", tensor::Value(std::string("a")), true}});
    module->addChild("l", linear());
    return module;
}

inline std::string text(const graph::InternalGraph& graph, const graph::Argument& argument) {
    using Kind = graph::Argument::Kind;
    if (argument.kind == Kind::Node) return graph.node(argument.node).name;
    if (argument.kind == Kind::Constant) return argument.constant.isNone() ? "None" : argument.constant.text();
    std::string items;
    for (const graph::Argument& item : argument.items) items += (items.empty() ? "" : ", ") + text(graph, item);
    return argument.kind == Kind::Tuple ? '(' + items + ')' : '[' + items + ']';
}

/// "x conv output"
inline std::string names(const graph::InternalGraph& graph) {
    std::string result;
    for (graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        result += result.empty() ? "" : " ";
        for (graph::NodeId node : expr.outputs) result += graph.node(node).name;
    }
    return result;
}

/// "add(x, 1)" of a node: its arguments.
inline std::string call(const graph::InternalGraph& graph, std::string_view node) {
    const graph::NodeId id = graph.findNode(node);
    if (!id.valid()) return "there is no node";
    std::string arguments;
    for (const graph::Argument& argument : graph.expr(graph.node(id).producer).arguments) {
        arguments += (arguments.empty() ? "" : ", ") + text(graph, argument);
    }
    return std::string(node) + '(' + arguments + ')';
}

inline std::string target(const graph::InternalGraph& graph, std::string_view node) {
    const graph::NodeId id = graph.findNode(node);
    return id.valid() ? graph.expr(graph.node(id).producer).target : "there is no node";
}

}  // namespace robust_models
