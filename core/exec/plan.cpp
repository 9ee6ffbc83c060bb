#include "core/exec/plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/exec/flatten.h"
#include "core/exec/join.h"
#include "core/exec/needed.h"
#include "core/exec/plan_impl.h"
#include "core/exec/releases.h"
#include "core/graph/known_argument.h"
#include "core/graph/missing_data.h"
#include "core/graph/purify.h"
#include "core/graph/traits.h"
#include "core/ops/kernels/epilogue.h"

namespace sonde::exec {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprKind;

namespace {

/// See Step::stream.
std::unordered_map<ExprId, std::uint64_t> streamsOf(const InternalGraph& graph) {
    std::unordered_map<ExprId, std::uint64_t> streams;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        const bool mayDraw =
            graph::traitsOf(expr).is(operators::Trait::Random) || graph::drawsNumbers(graph, expr).value_or(true);
        const bool draws = mayDraw && !expr.attributes.find("seed");
        if (draws || expr.callable) streams.emplace(id, streams.size() + 1);
    }
    return streams;
}

class Planner {
  public:
    Planner(PlanImpl& plan, const ops::Registry& registry)
        : m_plan(plan), m_graph(*plan.graph), m_registry(registry),
          m_alike(plan.options.alike ? &plan.options.alike->impl() : nullptr),
          m_needed(neededExprs(m_graph, plan.options, registry, m_alike ? &m_alike->effect : nullptr)) {}

