// How an execution calls the kernel of an operator: with its epilogue, and with bodies that it may run.

#include <exception>

#include "core/base/exception_text.h"
#include "core/exec/clock.h"
#include "core/exec/execution.h"
#include "core/exec/run_trace.h"
#include "core/ops/support/constant_output.h"

namespace sonde::exec {

using graph::Body;
using graph::Expr;

/// Lets control-flow kernels run the bodies of their expr.
class Execution::KernelBodies final : public ops::BodyRunner {
  public:
    KernelBodies(Execution& execution, const Expr& expr, int depth)
        : m_execution(execution), m_expr(expr), m_depth(depth) {}

    base::Result<std::vector<Value>> run(std::size_t index, std::span<const Value> inputs,
                                         std::int64_t iteration) override {
        if (index >= m_expr.bodies.size()) return base::runError("there is no body " + std::to_string(index));
        const Body& body = m_execution.m_graph.body(m_expr.bodies[index]);
        if (inputs.size() > body.inputs.size()) {
            return base::runError("the body has " + std::to_string(body.inputs.size()) + " inputs, not " +
                                  std::to_string(inputs.size()));
        }
        // Several bodies are branches, of which one runs; a single one is run again and again.
        const bool isLoop = m_expr.bodies.size() == 1;
        if (!isLoop) m_execution.m_recording.branchesTaken[m_expr.id].push_back(index);
        const PassScope pass(m_execution.m_passes, isLoop ? std::optional(iteration) : std::nullopt);
        if (m_execution.m_options.observer) m_execution.m_options.observer->bodyStarted(body.id, inputs, iteration);
        outcome = Outcome::Finished;
        for (std::size_t i = 0; i < inputs.size() && outcome == Outcome::Finished; ++i) {
            outcome = m_execution.publish(body.inputs[i], inputs[i]);
        }
        if (outcome == Outcome::Finished) outcome = m_execution.runBody(body.id, m_depth + 1);
        if (outcome == Outcome::AllEndsReached) return base::cancelled("all end points are computed");
        if (outcome == Outcome::Failed) return *m_execution.m_recording.error;
        std::vector<Value> results;
        for (NodeId output : body.outputs) results.push_back(m_execution.read(output));
        return results;
    }

    Outcome outcome = Outcome::Finished;

  private:
    /// While it lives, a pass of a loop is running.
    class PassScope {
      public:
        PassScope(std::vector<std::int64_t>& passes, std::optional<std::int64_t> pass)
            : m_passes(pass ? &passes : nullptr) {
            if (m_passes) m_passes->push_back(*pass);
        }
        ~PassScope() {
            if (m_passes) m_passes->pop_back();
        }
        PassScope(const PassScope&) = delete;
        PassScope& operator=(const PassScope&) = delete;

      private:
        std::vector<std::int64_t>* m_passes;
    };

