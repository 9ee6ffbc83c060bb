#include "core/exec/execution.h"

#include <algorithm>

#include "core/base/counted_text.h"
#include "core/base/current_stop.h"
#include "core/base/random.h"
#include "core/exec/clock.h"
#include "core/exec/run_trace.h"
#include "core/graph/seeded_callable.h"
#include "core/tensor/slice_value.h"

namespace sonde::exec {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using tensor::ValueDict;
using tensor::ValueList;

Execution::Execution(const Plan& plan, const base::WorkContext& work, const RunOptions& options,
                     ops::RunEnvironment& environment, RunMemory& memory, FileCheck& files)
    : m_plan(plan.impl()), m_graph(plan.graph()), m_work(work), m_options(options), m_environment(environment),
      m_memory(memory), m_files(files), m_values(m_graph.nodeCount()), m_isMissing(m_graph.nodeCount(), false),
      m_fused(m_graph.exprCount(), false) {
    if (options.countsBad) m_census.emplace(m_plan, m_values, memory.census, *environment.pool);
    m_recording.states.assign(m_graph.exprCount(), ExprState::NotReached);
    m_recording.elapsed.assign(m_graph.exprCount(), 0);
    m_recording.started.assign(m_graph.exprCount(), 0);
    m_recording.computedNodes.assign(m_graph.nodeCount(), false);
    m_recording.joinedTo.assign(m_graph.exprCount(), ExprId());
    m_endsLeft = 0;
    for (bool end : m_plan.isEnd) m_endsLeft += end ? 1 : 0;
}

Recording Execution::run(std::span<const Value> inputs) {
    m_trace = RunTrace::current();
    if (m_trace) m_trace->begin(m_graph, m_memory.blocks.unusedBytes());
    const RunTrace::Scope inside(nullptr);
    const base::ActivityLog::Scope logged(m_trace ? m_trace->log() : base::ActivityLog::current());
    m_startNs = nowNs();
    Outcome outcome = bindInputs(inputs);
    if (outcome == Outcome::Finished) outcome = bindGiven();
    if (outcome == Outcome::Finished) outcome = runBody(m_graph.mainId(), 0);
    keepHandedOn();
    m_recording.totalNs = nowNs() - m_startNs;
    if (m_trace) m_trace->end();
    if (outcome != Outcome::Failed) collectOutputs();
    else if (m_failure.expr.valid() && m_recording.error->kind != base::ErrorKind::Cancelled)
        m_recording.failures.insert(m_recording.failures.begin(), std::move(m_failure));
    if (m_census) m_recording.bad = m_census->take();
    return std::move(m_recording);
}

base::Result<std::vector<Value>> Execution::replay(const ReplayInputs& inputs) {
    const Expr& expr = m_graph.expr(inputs.expr);
    const std::vector<Step>& steps = m_plan.bodies[expr.body.index()].steps;
    const auto step = std::ranges::find(steps, inputs.expr, &Step::expr);
    if (step == steps.end() || step->kind != Step::Kind::Operator)
        return base::usageError("the operation cannot be done again", expr.target);
    for (const auto& [node, value] : inputs.values) m_values[m_plan.source[node.index()].index()] = value;
    m_draws = {inputs.draws.begin(), inputs.draws.end()};
    if (execute(*step, expr, 0) == Outcome::Failed) return *m_recording.error;
    std::vector<Value> outputs;
    for (const NodeId node : expr.outputs) outputs.push_back(read(node));
    return outputs;
}

Execution::Outcome Execution::bindInputs(std::span<const Value> inputs) {
    const std::vector<NodeId>& nodes = m_graph.inputs();
    if (inputs.size() > nodes.size()) {
        fail(base::usageError("the model has " + base::countedText(static_cast<std::int64_t>(nodes.size()), "input") +
                              ", not " + std::to_string(inputs.size())));
        return Outcome::Failed;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const graph::Node& node = m_graph.node(nodes[i]);
        const Expr& input = m_graph.expr(node.producer);
        Value value = i < inputs.size() ? inputs[i] : Value();
        // A parameter that is not given has its default, if the model has one.
        if (value.isNone() && !input.arguments.empty()) value = build(input.arguments.front());
        else if (i >= inputs.size()) continue;
        if (value.isTensor() && node.type.isTensor() && node.type.dtype != tensor::DType::Undefined &&
            value.tensor().dtype() != node.type.dtype) {
            fail(base::usageError("input is " + value.typeText() + " but the model expects " + node.type.text(),
                                  "input '" + node.name + "'"));
            return Outcome::Failed;
        }
        const Outcome outcome = publish(nodes[i], std::move(value));
        m_recording.states[node.producer.index()] = ExprState::Done;
        if (outcome != Outcome::Finished) return outcome;
    }
    // Constants exist from the beginning.
    for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
        const graph::Node& node = m_graph.node(NodeId(i));
        if (!node.constant || m_graph.isErased(node.producer)) continue;
        m_recording.states[node.producer.index()] = ExprState::Done;
        m_recording.computedNodes[i] = true;
        if (keeps(node.id)) m_recording.kept[node.id].push_back(*m_plan.constantOf(node.id));
        if (m_plan.isEnd[i] && --m_endsLeft == 0) return Outcome::AllEndsReached;
    }
    return Outcome::Finished;
}