    void run() {
        const PlanOptions& options = m_plan.options;
        m_plan.keep.assign(m_graph.nodeCount(), options.watchAll);
        m_plan.isEnd.assign(m_graph.nodeCount(), false);
        for (NodeId node : options.watch) m_plan.keep[node.index()] = true;
        for (NodeId node : options.end) {
            m_plan.isEnd[node.index()] = true;
            // In a loop it is to be known which iteration its value is of.
            if (m_graph.expr(m_graph.node(node).producer).body != m_graph.mainId()) m_plan.keep[node.index()] = true;
        }

        m_plan.source = m_alike ? m_alike->source : valueSources(m_graph);
        m_plan.effect = m_needed.effect;
        if (m_alike) m_plan.calls = m_alike->calls;
        else m_plan.calls.resize(m_graph.exprCount());
        planEdits();

        m_plan.bodies.resize(m_graph.bodyCount());
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) planBody(BodyId(i));
        const Releases releases(m_plan);
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) {
            m_plan.bodies[i].isRow = rowOf(m_graph, BodyId(i)) == BodyId(i);
            releases.plan(BodyId(i), m_plan.bodies[i].steps, false);
        }
        cutAfterEnds(m_plan, m_plan.bodies.front().steps);
        for (const Step& step : m_plan.bodies.front().steps) m_plan.mainSteps.push_back(step.expr);
        m_plan.missing.assign(m_missing.begin(), m_missing.end());
    }

    /// A stored value that the plan needs and the graph lacks; invalid if there is none.
    NodeId lacking() const { return m_lacking; }

  private:
    void planEdits() {
        if (const auto& edits = m_plan.options.edits) {
            for (const ValueEdit& edit : edits->values) m_plan.edits[edit.node].push_back(&edit);
            for (const auto& [node, value] : edits->constants) m_plan.constants[node] = value;
        }
        if (m_plan.options.given.empty()) return;
        std::vector<std::size_t> position(m_graph.exprCount(), 0);
        for (std::size_t next = 0; const ExprId id : m_graph.recursiveOrder(m_graph.mainId()))
            position[id.index()] = next++;
        const auto positionOf = [&](NodeId node) { return position[m_graph.node(node).producer.index()]; };
        for (std::size_t i = 0; i < m_plan.options.given.size(); ++i)
            if (const NodeId node = m_plan.options.given[i]; m_needed.given[node.index()])
                m_plan.given.emplace_back(i, node);
        std::ranges::stable_sort(m_plan.given, {}, [&](const auto& given) { return positionOf(given.second); });
    }

    void planBody(BodyId id) {
        const Body& body = m_graph.body(id);
        std::vector<Step>& steps = m_plan.bodies[id.index()].steps;
        for (ExprId exprId : body.order) {
            const Expr& expr = m_graph.expr(exprId);
            if (!m_needed.runs[exprId.index()] || expr.kind == ExprKind::Input || isConstant(expr)) continue;
            if (lacksValue(expr) && !m_lacking.valid()) m_lacking = expr.outputs.front();
            steps.push_back(planStep(expr));
        }
    }

    bool isConstant(const Expr& expr) const {
        return !expr.outputs.empty() && m_graph.node(expr.outputs.front()).constant.has_value();
    }

    /// Stored in a file that is missing.
    bool lacksValue(const Expr& expr) const {
        return expr.kind == ExprKind::Constant && expr.op.name.empty() && !expr.outputs.empty() &&
               !m_plan.constants.contains(expr.outputs.front());
    }

    Step planStep(const Expr& expr) {
        std::shared_ptr<const StepCall>& call = m_plan.calls[expr.id.index()];
        if (!call) call = std::make_shared<const StepCall>(makeCall(expr));
        if (!call->missing.empty()) m_missing.insert(call->missing);
        Step step;
        step.expr = expr.id;
        step.call = call;
        step.kind = call->kind;
        step.hasEffect = m_needed.effect[expr.id.index()];
        step.isOptional = isOptional(expr);
        return step;
    }

    StepCall makeCall(const Expr& expr) {
        StepCall call;
        if (!m_streams) m_streams = streamsOf(m_graph);
        if (const auto stream = m_streams->find(expr.id); stream != m_streams->end()) call.stream = stream->second;
        for (const Argument& argument : expr.arguments) call.arguments.push_back(&argument);
        if (expr.kind == ExprKind::Output) {
            call.kind = Step::Kind::Collect;
        } else if (expr.op.name.empty() && !expr.bodies.empty()) {
            call.kind = Step::Kind::Body;
        } else if (expr.op.name.empty() && expr.callable) {
            call.kind = Step::Kind::Callable;
        } else {
            planOperator(expr, call);
        }
        return call;
    }

    /// Only watched, and in a row that runs anyway: what fails inside an operator's body is that operator's failure.
    bool isOptional(const Expr& expr) const {
        if (m_needed.required[expr.id.index()]) return false;
        const ExprId owner = m_graph.body(rowOf(m_graph, expr.body)).owner;
        return !owner.valid() || m_needed.required[owner.index()];
    }

    static void impossible(StepCall& call, base::Error error) {
        call.kind = Step::Kind::Impossible;
        call.problem = std::move(error);
    }

    void planOperator(const Expr& expr, StepCall& call) {
        const std::string title = expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
        if (expr.op.name.empty()) {
            impossible(call, base::runError("'" + expr.target + "' has nothing to execute"));
            return;
        }
        call.op = m_registry.find(expr.op.domain, expr.op.name, expr.op.version);
        if (!call.op || !call.op->kernel) {
            const bool known = m_registry.knows(expr.op.domain, expr.op.name);
            const std::string what =
                known ? "operator " + title + " is not known in version " + std::to_string(expr.op.version)
                      : "operator " + title + " is not known";
            call.missing = title + (known ? " (version " + std::to_string(expr.op.version) + ")" : "");
            impossible(call, base::runError(what, {}, "the nodes before this one can be run: set an end point there"));
            return;
        }
        auto attributes = ops::completeAttributes(*call.op, expr.attributes);
        if (!attributes) {
            impossible(call, attributes.error());
            return;
        }
        call.attributes = std::move(*attributes);
        call.joinsEpilogue = ops::kernels::epilogueOpOf(*call.op) != nullptr;
        call.runsEpilogue = expr.outputs.size() == 1 && expr.bodies.empty() && ops::kernels::runsEpilogue(*call.op);
        if (!call.op->parameters.empty() || !expr.keywords.empty()) bindParameters(expr, call);
    }

    /// Operators with a schema see one value for each parameter, whether it was given by position, by name or not at
    /// all.
    void bindParameters(const Expr& expr, StepCall& call) {
        const std::vector<ops::Parameter>& parameters = call.op->parameters;
        if (call.arguments.size() > parameters.size()) {
            impossible(call, base::runError(std::string(call.op->name) + " takes " + std::to_string(parameters.size()) +
                                            " arguments, not " + std::to_string(call.arguments.size())));
            return;
        }
        call.arguments.resize(parameters.size(), nullptr);
        call.fallbacks.resize(parameters.size());
        for (const auto& [key, argument] : expr.keywords) {
            const auto found =
                std::find_if(parameters.begin(), parameters.end(),
                             [&key = key](const ops::Parameter& parameter) { return parameter.name == key; });
            if (found == parameters.end()) {
                impossible(call, base::runError(std::string(call.op->name) + " has no parameter '" + key + "'"));
                return;
            }
            call.arguments[static_cast<std::size_t>(found - parameters.begin())] = &argument;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (call.arguments[i]) continue;
            if (!parameters[i].fallback) {
                impossible(call, base::runError(std::string(call.op->name) + " is missing its argument '" +
                                                std::string(parameters[i].name) + "'"));
                return;
            }
            call.fallbacks[i] = *parameters[i].fallback;
        }
    }

    PlanImpl& m_plan;
    const InternalGraph& m_graph;
    const ops::Registry& m_registry;
    const PlanImpl* const m_alike;  ///< null: none
    Needed m_needed;
    std::optional<std::unordered_map<ExprId, std::uint64_t>> m_streams;  ///< none: nobody asked yet
    std::set<std::string> m_missing;
    NodeId m_lacking;
};