    Execution& m_execution;
    const Expr& m_expr;
    int m_depth;
};

Execution::Outcome Execution::runOperator(const Step& step, const Expr& expr, int depth) {
    std::vector<Value> inputs(step.call->arguments.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = step.call->arguments[i] ? build(*step.call->arguments[i]) : step.call->fallbacks[i];
    }
    if (m_trace) {
        for (const NodeId input : expr.inputs)
            if (const auto& weights = m_plan.constantOf(m_plan.source[input.index()])) m_trace->reads(*weights);
    }
    for (const Step& fused : step.epilogue) m_fused[fused.expr.index()] = false;
    std::optional<Epilogue> epilogue;
    KernelBodies bodies(*this, expr, depth);
    base::Result<std::vector<Value>> results = std::vector<Value>();
    m_environment.seed = seedOf(step);
    std::optional<BadCount> known;  // of what was computed once and for all
    const bool measures = m_plan.options.measuresWatched;
    try {
        const auto constantsOf = [&] { return constantInputs(m_plan, step); };
        auto prepared = m_memory.prepared.find(m_plan, step, constantsOf, m_environment);
        if (prepared) {
            const auto* const constant = dynamic_cast<const ops::ConstantOutput*>(prepared->get());
            if (constant && constant->isFinite) known.emplace();
            const auto call = [&](Epilogue::Census mode) {
                const bool runs =
                    step.call->runsEpilogue && (m_census || measures || !step.epilogue.empty()) && areFloats(inputs);
                if (runs) epilogue.emplace(linksOf(step), m_memory.blocks, mode, measures);
                const Epilogue::Scope scope(runs ? &*epilogue : nullptr);
                results = ops::callPrepared(*step.call->op, inputs, step.call->attributes, expr.outputs.size(),
                                            m_environment, expr.op.version, prepared->get(),
                                            expr.bodies.empty() ? nullptr : &bodies, &m_memory.blocks);
            };
            call(m_census && step.call->runsEpilogue ? m_census->modeFor(step) : Epilogue::Census::None);
            if (results && epilogue && epilogue->detected()) {
                m_census->detectedIn(step);
                call(Epilogue::Census::Count);
            }
        } else {
            results = std::move(prepared).error();
        }
    } catch (const std::bad_alloc&) {
        results = base::runError("out of memory");
    } catch (const std::exception& exception) {
        results = base::runError(base::exceptionText(exception));
    } catch (...) {  // of a model's own code, which fills weights when they are first read
        results = base::runError("the model's own code threw an exception that is not a std::exception");
    }
    if (results && epilogue) return publishEpilogue(step, expr, (*results)[0], *epilogue);
    if (results && known) return publish(expr.outputs.front(), std::move(results->front()), {{}, known, {}});
    if (results) return publishAll(expr, std::move(*results));
    if (bodies.outcome == Outcome::AllEndsReached) return Outcome::AllEndsReached;
    // An error inside a body was described where it happened; here only the way up to it is added.
    fail(bodies.outcome == Outcome::Failed ? results.error().withNote("inside " + expr.target + " " + expr.name)
                                           : described(results.error(), step, expr));
    return Outcome::Failed;
}

/// Only float32 all through: nothing is promoted or narrowed on the way, and the kernel's result is what others are
/// fused to.
bool Execution::areFloats(std::span<const Value> inputs) {
    for (const Value& value : inputs) {
        if (value.isTensor() && value.tensor().dtype() != tensor::DType::Float32) return false;
    }
    return true;
}

std::vector<Execution::Epilogue::Link> Execution::linksOf(const Step& step) {
    std::vector<Epilogue::Link> links;
    for (const Step& fused : step.epilogue) {
        Epilogue::Link link{fused.call->op,
                            {},
                            fused.fusedAt,
                            fused.ownInputs,
                            &fused.call->attributes,
                            nullptr,
                            fused.overwrites,
                            fused.onlyKept,
                            fused.isKept && m_options.mayDefer};
        for (std::size_t i = 0; i < fused.call->arguments.size(); ++i) {
            const bool isMadeHere = i == fused.fusedAt || fused.ownInputs[i] != ops::kernels::kNoInput;
            link.inputs.push_back(isMadeHere                 ? Value()
                                  : fused.call->arguments[i] ? build(*fused.call->arguments[i])
                                                             : fused.call->fallbacks[i]);
        }
        const auto constantsOf = [&] { return constantInputs(m_plan, fused); };
        if (auto prepared = m_memory.prepared.find(m_plan, fused, constantsOf, m_environment))
            link.prepared = *prepared;
        links.push_back(std::move(link));
    }
    return links;
}

/// The results of a step and of its epilogue, except those that were overwritten.
Execution::Outcome Execution::publishEpilogue(const Step& step, const Expr& expr, Value result,
                                              const Epilogue& epilogue) {
    NodeId node = expr.outputs.front();
    Known known{{}, epilogue.badInMain(), epilogue.momentsOfMain()};
    for (std::size_t f = 0;; ++f) {
        const bool isOverwritten = f < epilogue.bound() && step.epilogue[f].overwrites;
        m_recording.computedNodes[node.index()] = true;
        if (isOverwritten) {
            if (m_census) m_census->made(node, result, known.bad);
            keepOrMeasure(node, Value(), known);
        } else {
            const Outcome outcome = publish(node, std::move(result), std::move(known));
            if (outcome != Outcome::Finished) return outcome;
        }
        if (f == epilogue.bound()) return Outcome::Finished;
        const ExprId next = step.epilogue[f].expr;
        m_fused[next.index()] = true;
        m_recording.states[next.index()] = ExprState::Done;
        m_recording.joinedTo[next.index()] = expr.id;
        if (m_recording.started[next.index()] == 0) m_recording.started[next.index()] = nowNs() - m_startNs;
        node = m_graph.expr(next).outputs.front();
        result = Value(epilogue.result(f));
        known = {step.epilogue[f].isKept ? Value(epilogue.kept(f)) : Value(), epilogue.badInResult(f),
                 epilogue.momentsOfResult(f)};
    }
}

/// The error with the place where it came up; also remembers it as the last failure.
base::Error Execution::described(base::Error error, const Step& step, const Expr& expr) {
    if (m_work.cancelled()) return base::cancelled("during " + expr.target);
    error.kind = base::ErrorKind::Run;
    const std::string node = expr.outputs.empty() ? expr.name : m_graph.node(expr.outputs.front()).name;
    std::string types;
    m_failure = {expr.id, error, {}};
    for (std::size_t i = 0; i < step.call->arguments.size(); ++i) {
        const Value value = step.call->arguments[i] ? build(*step.call->arguments[i]) : step.call->fallbacks[i];
        m_failure.inputTypes.push_back(value.typeText());
        types += (i ? ", " : "") + m_failure.inputTypes.back();
    }
    std::string where = "node '" + node + "'";
    if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
    // The call of a model that is one opaque call has no target: the class says what is called.
    const bool isRootCall = expr.op.name.empty() && expr.target.empty();
    where += isRootCall ? ", model " + expr.moduleClass
                        : ", operator " + (expr.op.name.empty() ? expr.target : expr.op.name);
    where += ", inputs (" + types + ")";
    if (error.where.empty()) error.where = std::move(where);
    else error.notes.push_back(std::move(where));
    return error;
}

}  // namespace sonde::exec
