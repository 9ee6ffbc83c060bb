#include "core/trace/concrete_run.h"

#include <set>

#include "core/graph/argument_value.h"
#include "core/graph/guard.h"
#include "core/graph/traits.h"
#include "core/trace/guard_description.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

void ConcreteRun::began(Tracer& tracer, graph::InternalGraph& graph) {
    m_tracer = &tracer;
    m_graph = &graph;
    m_values.clear();
    m_problems.clear();
    m_guards.clear();
}

const Value* ConcreteRun::find(NodeId node) const {
    const auto& constant = m_graph->node(node).constant;
    if (constant) return &*constant;
    const auto found = m_values.find(node);
    return found == m_values.end() ? nullptr : &found->second;
}

void ConcreteRun::inputMade(NodeId input) {
    const Expr& expr = m_graph->expr(m_graph->node(input).producer);
    if (const auto example = m_examples.find(expr.target); example != m_examples.end()) {
        set(input, example->second);
    } else if (!expr.arguments.empty()) {
        if (auto fallback = graph::argumentValue(expr.arguments.front(), [this](NodeId node) { return find(node); }))
            set(input, std::move(*fallback));
    }
}

void ConcreteRun::inputBound(NodeId inner, NodeId outer) {
    if (const Value* value = find(outer)) set(inner, Value(*value));
    else if (const auto problem = m_problems.find(outer); problem != m_problems.end())
        m_problems.emplace(inner, std::string(problem->second));
}

base::Result<std::vector<Value>> ConcreteRun::resultOf(BodyId body) const {
    auto value = graph::argumentValue(m_graph->body(body).result, [this](NodeId node) { return find(node); });
    if (!value) {
        for (const NodeId output : m_graph->body(body).outputs)
            if (const auto problem = m_problems.find(output); problem != m_problems.end())
                return base::runError(problem->second);
        return base::runError("a value inside is unknown");
    }
    return std::vector<Value>{std::move(*value)};
}

base::Result<std::vector<Value>> ConcreteRun::compute(const Expr& expr) const {
    const auto read = [this](NodeId node) { return find(node); };
    const auto lacking = [&] {
        for (const NodeId input : expr.inputs) {
            if (const auto problem = m_problems.find(input); problem != m_problems.end()) {
                const bool isPassedOn = problem->second.starts_with("of '");  // the first one is what matters
                return base::runError(isPassedOn ? problem->second
                                                 : "of '" + m_graph->node(input).name + "': " + problem->second);
            }
        }
        return base::runError("a required value is unknown");
    };
    std::vector<Value> arguments;
    for (const graph::Argument& argument : expr.arguments) {
        auto value = graph::argumentValue(argument, read);
        if (!value) return lacking();
        arguments.push_back(std::move(*value));
    }
    if (expr.kind == ExprKind::Output && !arguments.empty()) return std::vector<Value>{arguments.front()};
    if (expr.op.name.empty() && !expr.bodies.empty()) return resultOf(expr.bodies.front());
    if (expr.op.name.empty() && expr.callable) return expr.callable->call(arguments);
    if (graph::traitsOf(expr).opClass == operators::OpClass::Conditional && expr.bodies.size() == 2 &&
        !arguments.empty()) {
        SONDE_ASSIGN(const std::vector<Value> result, resultOf(expr.bodies[Var(arguments.front()).toBool() ? 0 : 1]));
        return result.front().items();  // a branch gives a tuple of one
    }
    if (!expr.bodies.empty() || expr.op.name.empty() || !m_evaluator)
        return base::runError("it is not computed while tracing");
    std::vector<std::pair<std::string, Value>> keywords;
    for (const auto& [name, argument] : expr.keywords) {
        auto value = graph::argumentValue(argument, read);
        if (!value) return lacking();
        keywords.emplace_back(name, std::move(*value));
    }
    return m_evaluator->evaluate(expr.op, arguments, keywords, expr.outputs.size());
}

