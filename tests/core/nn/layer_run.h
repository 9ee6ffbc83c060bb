#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/document/evaluator.h"
#include "core/exec/runner.h"
#include "core/nn/module.h"
#include "core/trace/module_path_tracer.h"

namespace sonde::test {

using nn::Var;
using tensor::Tensor;
using tensor::Value;

/// A net of one layer, installed as `layer`, that calls it with its own arguments.
class OneLayer : public nn::Module {
  public:
    explicit OneLayer(std::shared_ptr<nn::Module> layer, std::vector<Value> arguments)
        : m_layer(add("layer", std::move(layer))), m_arguments(std::move(arguments)) {}
    std::string className() const override { return "Net"; }
    /// Tensors (also inside of tuples) are inputs, all else is written into the program.
    std::vector<trace::ForwardParameter> signature() const override {
        std::vector<trace::ForwardParameter> parameters;
        for (const Value& tensor : tensors(m_arguments))
            parameters.push_back({"x" + std::to_string(parameters.size()), {}, false, tensor.isTensor()});
        return parameters;
    }
    bool makesTensor() const override { return false; }
    Var forward(std::span<const Var> in) override {
        std::size_t next = 0;
        std::vector<Var> arguments;
        for (const Value& value : m_arguments) arguments.push_back(replaced(value, in, next));
        return m_layer->call(std::move(arguments), {});
    }
    static std::vector<Value> tensors(const std::vector<Value>& values) {
        std::vector<Value> result;
        for (const Value& value : values) {
            if (value.isTensor()) result.push_back(value);
            if (value.isListLike()) {
                for (const Value& inner : tensors({value.items().begin(), value.items().end()}))
                    result.push_back(inner);
            }
        }
        return result;
    }

  private:
    static Var replaced(const Value& value, std::span<const Var> in, std::size_t& next) {
        if (value.isTensor()) return in[next++];
        if (!value.isListLike()) return Var(value);
        std::vector<Var> items;
        for (const Value& item : value.items()) items.push_back(replaced(item, in, next));
        return value.kind() == tensor::ValueKind::Tuple ? Var::tuple(std::move(items)) : Var::list(std::move(items));
    }

    std::shared_ptr<nn::Module> m_layer;
    std::vector<Value> m_arguments;
};

/// What a layer makes of values: computed twice, by a direct call and by a run of a traced net around it. The trace
/// must have the layer as one call_module node whose inside was recorded. `problem` says what was not so.
struct LayerResult {
    std::vector<Tensor> outputs;  ///< tensors of the result in order, also those inside of tuples
    std::string problem;
    std::shared_ptr<graph::InternalGraph> graph;

    std::vector<float> floats(std::size_t output = 0) const {
        if (output >= outputs.size()) return {};
        const auto span = outputs[output].span<float>();
        return {span.begin(), span.end()};
    }
};

inline std::string compareTensors(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
    if (actual.typeText() != expected.typeText()) return actual.typeText() + " instead of " + expected.typeText();
    const Tensor a = actual.contiguous().value(), e = expected.contiguous().value();
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        const double x = a.toDouble(i), y = e.toDouble(i);
        if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= atol + rtol * std::fabs(y)) continue;
        return "element " + std::to_string(i) + " is " + std::to_string(x) + " instead of " + std::to_string(y);
    }
    return {};
}

