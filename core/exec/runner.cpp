#include <algorithm>
#include <exception>

#include "core/base/current_stop.h"
#include "core/exec/block_cache.h"
#include "core/exec/census.h"
#include "core/exec/clock.h"
#include "core/exec/file_check.h"
#include "core/exec/plan_impl.h"
#include "core/exec/prepared_cache.h"
#include "core/ops/kernels/followers.h"
#include "core/tensor/slice_value.h"

namespace sonde::exec {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using tensor::ValueDict;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

/// What is passed up when a run ends early without having failed.
enum class Outcome : std::uint8_t { Finished, AllEndsReached, Failed };

/// One run of one plan. Lives on the stack of Runner::run.
class Execution {
  public:
    Execution(const Plan& plan, const base::WorkContext& work, const RunOptions& options,
              ops::RunEnvironment& environment, BlockCache& blocks, PreparedCache& prepared, CensusMemory& censusMemory,
              FileCheck& files)
        : m_plan(plan.impl()), m_graph(plan.graph()), m_work(work), m_options(options), m_environment(environment),
          m_blocks(blocks), m_prepared(prepared), m_files(files), m_values(m_graph.nodeCount()),
          m_isMissing(m_graph.nodeCount(), false), m_followed(m_graph.exprCount(), false) {
        if (options.countsBad) m_census.emplace(m_plan, m_values, censusMemory, *environment.pool);
        m_recording.states.assign(m_graph.exprCount(), ExprState::NotReached);
        m_recording.elapsed.assign(m_graph.exprCount(), 0);
        m_recording.started.assign(m_graph.exprCount(), 0);
        m_recording.computedNodes.assign(m_graph.nodeCount(), false);
        m_recording.joinedTo.assign(m_graph.exprCount(), ExprId());
        m_endsLeft = 0;
        for (bool end : m_plan.isEnd) m_endsLeft += end ? 1 : 0;
    }

    Recording run(std::span<const Value> inputs) {
        m_startNs = nowNs();
        Outcome outcome = bindInputs(inputs);
        if (outcome == Outcome::Finished) outcome = runBody(m_graph.mainId(), 0);
        m_recording.totalNs = nowNs() - m_startNs;
        if (outcome != Outcome::Failed) collectOutputs();
        else if (m_failure.expr.valid() && m_recording.error->kind != base::ErrorKind::Cancelled)
            m_recording.failures.insert(m_recording.failures.begin(), std::move(m_failure));
        if (m_census) m_recording.bad = m_census->take();
        return std::move(m_recording);
    }

    Outcome runBody(BodyId id, int depth);
    const InternalGraph& graph() const { return m_graph; }
    using BadCount = ops::kernels::BadCount;
    /// `kept` goes into the recording in its place, if it is there; `bad` is known if the kernel has counted.
    Outcome publish(NodeId node, Value value, Value kept = {}, const std::optional<BadCount>& bad = {});
    void fail(base::Error error) { m_recording.error = std::move(error); }
    base::Error& error() { return *m_recording.error; }
    /// The value of a node: constants are read from the graph, everything else from this run.
    const Value& read(NodeId node) const {
        const NodeId source = m_plan.source[node.index()];
        const graph::Node& n = m_graph.node(source);
        return n.constant ? *n.constant : m_values[source.index()];
    }
    Value build(const Argument& argument) const;

  private:
    friend class KernelBodies;

    Outcome bindInputs(std::span<const Value> inputs);
    void collectOutputs();
    Outcome runRowStep(const Step& step, int depth);
    Outcome runStep(const Step& step, int depth);
    Outcome goOnWithout(const Expr& expr);
    bool isMissing(NodeId node) const { return m_isMissing[m_plan.source[node.index()].index()]; }
    bool lacksInput(const Expr& expr) const;
    void closeCall(ExprState state);
    Outcome execute(const Step& step, const Expr& expr, int depth);
    using Followers = ops::kernels::Followers;
    Outcome runOperator(const Step& step, const Expr& expr, int depth);
    static bool areFloats(std::span<const Value> inputs);
    std::vector<Followers::Link> linksOf(const Step& step);
    Outcome publishFollowed(const Step& step, const Expr& expr, Value result, const Followers& followers);
    Outcome runInner(const Expr& expr, int depth);
    Outcome publishInputs(const Expr& call);
    Outcome publishResults(const Expr& call);
    Outcome publishAll(const Expr& expr, std::vector<Value> values);
    base::Error described(base::Error error, const Step& step, const Expr& expr);