void ConcreteRun::recorded(ExprId id) {
    const Expr& expr = m_graph->expr(id);
    // Constants have their values, guards get theirs from who asked.
    if (expr.outputs.empty() || m_graph->node(expr.outputs.front()).constant || graph::isGuard(expr)) return;
    base::Result<std::vector<Value>> results = base::runError("not computed");
    try {
        results = compute(expr);
    } catch (const TraceError& error) {
        results = base::runError(error.message());
    }
    if (results && results->size() == 1 && expr.outputs.size() > 1 && results->front().isListLike()) {
        std::vector<Value> items = results->front().items();
        results = std::move(items);
    }
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        if (results && i < results->size()) set(expr.outputs[i], std::move((*results)[i]));
        else
            m_problems.insert_or_assign(expr.outputs[i],
                                        results ? std::string("it was not computed") : results.error().text());
    }
}

namespace {

/// The tensor that a view is cut out of; an invalid id if the expr makes memory of its own.
NodeId baseOf(const graph::InternalGraph& graph, NodeId node) {
    const Expr& expr = graph.expr(graph.node(node).producer);
    if (expr.arguments.empty() || expr.arguments.front().kind != graph::Argument::Kind::Node) return {};
    const operators::Traits& traits = graph::traitsOf(expr);
    // What converts or moves elements mostly has a reason to.
    const bool isConversion =
        traits.form == operators::ViewForm::Converted || traits.form == operators::ViewForm::Contiguous;
    const bool isPart = traits.form != operators::ViewForm::None && !isConversion && traits.mayBeView();
    return isPart || traits.opClass == operators::OpClass::GetAttr ? expr.arguments.front().node : NodeId();
}

}  // namespace

void ConcreteRun::forget(NodeId node) {
    m_values.erase(node);
    m_problems.insert_or_assign(node, "its memory was changed in place through a part of it");
}

void ConcreteRun::rebound(NodeId before, NodeId after) {
    std::vector<NodeId> others;
    for (const auto& [node, value] : m_values) {
        for (NodeId base = baseOf(*m_graph, node); base.valid(); base = baseOf(*m_graph, base)) {
            if (base == before && node != after) others.push_back(node);
        }
    }
    for (NodeId base = baseOf(*m_graph, before); base.valid(); base = baseOf(*m_graph, base)) others.push_back(base);
    for (const NodeId node : others) forget(node);
    if (const auto made = m_values.find(after); made != m_values.end()) set(before, Value(made->second));
    else forget(before);
}

std::optional<Value> ConcreteRun::known(NodeId node, KnownUse use) {
    const Value* found = find(node);
    if (!found) {
        const auto problem = m_problems.find(node);
        if (problem == m_problems.end()) return std::nullopt;  // no example: as symbolic as ever
        throw TraceError(TraceErrorKind::Runtime, "the value of '" + m_graph->node(node).name +
                                                      "' cannot be computed with the example: " + problem->second);
    }
    const Value value = *found;
    guard(node, use, value);
    return value;
}

RecordedGuard recordGuard(Tracer& tracer, const graph::InternalGraph& graph, NodeId node, KnownUse use,
                          const Value& value) {
    tensor::AttributeValue came;
    Value asked;
    switch (use) {
        case KnownUse::Bool: asked = Value::ofBool(Var(value).toBool()), came = std::int64_t{asked.toBool()}; break;
        case KnownUse::Float: asked = Value::ofFloat(Var(value).toFloat()), came = asked.toFloat(); break;
        case KnownUse::Int: asked = Value::ofInt(Var(value).toInt()), came = asked.toInt(); break;
        default: asked = Value::ofInt(static_cast<std::int64_t>(Var(value).length())), came = asked.toInt(); break;
    }
    const NodeId recorded =
        tracer.recording().recordGuard(node, use, came, guardDescription(use, expressionText(graph, node), came), {});
    return {recorded, std::move(asked)};
}

void ConcreteRun::guard(NodeId node, KnownUse use, const Value& value) {
    ExprId& known = m_guards[{m_tracer->recorder().bodies().top().id.index(), node.index(), use}];
    if (known.valid() && !m_graph->isErased(known)) return;
    RecordedGuard made = recordGuard(*m_tracer, *m_graph, node, use, value);
    known = m_graph->node(made.node).producer;
    set(made.node, std::move(made.asked));
}

void ConcreteRun::finish(graph::InternalGraph& graph) {
    for (const auto& [node, value] : m_values) {
        if (!graph.isErased(graph.node(node).producer)) graph.setType(node, tensor::TypeInfo::of(value));
    }
    m_values.clear();
    m_problems.clear();
}

}  // namespace sonde::trace