/// `isRandom`: the layer draws other numbers in each run, so that both ways agree in types and shapes alone.
inline LayerResult runLayer(const std::shared_ptr<nn::Module>& layer, const std::vector<Value>& arguments,
                            bool isRandom = false) {
    const trace::EvaluatorScope evaluator(document::kernelEvaluator());
    LayerResult result;
    try {
        std::vector<Var> vars(arguments.begin(), arguments.end());
        const Var direct = layer->call(std::move(vars), {});
        for (const Value& value : OneLayer::tensors({direct.toValue()}))
            result.outputs.push_back(value.tensor().contiguous().value());
    } catch (const trace::TraceError& error) {
        result.problem = "direct call: " + error.message();
        return result;
    }
    trace::ModulePathTracer tracer;
    auto graph = tracer.trace(std::make_shared<OneLayer>(layer, arguments));
    if (!graph) {
        result.problem = "trace: " + graph.error().text();
        return result;
    }
    result.graph = *graph;
    for (const auto& [path, message] : tracer.failures())
        result.problem += "'" + path + "' is opaque: " + message + "\n";
    if (const auto valid = result.graph->validate(); !valid) result.problem += valid.error().text() + "\n";
    std::size_t calls = 0;
    for (graph::ExprId id : result.graph->main().order) {
        const graph::Expr& expr = result.graph->expr(id);
        if (expr.kind == graph::ExprKind::CallModule && expr.target == "layer") ++calls;
        else if (expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::Output)
            result.problem += "there is a node " + expr.target + " beside the layer\n";
    }
    if (calls != 1) result.problem += std::to_string(calls) + " call_module nodes\n";
    const auto plan = exec::Plan::make(result.graph, {});
    if (!plan) {
        result.problem += plan.error().text();
        return result;
    }
    exec::Runner runner(1);
    const std::vector<Value> inputs = OneLayer::tensors(arguments);
    const exec::Recording recording = runner.run(**plan, inputs);
    if (recording.error) {
        result.problem += "run: " + recording.error->text();
        return result;
    }
    const std::vector<Value> traced = OneLayer::tensors(recording.outputs);
    if (traced.size() != result.outputs.size())
        result.problem += std::to_string(traced.size()) + " outputs when traced\n";
    for (std::size_t i = 0; i < traced.size() && i < result.outputs.size(); ++i) {
        const double atol = isRandom ? std::numeric_limits<double>::infinity() : 1e-6;
        const std::string difference = compareTensors(traced[i].tensor(), result.outputs[i], 1e-5, atol);
        if (!difference.empty()) result.problem += "output " + std::to_string(i) + " when traced: " + difference + "\n";
    }
    return result;
}

/// What is wrong with an output: the run's own problem, or the first number that differs by more than 1e-5.
inline std::string compareFloats(const LayerResult& result, std::size_t output, const std::vector<float>& expected) {
    if (!result.problem.empty()) return result.problem;
    const std::vector<float> actual = result.floats(output);
    if (actual.size() != expected.size())
        return std::to_string(actual.size()) + " numbers instead of " + std::to_string(expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (actual[i] == expected[i] || std::fabs(actual[i] - expected[i]) <= 1e-5F + 1e-5F * std::fabs(expected[i]))
            continue;
        return "element " + std::to_string(i) + " is " + std::to_string(actual[i]) + " instead of " +
               std::to_string(expected[i]);
    }
    return {};
}

inline Tensor floats(tensor::Shape shape, std::vector<float> values) {
    return Tensor::of<float>(std::move(shape), values);
}
/// Small different numbers, for comparisons between two ways to compute the same.
inline Tensor ramp(tensor::Shape shape, double step = 0.37, double from = -1) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(from + std::fmod(static_cast<double>(i) * step, 2.0));
    return Tensor::of<float>(std::move(shape), values);
}

/// Gives a module's parameter or buffer another value, by path.
inline void setTensor(nn::Module& module, const std::string& path, const Tensor& value) {
    for (const trace::NamedTensor& named : trace::namedTensors(module)) {
        if (named.path == path) named.slot->value = value;
    }
}
/// Paths and shapes of the state in order: "weight [2, 3], bias [2]".
inline std::string stateText(const nn::Module& module) {
    std::string text;
    for (const trace::NamedTensor& named : trace::namedTensors(module))
        text += (text.empty() ? "" : ", ") + named.path + ' ' + named.slot->value.shape().text();
    return text;
}

}  // namespace sonde::test

/// Checks a run's output against numbers: nothing if they agree.
#define COMPARE_FLOATS(result, output, ...)                                                                         \
    do {                                                                                                            \
        const std::string difference = sonde::test::compareFloats(result, output, std::vector<float>{__VA_ARGS__}); \
        QVERIFY2(difference.empty(), difference.c_str());                                                           \
    } while (false)
