#include "core/trace/record.h"

#include <utility>

#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

namespace {

thread_local std::shared_ptr<const Evaluator> tCurrent;
thread_local const FunctionSwap* tSwaps = nullptr;

/// Puts the swaps that were there back.
class SwapsRestored {
  public:
    explicit SwapsRestored(const FunctionSwap* meanwhile) : m_before(std::exchange(tSwaps, meanwhile)) {}
    ~SwapsRestored() { tSwaps = m_before; }
    SwapsRestored(const SwapsRestored&) = delete;
    SwapsRestored& operator=(const SwapsRestored&) = delete;

  private:
    const FunctionSwap* m_before;
};

Tracer* findTracer(const std::vector<Var>& arguments, const Keywords& keywords) {
    for (const Var& argument : arguments) {
        if (Tracer* tracer = argument.findTracer()) return tracer;
    }
    for (const auto& [name, argument] : keywords) {
        if (Tracer* tracer = argument.findTracer()) return tracer;
    }
    return nullptr;
}

Var evaluate(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    if (!tCurrent) {
        throw TraceError(TraceErrorKind::Runtime, "'" + std::string(function.display) +
                                                      "' would have to be computed at once, and there is no evaluator");
    }
    std::vector<tensor::Value> values;
    for (const Var& argument : arguments) values.push_back(argument.toValue());
    std::vector<std::pair<std::string, tensor::Value>> named;
    for (const auto& [name, argument] : keywords) named.emplace_back(name, argument.toValue());
    auto results =
        tCurrent->evaluate({std::string(function.domain), std::string(function.op), 0}, values, named, function.outputs);
    if (!results) throw TraceError(TraceErrorKind::Runtime, results.error().text());
    if (function.outputs == 1) return Var(std::move(results->front()));
    return Var(tensor::Value::tuple(std::move(*results)));
}

Var call(graph::ExprKind kind, const Function& function, std::vector<Var> arguments, Keywords keywords) {
    Tracer* tracer = findTracer(arguments, keywords);
    if (!tracer) return evaluate(function, arguments, keywords);
    return tracer->record(kind, {std::string(function.domain), std::string(function.op), 0}, std::string(function.target),
                          function.display, std::move(arguments), std::move(keywords), function.makesTensor, function.outputs);
}

}  // namespace

EvaluatorScope::EvaluatorScope(std::shared_ptr<const Evaluator> evaluator) : m_previous(std::move(tCurrent)) {
    tCurrent = std::move(evaluator);
}
EvaluatorScope::~EvaluatorScope() { tCurrent = std::move(m_previous); }
std::shared_ptr<const Evaluator> EvaluatorScope::current() { return tCurrent; }

FunctionSwap::FunctionSwap(std::string name, Replacement replacement)
    : m_name(std::move(name)), m_replacement(std::move(replacement)), m_previous(std::exchange(tSwaps, this)) {}
FunctionSwap::~FunctionSwap() { tSwaps = m_previous; }

bool FunctionSwap::isSwapped(std::string_view name) {
    for (const FunctionSwap* swap = tSwaps; swap; swap = swap->m_previous) {
        if (swap->m_name == name) return true;
    }
    return false;
}

Var callFunction(const Function& function, std::vector<Var> arguments, Keywords keywords) {
    for (const FunctionSwap* swap = tSwaps; swap; swap = swap->m_previous) {
        if (swap->m_name != function.display) continue;
        const SwapsRestored inside(swap->m_previous);
        return swap->m_replacement(std::move(arguments), std::move(keywords));
    }
    return call(graph::ExprKind::CallFunction, function, std::move(arguments), std::move(keywords));
}

Var callMethod(const Function& function, std::vector<Var> arguments, Keywords keywords) {
    const bool inPlace = function.display.size() > 1 && function.display.ends_with('_') && !function.display.ends_with("__");
    const Var receiver = arguments.front();
    if (receiver.isProxy()) {
        if (const auto known = receiver.tracer().answer(function.display, true, arguments)) return *known;
    }
    Var result = call(graph::ExprKind::CallMethod, function, std::move(arguments), std::move(keywords));
    if (inPlace && receiver.isProxy() && result.isProxy()) receiver.tracer().rebind(receiver.node(), result.node());
    return result;
}

}  // namespace sonde::trace