/// What is known of another run, each value before what depends on it.
Execution::Outcome Execution::bindGiven() {
    if (m_plan.given.empty()) return Outcome::Finished;
    std::vector<bool> isGiven(m_graph.nodeCount(), false);
    for (const auto& [position, node] : m_plan.given) {
        if (position >= m_options.given.size()) {
            fail(base::usageError("no value is given for '" + m_graph.node(node).name + "'"));
            return Outcome::Failed;
        }
        isGiven[node.index()] = true;
        const Outcome outcome = publish(node, m_options.given[position]);
        if (outcome != Outcome::Finished) return outcome;
    }
    for (const NodeId watched : m_plan.options.watch) {
        const NodeId source = m_plan.source[watched.index()];
        if (source != watched && isGiven[source.index()] && keeps(watched))
            m_handedOn.emplace_back(watched, read(watched));
    }
    return Outcome::Finished;
}

/// Calls that hand on what is given need not have run.
void Execution::keepHandedOn() {
    for (auto& [node, value] : m_handedOn) {
        if (m_recording.kept.contains(node)) continue;
        m_recording.computedNodes[node.index()] = true;
        m_recording.kept[node].push_back(std::move(value));
    }
}

/// What a node is to have in place of a value that it has now.
base::Result<void> Execution::edit(NodeId node, Value& value) {
    for (const ValueEdit* const edit : m_plan.edits.at(node)) {
        std::vector<Value> operands;
        for (const NodeId operand : edit->operands) operands.push_back(read(operand));
        SONDE_ASSIGN(value, edit->apply(value, operands));
    }
    return {};
}

void Execution::collectOutputs() {
    const std::vector<NodeId>& ends = m_plan.options.end;
    for (NodeId node : ends.empty() ? m_graph.outputs() : ends) m_recording.outputs.push_back(read(node));
}

Execution::Outcome Execution::publish(NodeId node, Value value, Known known) {
    const std::size_t index = node.index();
    const NodeId source = m_plan.source[index];
    if (source == node && m_plan.isEdited(node)) {
        if (auto edited = edit(node, value); !edited) {
            fail(std::move(edited).error());
            m_failure = {m_graph.node(node).producer, *m_recording.error, {}};
            return Outcome::Failed;
        }
        known = {};
    }
    if (m_census) m_census->made(node, value, known.bad);
    if (source == node) m_isMissing[index] = false;
    // Calls hand values on under other names.
    if (!known.kept.isNone()) m_keptAs[source] = known.kept;
    else if (source == node) m_keptAs.erase(node);
    else if (const auto found = m_keptAs.find(source); found != m_keptAs.end()) known.kept = found->second;
    m_recording.computedNodes[index] = true;
    keepOrMeasure(node, value, known);
    if (m_trace) m_trace->holds(source, value);
    m_values[source.index()] = std::move(value);
    // An end point counts once, however often a loop computes it.
    if (m_plan.isEnd[index] && m_endsLeft > 0) {
        bool all = true;
        for (NodeId end : m_plan.options.end) all = all && m_recording.computedNodes[end.index()];
        if (all) {
            m_endsLeft = 0;
            return Outcome::AllEndsReached;
        }
    }
    return Outcome::Finished;
}

