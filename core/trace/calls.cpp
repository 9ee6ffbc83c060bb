// Where a call of a function goes: to what replaces it, into the trace that runs, or to the kernel at once.

#include <utility>

#include "core/graph/memory.h"
#include "core/trace/at_once.h"
#include "core/trace/error.h"
#include "core/trace/memory.h"
#include "core/trace/overloads.h"
#include "core/trace/record.h"
#include "core/trace/thread_state.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

namespace {

/// Puts the swaps that were there back.
class SwapsRestored {
  public:
    explicit SwapsRestored(const FunctionSwap* meanwhile) : m_before(std::exchange(threadState().swap, meanwhile)) {}
    ~SwapsRestored() { threadState().swap = m_before; }
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

/// What a call writes to: the receiver of an in-place operator, or `out`. Null: nothing.
const Var* writtenBy(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    for (const auto& [name, argument] : keywords) {
        if (name == "out" && !argument.isNone()) return &argument;
    }
    const graph::MemoryEffect effect = graph::memoryEffect(function.domain, function.op);
    return (effect.writes || effect.reforms) && !arguments.empty() ? &arguments.front() : nullptr;
}

Var call(graph::ExprKind kind, const Function& called, std::vector<Var> arguments, Keywords keywords) {
    const std::string op = resolvedOverload(called, arguments, keywords);
    Function function = called;
    function.op = op;
    if (kind == graph::ExprKind::CallMethod) function.outputs = outputsOfMethod(function, keywords);
    Tracer* tracer = findTracer(arguments, keywords);
    if (WritesAsValues::isOn()) {
        if (!tracer) return evaluateAtOnce(function, arguments, keywords);
        return tracer->recording().record(kind, {std::string(function.domain), std::string(function.op), 0},
                                          std::string(function.target), function.display, std::move(arguments),
                                          std::move(keywords), function.makesTensor, function.outputs);
    }
    const Var* written = writtenBy(function, arguments, keywords);
    // A tensor that the graph shows as a constant or that belongs to a module is not changed by a trace.
    Tracer* active = Tracer::active();
    if (!tracer && written && active && active->recording().recordsWriteTo(*written)) tracer = active;
    if (tracer) return tracer->called(OperatorCall(kind, function, std::move(arguments), std::move(keywords)));
    if (written) return writeAtOnce(function, arguments, keywords);
    return callAtOnce(function, arguments, keywords);
}

}  // namespace

Var callFunction(const Function& function, std::vector<Var> arguments, Keywords keywords) {
    for (const FunctionSwap* swap = threadState().swap; swap; swap = swap->m_previous) {
        if (swap->m_name != function.display) continue;
        const SwapsRestored inside(swap->m_previous);
        return swap->m_replacement(std::move(arguments), std::move(keywords));
    }
    return call(graph::ExprKind::CallFunction, function, std::move(arguments), std::move(keywords));
}

Var callMethod(const Function& function, std::vector<Var> arguments, Keywords keywords) {
    const Var& receiver = arguments.front();
    if (receiver.isProxy()) {
        if (const auto known = receiver.tracer().answer(function.display, true, arguments)) return *known;
    }
    return call(graph::ExprKind::CallMethod, function, std::move(arguments), std::move(keywords));
}

}  // namespace sonde::trace