    const Plan::Impl& m_plan;
    const InternalGraph& m_graph;
    const base::WorkContext& m_work;
    const RunOptions& m_options;
    ops::RunEnvironment& m_environment;
    BlockCache& m_blocks;
    PreparedCache& m_prepared;
    FileCheck& m_files;
    std::vector<Value> m_values;    ///< by source node
    std::vector<bool> m_isMissing;  ///< by source node: an operation that is only watched failed before it
    std::optional<Census> m_census;
    Failure m_failure;                           ///< the last one
    std::unordered_map<NodeId, Value> m_keptAs;  ///< by source node: what is kept instead of the value
    struct Call {
        ExprId expr;
        std::int64_t startNs;
    };
    std::vector<Call> m_calls;             ///< entered and not left, outermost first
    const std::string* m_title = nullptr;  ///< of the step of the main body that the run is in
    std::vector<std::int64_t> m_passes;    ///< of the loops that are running, outermost first
    Recording m_recording;
    std::size_t m_endsLeft = 0;
    std::vector<bool> m_followed;  ///< by expr: done by the kernel of the step that it follows, the last time that ran
    std::int64_t m_startNs = 0;
};

/// Lets control-flow kernels run the bodies of their expr.
class KernelBodies final : public ops::BodyRunner {
  public:
    KernelBodies(Execution& execution, const Expr& expr, int depth)
        : m_execution(execution), m_expr(expr), m_depth(depth) {}