/// Of a node that is watched.
void Execution::keepOrMeasure(NodeId node, const Value& value, Known& known) {
    if (!m_plan.keep[node.index()]) return;
    if (m_plan.options.measuresWatched) {
        if (m_options.measured) m_options.measured(node, value, known.moments ? &*known.moments : nullptr);
    } else if (!m_options.keepsWatched) {
        return;
    } else if (m_options.mayKeep && !m_options.mayKeep(node, known.kept.isNone() ? value : known.kept)) {
        m_recording.kept.erase(node);
        m_recording.keptPasses.erase(node);
    } else {
        m_recording.kept[node].push_back(known.kept.isNone() ? value : std::move(known.kept));
        if (!m_passes.empty()) m_recording.keptPasses[node].push_back(m_passes);
    }
}

Execution::Outcome Execution::runBody(BodyId id, int depth) {
    if (depth > 200) {
        fail(base::runError("bodies are nested more than 200 calls deep"));
        return Outcome::Failed;
    }
    const bool isMain = id == m_graph.mainId();
    if (m_trace) m_trace->enterBody(id);
    const BodyPlan& body = m_plan.bodies[id.index()];
    const std::size_t calls = m_calls.size();  // that this row is in
    const std::vector<Step>& steps = m_options.observer || !body.isRow ? body.steps : m_plan.joined(id);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        std::optional<base::Error> stopped = m_files.changedMeanwhile();
        if (!stopped && m_work.cancelled()) stopped = base::cancelled("before " + m_graph.expr(step.expr).target);
        if (stopped) {
            fail(std::move(*stopped));
            while (m_calls.size() > calls) closeCall(ExprState::Failed);
            return Outcome::Failed;
        }
        if (isMain) {
            if (m_calls.empty()) m_title = &m_graph.expr(step.expr).target;
            m_work.report(*m_title, i, steps.size());
            if (m_options.observer && !m_options.observer->mayContinue(step.expr)) {
                fail(base::cancelled("before " + m_graph.expr(step.expr).target));
                return Outcome::Failed;
            }
        }
        const Outcome outcome = runRowStep(step, depth);
        if (outcome != Outcome::Finished) {
            while (m_calls.size() > calls) {
                if (outcome == Outcome::AllEndsReached) handOnResults(m_graph.expr(m_calls.back().expr));
                closeCall(outcome == Outcome::Failed ? ExprState::Failed : ExprState::Done);
            }
            return outcome;
        }
        for (NodeId node : step.release) {
            if (m_trace) m_trace->releases(node);
            m_values[node.index()] = Value();
        }
    }
    return Outcome::Finished;
}

Execution::Outcome Execution::runRowStep(const Step& step, int depth) {
    const Expr& expr = m_graph.expr(step.expr);
    if (step.kind == Step::Kind::Enter) {
        const std::int64_t now = nowNs();
        if (m_recording.started[expr.id.index()] == 0) m_recording.started[expr.id.index()] = now - m_startNs;
        m_calls.push_back({expr.id, now});
        if (m_trace) {
            m_trace->enter(expr.id);
            m_trace->enterBody(expr.bodies.front());
        }
        return publishInputs(expr);
    }
    if (step.kind == Step::Kind::Leave) {
        const Outcome outcome = publishResults(expr);
        if (outcome == Outcome::Finished) closeCall(ExprState::Done);
        return outcome;
    }
    // The kernel of the step that it is fused to may have done it already.
    if (step.isFused && m_fused[expr.id.index()]) return Outcome::Finished;
    return runStep(step, depth);
}

/// What only watch points want and cannot be computed is missing, with everything that reads it: watching ends no run.
Execution::Outcome Execution::goOnWithout(const Expr& expr) {
    for (NodeId node : expr.outputs) {
        const NodeId source = m_plan.source[node.index()];
        if (source == node) m_isMissing[node.index()] = true, m_values[node.index()] = Value();
    }
    return Outcome::Finished;
}

