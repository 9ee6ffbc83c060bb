#include "core/trace/root_recorder.h"

#include <utility>

#include "core/trace/memory.h"
#include "core/trace/module.h"
#include "core/trace/record.h"
#include "core/trace/recorder.h"

namespace sonde::trace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

std::vector<Var> RootRecorder::parameters(const std::vector<ForwardParameter>& signature,
                                          const std::map<std::string, Value>& concrete) {
    std::vector<Var> result;
    for (const ForwardParameter& parameter : signature) {
        const auto given = concrete.find(parameter.name);
        // With an example, what has a plain default is settled here, and the graph checks it: models ask whether it is
        // None, compare its text, and the like.
        const bool isSettled =
            m_recorder.oracle() && given == concrete.end() && parameter.fallback && !parameter.fallback->isTensor();
        if (isSettled) {
            result.push_back(specialised(parameter, *parameter.fallback));
        } else if (given == concrete.end() || given->second.isTensor()) {
            result.push_back(placeholder(parameter, parameter.name));
        } else {
            result.push_back(specialised(parameter, given->second));
        }
    }
    return result;
}

Var RootRecorder::placeholder(const ForwardParameter& parameter, const std::string& candidate) {
    graph::InternalGraph& graph = m_recorder.graph();
    Argument fallback;
    if (parameter.fallback) fallback = m_recorder.toArgument(Var(*parameter.fallback));
    const std::string name = m_recorder.bodies().top().uniqueName(candidate);
    const NodeId node = graph.addInput(graph.mainId(), name, {}, candidate, graph.main().order.size());
    const ExprId expr = graph.node(node).producer;
    graph.mutableExpr(expr).moduleClass = m_recorder.place().moduleClass;
    if (parameter.fallback) graph.setArguments(expr, {std::move(fallback)});
    m_recorder.setTensor(node, parameter.isTensor);
    m_memory.markPacked(node);  // what a model is run on is in memory as it is read from files
    if (ValueOracle* oracle = m_recorder.oracle()) oracle->inputMade(node);
    return m_recorder.proxy(node);
}

Var RootRecorder::takenApart(const ForwardParameter& parameter, const Value& value, std::size_t& count) {
    if (value.kind() == tensor::ValueKind::Dict) {
        std::vector<std::pair<Value, Var>> entries;
        for (const auto& [key, entry] : value.dictItems())
            entries.emplace_back(key, takenApart(parameter, entry, count));
        return Var::dict(std::move(entries));
    }
    if (!value.isListLike())
        return placeholder({parameter.name, std::nullopt, false}, parameter.name + '_' + std::to_string(++count));
    std::vector<Var> items;
    for (const Value& entry : value.items()) items.push_back(takenApart(parameter, entry, count));
    return value.kind() == tensor::ValueKind::Tuple ? Var::tuple(std::move(items)) : Var::list(std::move(items));
}

Var RootRecorder::specialised(const ForwardParameter& parameter, const Value& value) {
    if (value.isListLike() || value.kind() == tensor::ValueKind::Dict) {
        m_isFlat = true;
        std::size_t count = 0;
        return takenApart(parameter, value, count);
    }
    const Var given = placeholder(parameter, parameter.name + "_1");
    std::string text = value.isNone() ? "None" : value.text();
    if (value.kind() == tensor::ValueKind::Float && text.find_first_not_of("-0123456789") == std::string::npos)
        text += ".0";
    const std::string message =
        parameter.name + " has been specialized to have value " + text + " but got another value";
    if (value.isNone()) {
        callFunction(Function{"_assert_is_none", "_assert_is_none", "_assert_is_none", false, "prim"},
                     {given, message});
    } else {
        const Var equal = given == Var(value);
        callFunction(Function{"_assert", "_assert", "torch._assert", false, "prim"}, {equal, message});
    }
    return Var(value);
}

namespace {

void collectLeaves(Argument argument, std::vector<Argument>& into) {
    using Kind = Argument::Kind;
    if (argument.kind != Kind::List && argument.kind != Kind::Tuple && argument.kind != Kind::Dict) {
        into.push_back(std::move(argument));
        return;
    }
    for (Argument& item : argument.items) collectLeaves(std::move(item), into);
}

}  // namespace

void RootRecorder::finish(const Var& result) {
    graph::InternalGraph& graph = m_recorder.graph();
    Argument structure = m_recorder.toArgument(result);
    if (m_isFlat) {
        std::vector<Argument> leaves;
        collectLeaves(std::move(structure), leaves);
        structure = Argument::container(Argument::Kind::List, std::move(leaves));
    }
    graph.setResult(graph.mainId(), structure);
    Expr output;
    output.kind = ExprKind::Output;
    output.target = "output";
    output.arguments = {std::move(structure)};
    output.body = graph.mainId();
    output.scope = graph.rootScope();
    const std::string name = m_recorder.bodies().top().names.unique("output");
    graph.addExpr(std::move(output), std::span(&name, 1));
}

}  // namespace sonde::trace
