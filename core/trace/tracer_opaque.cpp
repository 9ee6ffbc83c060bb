// Modules that run on values: opaque leaves and functions of the user.

#include <utility>

#include "core/graph/seeded_callable.h"
#include "core/trace/at_once.h"
#include "core/trace/live_object.h"
#include "core/trace/memory.h"
#include "core/trace/seeded_evaluator.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::NodeId;
using tensor::Value;

namespace {

/// A module whose forward depends on the data: run on values when its turn comes.
class ModuleCallable final : public graph::SeededCallable {
  public:
    ModuleCallable(std::function<Var(std::span<const Var>)> forward, std::shared_ptr<const Evaluator> evaluator,
                   bool isProgram)
        : m_forward(std::move(forward)), m_evaluator(std::move(evaluator)), m_isProgram(isProgram) {}

    base::Result<std::vector<Value>> call(std::span<const Value> arguments) const override {
        return run(arguments, m_evaluator);
    }
    base::Result<std::vector<Value>> call(std::span<const Value> arguments, std::uint64_t seed) const override {
        const auto* draws = dynamic_cast<const SeedableEvaluator*>(m_evaluator.get());
        return run(arguments, draws ? draws->withSeed(seed) : m_evaluator);
    }

  private:
    base::Result<std::vector<Value>> run(std::span<const Value> arguments,
                                         const std::shared_ptr<const Evaluator>& evaluator) const {
        const EvaluatorScope scope(evaluator);
        const PausedTracing paused;
        // A graph shows no change of what a call is given, and a run leaves the model as it is.
        const WritesAsValues changes(false);
        const WriteProtection protection(m_isProgram ? std::span<const Value>() : arguments);
        try {
            std::vector<Var> in;
            for (const Value& argument : arguments) in.emplace_back(m_isProgram ? copied(argument) : argument);
            const Var result = m_forward(in);
            for (std::size_t i = 0; i < in.size() && !m_isProgram; ++i) {
                if (isReformed(in[i].value(), arguments[i]))
                    return base::runError(
                        "the shape of an argument is changed in place: a module that runs on values cannot do that in a graph");
            }
            return std::vector<Value>{result.toValue()};
        } catch (...) {
            const TraceError error = TraceError::ofCurrentException();
            base::Error said = base::runError(error.message());
            if (error.isOwnException() && !m_isProgram) {
                said.withHint(
                    "if the model's own code handles this exception, run the module that does so as one call: "
                    "--tracer robust --leaf CLASS");
            }
            return said;
        }
    }

    static bool isReformed(const Value& now, const Value& before) {
        return now.isTensor() && before.isTensor() &&
               (now.tensor().shape() != before.tensor().shape() || now.tensor().strides() != before.tensor().strides());
    }

    /// Nothing uses the inputs of a whole program after it: it may write to copies.
    static Value copied(const Value& value) {
        if (!value.isTensor() || value.tensor().dtype() == tensor::DType::String) return value;
        auto copy = value.tensor().clone();
        return copy ? Value(std::move(*copy)) : value;
    }

    std::function<Var(std::span<const Var>)> m_forward;
    std::shared_ptr<const Evaluator> m_evaluator;
    bool m_isProgram;
};

}  // namespace

std::shared_ptr<const graph::Callable> Tracer::runnable(std::function<Var(std::span<const Var>)> function) {
    return std::make_shared<ModuleCallable>(std::move(function), EvaluatorScope::current(), false);
}

void Tracer::recordInside(Module& module, const std::string& path, ExprId call, const std::vector<Var>& arguments,
                          const Keywords& keywords) {
    const std::size_t firstExpr = m_graph->exprCount();
    const BodyId body = m_graph->addBody(call, path);
    const graph::ScopeId scope = m_frames.back().scope;
    const NodeId node = m_graph->expr(call).outputs.front();
    const std::size_t depth = m_frames.size();
    std::string failure;
    std::function<void()> changes;
    const std::optional<TraceError> raisedBefore = m_raised;
    try {
        m_frames.push_back({body, scope, m_graph->node(node).name + '/', {}, {}, true});
        const std::vector<ForwardParameter> parameters = module.signature();
        std::vector<std::pair<NodeId, Var>> inputs;
        std::vector<Var> inner;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            inner.push_back(insideOf(arguments[i], body, i < parameters.size() ? parameters[i].name : "args", inputs));
        }
        Keywords innerKeywords;
        for (const auto& [name, value] : keywords)
            innerKeywords.emplace_back(name, insideOf(value, body, name, inputs));
        const MemoryMark mark = m_memory->mark();
        const Var result = module.forward(module.bound(std::move(inner), innerKeywords));
        throwIfCaught();
        changes = finishCall(call, mark, inputs, result, depth);
    } catch (...) {
        const TraceError error = TraceError::ofCurrentException();
        // Of modules that call each other too deeply the outermost leaf becomes opaque, and not one after the other.
        if (error.kind() == TraceErrorKind::Depth && depth > 1) throw;
        failure = error.message();
        m_raised = raisedBefore;
    }
    m_frames.resize(depth);
    if (changes) {
        if (m_follower) m_follower->recorded(call);
        changes();
        return;
    }
    m_graph->setResult(body, Argument::omitted());
    abandon(firstExpr);
    m_failures.emplace(path, failure);
    makeOpaque(module, call, arguments, keywords);
}

void Tracer::makeOpaque(Module& module, ExprId call, const std::vector<Var>& arguments, const Keywords& keywords) {
    // The callable sees one value per parameter, so names and defaults are settled here.
    std::vector<Argument> settled;
    for (const Var& value : module.bound(arguments, keywords)) settled.push_back(toArgument(value));
    m_graph->setArguments(call, std::move(settled));
    Expr& expr = m_graph->mutableExpr(call);
    expr.bodies.clear();
    expr.callable =
        std::make_shared<ModuleCallable>(module.forwardFunction(), EvaluatorScope::current(), &module == m_root.get());
    if (m_follower) m_follower->recorded(call);
    if (!followsInPlace()) return;
    // What it gives may be what it was given, or a part of it.
    const Var made = Var::proxy(*this, m_graph->expr(call).outputs.front());
    for (const Var& argument : arguments) m_memory->share(made, argument, {});
    for (const auto& [name, argument] : keywords) m_memory->share(made, argument, {});
}

}  // namespace sonde::trace