bool Execution::lacksInput(const Expr& expr) const {
    return std::ranges::any_of(expr.inputs, [this](NodeId input) { return isMissing(input); });
}

/// An end point behind a call was computed by the kernel of the call's last step: what the call gives may be watched.
void Execution::handOnResults(const Expr& call) {
    const bool isThere = std::ranges::none_of(m_graph.body(call.bodies.front()).outputs,
                                              [this](NodeId output) { return read(output).isNone(); });
    const bool wasHandedOn =
        std::ranges::any_of(call.outputs, [this](NodeId output) { return m_recording.computedNodes[output.index()]; });
    if (isThere && !wasHandedOn) (void)publishResults(call);
}

void Execution::closeCall(ExprState state) {
    const Call call = m_calls.back();
    m_calls.pop_back();
    if (m_trace) m_trace->leave();
    m_recording.elapsed[call.expr.index()] += nowNs() - call.startNs;
    m_recording.states[call.expr.index()] = state;
    if (state == ExprState::Failed) m_recording.failedAt = call.expr;  // the outermost expr is set last
}

Execution::Outcome Execution::runStep(const Step& step, int depth) {
    const Expr& expr = m_graph.expr(step.expr);
    if (step.isOptional && step.kind != Step::Kind::Body && lacksInput(expr)) return goOnWithout(expr);
    if (m_options.observer) {
        m_options.observer->exprStarted(step.expr);
        // It may have waited there for long.
        if (m_work.cancelled()) {
            fail(base::cancelled("before " + expr.target));
            m_recording.states[step.expr.index()] = ExprState::Failed;
            m_recording.failedAt = step.expr;
            return Outcome::Failed;
        }
    }
    const std::int64_t start = nowNs();
    if (m_recording.started[step.expr.index()] == 0) m_recording.started[step.expr.index()] = start - m_startNs;
    if (m_trace) m_trace->enter(step.expr);
    const Outcome outcome = isKnown(step, expr) ? publishAll(expr, std::move(m_known)) : execute(step, expr, depth);
    if (m_trace) m_trace->leave();
    const std::int64_t elapsed = nowNs() - start;
    m_recording.elapsed[step.expr.index()] += elapsed;
    if (outcome == Outcome::Failed) {
        m_recording.states[step.expr.index()] = ExprState::Failed;
        if (step.isOptional && m_recording.error->kind != base::ErrorKind::Cancelled) {
            if (!m_recording.failure(m_failure.expr)) m_recording.failures.push_back(m_failure);
            m_failure = {};
            m_recording.error.reset();
            m_recording.failedAt = {};
            return goOnWithout(expr);
        }
        m_recording.failedAt = step.expr;  // the outermost expr is set last
        return outcome;
    }
    m_recording.states[step.expr.index()] = ExprState::Done;
    if (m_options.observer) {
        if (auto changed = m_files.changed()) {
            fail(std::move(*changed));
            return Outcome::Failed;
        }
        std::vector<Value> outputs;
        for (NodeId node : expr.outputs) outputs.push_back(m_values[node.index()]);
        m_options.observer->exprFinished(step.expr, outputs, elapsed);
    }
    return outcome;
}

/// Whether the observer has the results of a step: they are in m_known.
bool Execution::isKnown(const Step& step, const Expr& expr) {
    if (!m_options.observer || !expr.bodies.empty() || expr.outputs.empty()) return false;
    m_known.assign(expr.outputs.size(), Value());
    if (!m_options.observer->takeKnown(step.expr, m_known)) return false;
    if (step.call->stream != 0) ++m_draws[step.expr];
    return true;
}

/// Of a step and how often it has run: the same whatever else of the program is run.
std::uint64_t Execution::seedOf(const Step& step) {
    if (step.call->stream == 0) return m_options.seed;
    const std::uint64_t ofStep = base::mixBits(m_options.seed + step.call->stream * base::Random::kStep);
    return base::mixBits(ofStep + ++m_draws[step.expr] * base::Random::kStep);
}