base::Result<void> checkNodes(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    for (NodeId node : nodes) {
        if (!node.valid() || node.index() >= graph.nodeCount() || graph.isErased(graph.node(node).producer)) {
            return base::usageError("there is no node #" + std::to_string(node.value), graph.name);
        }
    }
    return {};
}

/// A run computes values: writes that something uses by an older name have no effect in it.
base::Result<void> refuseWritesInPlace(const InternalGraph& graph) {
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const Expr& expr = graph.expr(ExprId(i));
        const bool mayWrite = !graph.isErased(ExprId(i)) &&
                              (expr.op.domain == "aten" || expr.op.domain == "prim" || expr.op.name.empty());
        if (!mayWrite || expr.attributes.getInt(graph::kWritesInPlace, 0) == 0) continue;
        return base::runError("the graph has an in-place operation whose result is read later through another node",
                              "node '" + (expr.outputs.empty() ? expr.target : graph.node(expr.outputs.front()).name) +
                                  "', " + expr.target,
                              "run the pass remove-inplace on it first");
    }
    return {};
}

}  // namespace

const std::vector<Step>& PlanImpl::joined(BodyId body) const {
    std::call_once(m_onceJoined, [this] {
        m_joined.resize(bodies.size());
        const Releases releases(*this);
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (!bodies[i].isRow) continue;
            m_joined[i] = fuseEpilogues(flattened(bodies, BodyId(i), *graph, false), *this, *graph);
            releases.plan(BodyId(i), m_joined[i], true);
        }
        cutAfterEnds(*this, m_joined.front());
    });
    return m_joined[body.index()];
}

Plan::Plan() : m_impl(std::make_unique<PlanImpl>()) {}
Plan::~Plan() = default;

namespace {

base::Error lackingError(const std::shared_ptr<const InternalGraph>& graph, NodeId node) {
    const std::string& name = graph->node(node).name;
    for (const graph::MissingFile& file : graph::missingOf(graph))
        if (std::ranges::find(file.tensors, name) != file.tensors.end())
            return base::unreadable(file.text(), "tensor '" + name + "'", file.hint());
    return base::unreadable("the model has no value for a tensor that is needed", "tensor '" + name + "'");
}

}  // namespace

base::Result<std::shared_ptr<const Plan>> Plan::make(std::shared_ptr<const InternalGraph> graph, PlanOptions options,
                                                     const ops::Registry& registry) {
    SONDE_TRY(refuseWritesInPlace(*graph));
    SONDE_TRY(checkNodes(*graph, options.watch));
    SONDE_TRY(checkNodes(*graph, options.end));
    SONDE_TRY(checkNodes(*graph, options.given));
    if (options.alike && (options.alike->sharedGraph() != graph || options.alike->impl().registry != &registry))
        options.alike.reset();
    std::shared_ptr<Plan> plan(new Plan);
    plan->m_impl->graph = std::move(graph);
    plan->m_impl->options = std::move(options);
    plan->m_impl->registry = &registry;
    Planner planner(*plan->m_impl, registry);
    planner.run();
    plan->m_impl->options.alike.reset();  // what was taken from it is enough
    if (planner.lacking().valid()) return lackingError(plan->m_impl->graph, planner.lacking());
    return std::shared_ptr<const Plan>(std::move(plan));
}

const InternalGraph& Plan::graph() const { return *m_impl->graph; }
const std::shared_ptr<const InternalGraph>& Plan::sharedGraph() const { return m_impl->graph; }
const PlanOptions& Plan::options() const { return m_impl->options; }
const std::vector<ExprId>& Plan::steps() const { return m_impl->mainSteps; }
const std::vector<std::string>& Plan::missingOperators() const { return m_impl->missing; }

}  // namespace sonde::exec
