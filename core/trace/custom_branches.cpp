// Conditions that a CustomTracer records with both branches, and calls that it records as one.

#include "core/trace/control_recorder.h"
#include "core/trace/custom_cond.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/module_callable.h"
#include "core/trace/pending_error.h"
#include "core/trace/record.h"

namespace sonde::trace {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

Var cond(const Var& predicate, const NamedFunction& trueFunction, const NamedFunction& falseFunction,
         const Var& operands) {
    const bool isList = operands.kind() == Var::Kind::List || operands.kind() == Var::Kind::Tuple ||
                        (operands.kind() == Var::Kind::Value && operands.value().isListLike());
    if (!isList) throw TraceError(TraceErrorKind::Assertion, "the operands of cond are a list or a tuple");
    auto* tracer = dynamic_cast<CustomTracer*>(Tracer::active());
    if (tracer && FunctionSwap::isSwapped("cond") && (predicate.isProxy() || operands.hasProxy())) {
        return tracer->recordCond(predicate, trueFunction, falseFunction, operands);
    }
    return (predicate.toBool() ? trueFunction : falseFunction).call(operands.iterate());
}

Var CustomTracer::registerCallable(const std::string& name, const NamedFunction& function) {
    std::string unique;
    for (std::size_t i = 0; unique.empty() || m_callables.contains(unique); ++i) {
        unique = "_cb_" + name + '_' + function.name + '_' + std::to_string(i);
    }
    m_callables.emplace(unique, function);
    const Var node = recorder().record(ExprKind::GetAttr, {}, unique, unique, {}, {}, false);
    graph().setConstant(node.node(), Value::object(std::make_shared<FunctionValue>(function)));
    return node;
}

Var CustomTracer::recordCond(const Var& predicate, const NamedFunction& trueFunction,
                             const NamedFunction& falseFunction, const Var& operands) {
    const std::vector<Var> given = operands.iterate();
    const Var whenTrue = registerCallable("cond", trueFunction);
    const Var whenFalse = registerCallable("cond", falseFunction);
    // The name of the node is that of the stand-in which records it; what it calls is the operator.
    const Var result = recorder().record(ExprKind::CallFunction, {"prim", "cond", 0}, "torch.cond", "condcc",
                                         {predicate, whenTrue, whenFalse, Var::list(given)}, {}, false);
    const ExprId owner = graph().node(result.node()).producer;
    recordBranch(owner, "true_branch", trueFunction, given);
    recordBranch(owner, "false_branch", falseFunction, given);
    if (ValueOracle* oracle = recorder().oracle()) oracle->recorded(owner);
    return result;
}

/// What the branch does, as a body: its operations, or, if it cannot be followed, one call that runs it on values.
void CustomTracer::recordBranch(ExprId owner, const std::string& label, const NamedFunction& function,
                                const std::vector<Var>& operands) {
    ControlRecorder control(recorder());
    control.enterBody(owner, label);
    const std::size_t depth = recorder().bodies().size();
    std::vector<Var> inner;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Var& outer = operands[i];
        const bool isProxy = outer.isProxy();
        inner.push_back(control.input(isProxy ? nameOf(outer.node()) : "operand_" + std::to_string(i), {},
                                      isProxy && recorder().isTensor(outer.node())));
        ValueOracle* oracle = recorder().oracle();
        if (isProxy && oracle) oracle->inputBound(inner.back().node(), outer.node());
    }
    const std::size_t first = graph().exprCount();
    Var result;
    const std::optional<TraceError> raisedBefore = pendingError().get();
    try {
        result = function.call(inner);
        // One node is the result, whatever its structure.
        if (result.kind() != Var::Kind::Proxy && result.kind() != Var::Kind::Value) {
            result = recorder().record(ExprKind::Output, {}, "output", "output", {result}, {}, false);
        }
    } catch (...) {  // what the branch threw comes again if it is run
        pendingError().reset(raisedBefore);
        recorder().bodies().leaveBeyond(depth);
        if (graph().exprCount() > first) recorder().abandon(ExprId(first));
        result = recordCallable(function.name, function.call, inner);
    }
    checkCaptured(function.name);
    control.leaveBody({result});
}

/// Nobody outside of a branch would see what it writes to a tensor that it captures: its result is all that it gives.
void CustomTracer::checkCaptured(const std::string& branch) {
    const graph::BodyId body = recorder().bodies().top().id;
    const std::vector<ExprId> order = graph().body(body).order;
    for (const ExprId id : order) {
        const std::vector<NodeId> inputs = graph().expr(id).inputs;
        for (const NodeId input : inputs) {
            const bool isOutside = graph().expr(graph().node(input).producer).body != body;
            if (!isOutside || current(input) == input) continue;
            throw refusal(TraceErrorKind::Runtime, recording().placeOf(input) + " is changed in place by branch '" +
                                                       branch +
                                                       "' of cond, and is none of its operands: not supported");
        }
    }
}

Var CustomTracer::recordCallable(const std::string& name, const Module::KeptFunction& function,
                                 std::vector<Var> arguments) {
    const Var result = recorder().record(ExprKind::CallFunction, {}, name, name, std::move(arguments), {}, false);
    const ExprId call = graph().node(result.node()).producer;
    graph().mutableExpr(call).callable = runnable(function, false);
    if (ValueOracle* oracle = recorder().oracle()) oracle->recorded(call);
    return result;
}

Var AutowrapFunction::operator()(std::vector<Var> arguments) const {
    for (const Var& argument : arguments) {
        auto* tracer = dynamic_cast<CustomTracer*>(argument.findTracer());
        if (!tracer) continue;
        const CustomTracerOptions& options = tracer->options();
        if (!options.autowrapModules.contains(m_module) && !options.autowrapFunctions.contains(m_name)) break;
        return tracer->recordCallable(m_name, m_function, std::move(arguments));
    }
    return m_function(arguments);
}

}  // namespace sonde::trace