Execution::Outcome Execution::execute(const Step& step, const Expr& expr, int depth) {
    switch (step.kind) {
        case Step::Kind::Operator: return runOperator(step, expr, depth);
        case Step::Kind::Body: return runInner(expr, depth);
        case Step::Kind::Collect:
            if (expr.outputs.empty()) return Outcome::Finished;
            return publish(expr.outputs.front(), expr.arguments.empty() ? Value() : build(expr.arguments.front()));
        case Step::Kind::Callable: {
            std::vector<Value> arguments;
            for (const Argument& argument : expr.arguments) arguments.push_back(build(argument));
            const base::StopScope stop(m_work.stop);
            const auto* draws = dynamic_cast<const graph::SeededCallable*>(expr.callable.get());
            auto results = draws ? draws->call(arguments, seedOf(step)) : expr.callable->call(arguments);
            if (results) return publishAll(expr, std::move(*results));
            fail(described(results.error(), step, expr));
            return Outcome::Failed;
        }
        case Step::Kind::Impossible: fail(described(step.call->problem, step, expr)); return Outcome::Failed;
        case Step::Kind::Enter:
        case Step::Kind::Leave: break;  // see runRowStep
    }
    return Outcome::Failed;
}

/// A called module or model-local function as one step.
Execution::Outcome Execution::runInner(const Expr& expr, int depth) {
    Outcome outcome = publishInputs(expr);
    if (outcome == Outcome::Finished) outcome = runBody(expr.bodies.front(), depth + 1);
    return outcome == Outcome::Finished ? publishResults(expr) : outcome;
}

/// The called body's inputs are the nodes among the arguments, in order.
Execution::Outcome Execution::publishInputs(const Expr& call) {
    const Body& body = m_graph.body(call.bodies.front());
    for (std::size_t i = 0; i < body.inputs.size() && i < call.inputs.size(); ++i) {
        if (isMissing(call.inputs[i])) continue;
        const Outcome outcome = publish(body.inputs[i], read(call.inputs[i]));
        m_recording.states[m_graph.node(body.inputs[i]).producer.index()] = ExprState::Done;
        if (outcome != Outcome::Finished) return outcome;
    }
    return Outcome::Finished;
}

Execution::Outcome Execution::publishResults(const Expr& call) {
    const Body& body = m_graph.body(call.bodies.front());
    if (std::ranges::any_of(body.outputs, [this](NodeId output) { return isMissing(output); }))
        return goOnWithout(call);
    if (call.outputs.size() == 1) return publish(call.outputs.front(), build(body.result));
    std::vector<Value> results;
    for (NodeId output : body.outputs) results.push_back(read(output));
    return publishAll(call, std::move(results));
}

Execution::Outcome Execution::publishAll(const Expr& expr, std::vector<Value> values) {
    Outcome outcome = Outcome::Finished;
    for (std::size_t i = 0; i < expr.outputs.size() && i < values.size(); ++i) {
        const Outcome published = publish(expr.outputs[i], std::move(values[i]));
        if (published == Outcome::Failed) return published;
        if (published == Outcome::AllEndsReached) outcome = published;
    }
    return outcome;
}

Value Execution::build(const Argument& argument) const {
    ValueList items;
    switch (argument.kind) {
        case Argument::Kind::Omitted: return Value();
        case Argument::Kind::Node: return read(argument.node);
        case Argument::Kind::Constant: return argument.constant;
        case Argument::Kind::Dict: {
            ValueDict dict;
            for (std::size_t i = 0; i < argument.items.size(); ++i)
                dict.emplace_back(argument.keys[i], build(argument.items[i]));
            return Value::dict(std::move(dict));
        }
        default: break;
    }
    for (const Argument& item : argument.items) items.push_back(build(item));
    if (argument.kind == Argument::Kind::List) return Value::list(std::move(items));
    if (argument.kind == Argument::Kind::Tuple) return Value::tuple(std::move(items));
    items.resize(3);
    return Value::object(std::make_shared<tensor::SliceValue>(items[0], items[1], items[2]));
}

}  // namespace sonde::exec