    base::Result<std::vector<Value>> run(std::size_t index, std::span<const Value> inputs,
                                         std::int64_t iteration) override {
        if (index >= m_expr.bodies.size()) return base::runError("there is no body " + std::to_string(index));
        const Body& body = m_execution.graph().body(m_expr.bodies[index]);
        if (inputs.size() > body.inputs.size()) {
            return base::runError("the body takes " + std::to_string(body.inputs.size()) + " inputs, not " +
                                  std::to_string(inputs.size()));
        }
        // Several bodies are branches, of which one runs; a single one is run again and again.
        const bool isLoop = m_expr.bodies.size() == 1;
        if (!isLoop) m_execution.m_recording.branchesTaken[m_expr.id].push_back(index);
        const PassScope pass(m_execution.m_passes, isLoop ? std::optional(iteration) : std::nullopt);
        outcome = Outcome::Finished;
        for (std::size_t i = 0; i < inputs.size() && outcome == Outcome::Finished; ++i) {
            outcome = m_execution.publish(body.inputs[i], inputs[i]);
        }
        if (outcome == Outcome::Finished) outcome = m_execution.runBody(body.id, m_depth + 1);
        if (outcome == Outcome::AllEndsReached) return base::cancelled("all end points are computed");
        if (outcome == Outcome::Failed) return m_execution.error();
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

Outcome Execution::bindInputs(std::span<const Value> inputs) {
    const std::vector<NodeId>& nodes = m_graph.inputs();
    if (inputs.size() > nodes.size()) {
        fail(base::usageError("the model has " + std::to_string(nodes.size()) + " inputs, not " +
                              std::to_string(inputs.size())));
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
        if (m_plan.keep[i]) m_recording.kept[node.id].push_back(*node.constant);
        if (m_plan.isEnd[i] && --m_endsLeft == 0) return Outcome::AllEndsReached;
    }
    return Outcome::Finished;
}

void Execution::collectOutputs() {
    const std::vector<NodeId>& ends = m_plan.options.end;
    for (NodeId node : ends.empty() ? m_graph.outputs() : ends) m_recording.outputs.push_back(read(node));
}

Outcome Execution::publish(NodeId node, Value value, Value kept, const std::optional<BadCount>& bad) {
    const std::size_t index = node.index();
    const NodeId source = m_plan.source[index];
    if (m_census) m_census->made(node, value, bad);
    if (source == node) m_isMissing[index] = false;
    // Calls hand values on under other names.
    if (!kept.isNone()) m_keptAs[source] = kept;
    else if (source == node) m_keptAs.erase(node);
    else if (const auto found = m_keptAs.find(source); found != m_keptAs.end()) kept = found->second;
    m_recording.computedNodes[index] = true;
    if (m_plan.keep[index]) {
        m_recording.kept[node].push_back(kept.isNone() ? value : std::move(kept));
        if (!m_passes.empty()) m_recording.keptPasses[node].push_back(m_passes);
    }
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

Outcome Execution::runBody(BodyId id, int depth) {
    if (depth > 200) {
        fail(base::runError("bodies call each other more than 200 deep"));
        return Outcome::Failed;
    }
    const bool isMain = id == m_graph.mainId();
    const BodyPlan& body = m_plan.bodies[id.index()];
    const std::size_t calls = m_calls.size();  // that this row is in
    const std::vector<Step>& steps = m_options.observer || !body.isRow ? body.steps : body.joined;
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
            while (m_calls.size() > calls) closeCall(outcome == Outcome::Failed ? ExprState::Failed : ExprState::Done);
            return outcome;
        }
        for (NodeId node : step.release) m_values[node.index()] = Value();
    }
    return Outcome::Finished;
}

Outcome Execution::runRowStep(const Step& step, int depth) {
    const Expr& expr = m_graph.expr(step.expr);
    if (step.kind == Step::Kind::Enter) {
        const std::int64_t now = nowNs();
        if (m_recording.started[expr.id.index()] == 0) m_recording.started[expr.id.index()] = now - m_startNs;
        m_calls.push_back({expr.id, now});
        return publishInputs(expr);
    }
    if (step.kind == Step::Kind::Leave) {
        const Outcome outcome = publishResults(expr);
        if (outcome == Outcome::Finished) closeCall(ExprState::Done);
        return outcome;
    }
    // The kernel of the step that it follows may have done it already.
    if (step.follows && m_followed[expr.id.index()]) return Outcome::Finished;
    return runStep(step, depth);
}

/// What only watch points want and cannot be computed is missing, with everything that reads it: watching ends no run.
Outcome Execution::goOnWithout(const Expr& expr) {
    for (NodeId node : expr.outputs) {
        const NodeId source = m_plan.source[node.index()];
        if (source == node) m_isMissing[node.index()] = true, m_values[node.index()] = Value();
    }
    return Outcome::Finished;
}

bool Execution::lacksInput(const Expr& expr) const {
    return std::ranges::any_of(expr.inputs, [this](NodeId input) { return isMissing(input); });
}

void Execution::closeCall(ExprState state) {
    const Call call = m_calls.back();
    m_calls.pop_back();
    m_recording.elapsed[call.expr.index()] += nowNs() - call.startNs;
    m_recording.states[call.expr.index()] = state;
    if (state == ExprState::Failed) m_recording.failedAt = call.expr;  // the outermost expr is set last
}

Outcome Execution::runStep(const Step& step, int depth) {
    const Expr& expr = m_graph.expr(step.expr);
    if (step.isOptional && step.kind != Step::Kind::Body && lacksInput(expr)) return goOnWithout(expr);
    if (m_options.observer) m_options.observer->exprStarted(step.expr);
    const std::int64_t start = nowNs();
    if (m_recording.started[step.expr.index()] == 0) m_recording.started[step.expr.index()] = start - m_startNs;
    const Outcome outcome = execute(step, expr, depth);
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

Outcome Execution::execute(const Step& step, const Expr& expr, int depth) {
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
            auto results = expr.callable->call(arguments);
            if (results) return publishAll(expr, std::move(*results));
            fail(described(results.error(), step, expr));
            return Outcome::Failed;
        }
        case Step::Kind::Impossible: fail(described(step.problem, step, expr)); return Outcome::Failed;
        case Step::Kind::Enter:
        case Step::Kind::Leave: break;  // see runRowStep
    }
    return Outcome::Failed;
}

Outcome Execution::runOperator(const Step& step, const Expr& expr, int depth) {
    std::vector<Value> inputs(step.arguments.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = step.arguments[i] ? build(*step.arguments[i]) : step.fallbacks[i];
    }
    for (const Step& follower : step.followers) m_followed[follower.expr.index()] = false;
    std::optional<Followers> followers;
    KernelBodies bodies(*this, expr, depth);
    base::Result<std::vector<Value>> results = base::runError("the operator did not run");
    try {
        const auto constantsOf = [&] { return constantInputs(m_plan, step); };
        auto prepared = m_prepared.find(step, constantsOf, m_environment);
        if (prepared) {
            const auto call = [&](Followers::Census mode) {
                const bool leads = step.leads && (m_census || !step.followers.empty()) && areFloats(inputs);
                if (leads) followers.emplace(linksOf(step), m_blocks, mode);
                const Followers::Scope scope(leads ? &*followers : nullptr);
                results = ops::callPrepared(*step.op, inputs, step.attributes, expr.outputs.size(), m_environment,
                                            expr.op.version, prepared->get(), expr.bodies.empty() ? nullptr : &bodies,
                                            &m_blocks);
            };
            call(m_census && step.leads ? m_census->modeFor(step) : Followers::Census::None);
            if (results && followers && followers->detected()) {
                m_census->detectedIn(step);
                call(Followers::Census::Count);
            }
        } else {
            results = std::move(prepared).error();
        }
    } catch (const std::bad_alloc&) {
        results = base::runError("no memory left");
    } catch (const std::exception& exception) {
        results = base::runError(exception.what());
    } catch (...) {  // of a model's own code, which fills weights when they are first read
        results = base::runError("the model's own code threw an exception that is not a std::exception");
    }
    if (results && followers) return publishFollowed(step, expr, (*results)[0], *followers);
    if (results) return publishAll(expr, std::move(*results));
    if (bodies.outcome == Outcome::AllEndsReached) return Outcome::AllEndsReached;
    // An error inside a body was described where it happened; here only the way up to it is added.
    fail(bodies.outcome == Outcome::Failed ? results.error().withNote("inside " + expr.target + " " + expr.name)
                                           : described(results.error(), step, expr));
    return Outcome::Failed;
}

/// Only float32 all through: nothing is promoted or narrowed on the way, and the kernel's result is what others follow.
bool Execution::areFloats(std::span<const Value> inputs) {
    for (const Value& value : inputs) {
        if (value.isTensor() && value.tensor().dtype() != tensor::DType::Float32) return false;
    }
    return true;
}

std::vector<Execution::Followers::Link> Execution::linksOf(const Step& step) {
    std::vector<Followers::Link> links;
    for (const Step& follower : step.followers) {
        Followers::Link link{follower.op,          {},      follower.followsAt,  follower.ownInputs,
                             &follower.attributes, nullptr, follower.overwrites, follower.onlyKept,
                             follower.isKept};
        for (std::size_t i = 0; i < follower.arguments.size(); ++i) {
            const bool isMadeHere = i == follower.followsAt || follower.ownInputs[i] != ops::kernels::kNoInput;
            link.inputs.push_back(isMadeHere              ? Value()
                                  : follower.arguments[i] ? build(*follower.arguments[i])
                                                          : follower.fallbacks[i]);
        }
        const auto constantsOf = [&] { return constantInputs(m_plan, follower); };
        if (auto prepared = m_prepared.find(follower, constantsOf, m_environment)) link.prepared = *prepared;
        links.push_back(std::move(link));
    }
    return links;
}

/// The results of a step and of those that followed it, except those that were overwritten.
Outcome Execution::publishFollowed(const Step& step, const Expr& expr, Value result, const Followers& followers) {
    NodeId node = expr.outputs.front();
    Value kept;
    std::optional<BadCount> bad = followers.badInLeader();
    for (std::size_t f = 0;; ++f) {
        const bool isOverwritten = f < followers.bound() && step.followers[f].overwrites;
        m_recording.computedNodes[node.index()] = true;
        if (isOverwritten) {
            if (m_census) m_census->made(node, result, bad);
        } else {
            const Outcome outcome = publish(node, std::move(result), std::move(kept), bad);
            if (outcome != Outcome::Finished) return outcome;
        }
        if (f == followers.bound()) return Outcome::Finished;
        const ExprId next = step.followers[f].expr;
        m_followed[next.index()] = true;
        m_recording.states[next.index()] = ExprState::Done;
        m_recording.joinedTo[next.index()] = expr.id;
        if (m_recording.started[next.index()] == 0) m_recording.started[next.index()] = nowNs() - m_startNs;
        node = m_graph.expr(next).outputs.front();
        result = Value(followers.result(f));
        bad = followers.badInResult(f);
        kept = step.followers[f].isKept ? Value(followers.kept(f)) : Value();
    }
}

/// A called module or model-local function as one step.
Outcome Execution::runInner(const Expr& expr, int depth) {
    Outcome outcome = publishInputs(expr);
    if (outcome == Outcome::Finished) outcome = runBody(expr.bodies.front(), depth + 1);
    return outcome == Outcome::Finished ? publishResults(expr) : outcome;
}

/// The called body's inputs are the nodes among the arguments, in order.
Outcome Execution::publishInputs(const Expr& call) {
    const Body& body = m_graph.body(call.bodies.front());
    for (std::size_t i = 0; i < body.inputs.size() && i < call.inputs.size(); ++i) {
        if (isMissing(call.inputs[i])) continue;
        const Outcome outcome = publish(body.inputs[i], read(call.inputs[i]));
        m_recording.states[m_graph.node(body.inputs[i]).producer.index()] = ExprState::Done;
        if (outcome != Outcome::Finished) return outcome;
    }
    return Outcome::Finished;
}

Outcome Execution::publishResults(const Expr& call) {
    const Body& body = m_graph.body(call.bodies.front());
    if (std::ranges::any_of(body.outputs, [this](NodeId output) { return isMissing(output); }))
        return goOnWithout(call);
    if (call.outputs.size() == 1) return publish(call.outputs.front(), build(body.result));
    std::vector<Value> results;
    for (NodeId output : body.outputs) results.push_back(read(output));
    return publishAll(call, std::move(results));
}

Outcome Execution::publishAll(const Expr& expr, std::vector<Value> values) {
    Outcome outcome = Outcome::Finished;
    for (std::size_t i = 0; i < expr.outputs.size() && i < values.size(); ++i) {
        if (publish(expr.outputs[i], std::move(values[i])) == Outcome::AllEndsReached)
            outcome = Outcome::AllEndsReached;
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

/// The error with the place where it came up; also remembers it as the last failure.
base::Error Execution::described(base::Error error, const Step& step, const Expr& expr) {
    if (m_work.cancelled()) return base::cancelled("during " + expr.target);
    error.kind = base::ErrorKind::Run;
    const std::string node = expr.outputs.empty() ? expr.name : m_graph.node(expr.outputs.front()).name;
    std::string types;
    m_failure = {expr.id, error, {}};
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
        const Value value = step.arguments[i] ? build(*step.arguments[i]) : step.fallbacks[i];
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

}  // namespace

struct Runner::Impl {
    explicit Impl(std::size_t threads) : pool(threads) {}
    base::ThreadPool pool;
    BlockCache blocks;
    PreparedCache prepared;
    CensusMemory census;
};

Runner::Runner(std::size_t threads) : m_impl(std::make_unique<Impl>(threads)) {}
Runner::~Runner() = default;
base::ThreadPool& Runner::pool() { return m_impl->pool; }

Recording Runner::run(const Plan& plan, std::span<const Value> inputs, const base::WorkContext& work,
                      const RunOptions& options) {
    ops::RunEnvironment environment;
    environment.pool = &m_impl->pool;
    environment.stop = work.stop;
    environment.seed = options.seed;
    environment.exact = plan.options().exact;
    m_impl->prepared.select(plan.sharedGraph(), environment.exact);
    m_impl->census.select(plan.sharedGraph());
    m_impl->blocks.nextRun();
    FileCheck files(plan.sharedGraph(), inputs);
    Recording recording;
    std::optional<base::Error> changed = files.changed();
    if (!changed) {
        recording = Execution(plan, work, options, environment, m_impl->blocks, m_impl->prepared, m_impl->census, files)
                        .run(inputs);
        changed = files.changed();
    }
    return changed ? recordingOfChangedFiles(plan, std::move(*changed), recording.totalNs) : std::move(recording);
}

}  // namespace sonde::exec
