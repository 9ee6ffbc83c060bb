#pragma once

#include <QTest>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/document/evaluator.h"
#include "core/exec/runner.h"
#include "core/graph/internal_graph.h"
#include "core/nn/module.h"
#include "tests/support/numbers.h"

namespace sonde::test {

/// A module whose forward is a function, with parts and tensors added by name.
class Custom final : public nn::Module {
  public:
    using Forward = std::function<trace::Var(Custom&, std::span<const trace::Var>)>;
    Custom(std::string className, Forward forward, std::vector<trace::ForwardParameter> parameters)
        : m_className(std::move(className)), m_forward(std::move(forward)), m_parameters(std::move(parameters)) {}
    std::string className() const override { return m_className; }
    std::vector<trace::ForwardParameter> signature() const override { return m_parameters; }
    bool makesTensor() const override { return false; }
    trace::Var forward(std::span<const trace::Var> in) override { return m_forward(*this, in); }
    nn::Module& at(const char* name) { return *child(name); }
    trace::Var tensor(const char* name) const {
        for (const NamedSlot& named : ownTensors()) {
            if (named.name == name) return trace::Attribute(named.slot).read();
        }
        return {};
    }
    using Module::addBuffer;
    using Module::addParameter;

  private:
    std::string m_className;
    Forward m_forward;
    std::vector<trace::ForwardParameter> m_parameters;
};

inline std::shared_ptr<Custom> custom(std::string name, Custom::Forward forward,
                                      std::vector<trace::ForwardParameter> parameters = {{"x", {}, false, true}}) {
    return std::make_shared<Custom>(std::move(name), std::move(forward), std::move(parameters));
}

inline std::string argumentText(const graph::InternalGraph& graph, const graph::Argument& argument) {
    using Kind = graph::Argument::Kind;
    std::string text;
    for (std::size_t i = 0; i < argument.items.size(); ++i) {
        std::string item = argumentText(graph, argument.items[i]);
        if (argument.kind == Kind::Slice && item == "None") item.clear();
        if (argument.kind == Kind::Slice && i == 2 && item.empty()) break;
        if (i) text += argument.kind == Kind::Slice ? ":" : ",";
        text += item;
    }
    switch (argument.kind) {
        case Kind::Node: return graph.node(argument.node).name;
        case Kind::Constant: return argument.constant.isNone() ? "None" : argument.constant.text();
        case Kind::List: return '[' + text + ']';
        case Kind::Tuple: return '(' + text + ')';
        default: return text;
    }
}

/// The main body on one line: "x clone(x) add_(clone,2) output(add_)". A get_attr stands as its name alone.
inline std::string oneLine(const graph::InternalGraph& graph) {
    std::string result;
    for (graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        std::string text;
        for (graph::NodeId node : expr.outputs) text += (text.empty() ? "" : "&") + graph.node(node).name;
        if (expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::GetAttr) {
            std::string arguments;
            for (const graph::Argument& argument : expr.arguments)
                arguments += (arguments.empty() ? "" : ",") + argumentText(graph, argument);
            for (const auto& [key, value] : expr.keywords)
                arguments += (arguments.empty() ? "" : ",") + key + '=' + argumentText(graph, value);
            text += '(' + arguments + ')';
        }
        result += (result.empty() ? "" : " ") + text;
    }
    return result;
}

/// Names of the main body's nodes.
inline std::string names(const graph::InternalGraph& graph) {
    std::string result;
    for (graph::ExprId id : graph.main().order) {
        for (graph::NodeId node : graph.expr(id).outputs) result += (result.empty() ? "" : " ") + graph.node(node).name;
    }
    return result;
}

inline exec::Recording runGraph(const std::shared_ptr<const graph::InternalGraph>& graph,
                                const std::vector<tensor::Value>& inputs, exec::PlanOptions options = {}) {
    const auto plan = exec::Plan::make(graph, std::move(options));
    exec::Runner runner(1);
    return runner.run(**plan, inputs);
}

inline std::vector<double> resultOf(const std::shared_ptr<const graph::InternalGraph>& graph,
                                    const std::vector<tensor::Value>& inputs) {
    const exec::Recording recording = runGraph(graph, inputs);
    if (recording.error) qWarning("%s", recording.error->text().c_str());
    std::vector<double> result;
    for (const tensor::Value& value : recording.outputs) {
        for (double number : numbers(value)) result.push_back(number);
    }
    return result;
}

inline tensor::Value floats(tensor::Shape shape, std::vector<float> values) {
    return tensor::Value(tensor::Tensor::of<float>(std::move(shape), values));
}

}  // namespace sonde::test
