#include "core/exec/plan.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/exec/flatten.h"
#include "core/exec/join.h"
#include "core/exec/needed.h"
#include "core/exec/plan_impl.h"
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
        const bool draws = graph::traitsOf(expr).is(operators::Trait::Random) && !expr.attributes.find("seed");
        if (draws || expr.callable) streams.emplace(id, streams.size() + 1);
    }
    return streams;
}

class Planner {
  public:
    Planner(PlanImpl& plan, const ops::Registry& registry)
        : m_plan(plan), m_graph(*plan.graph), m_registry(registry),
          m_needed(neededExprs(m_graph, plan.options, registry)), m_streams(streamsOf(m_graph)) {}

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

        m_plan.source = valueSources(m_graph);
        planEdits();

        m_plan.bodies.resize(m_graph.bodyCount());
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) planBody(BodyId(i));
        findHomes();
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) planRow(BodyId(i));
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) planReleases(BodyId(i), m_plan.bodies[i].steps, false);
        cutAfterEnds();
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

    void planRow(BodyId id) {
        BodyPlan& body = m_plan.bodies[id.index()];
        body.isRow = rowOf(m_graph, id) == id;
        if (!body.isRow) return;
        body.joined = fuseEpilogues(flattened(m_plan.bodies, id, m_graph), m_plan, m_graph);
        planReleases(id, body.joined, true);
    }

    /// Where a value goes out of reach: in the outermost body that has a node with it.
    void findHomes() {
        std::vector<std::size_t> depth(m_graph.bodyCount(), 0);
        for (std::size_t i = 0; i < depth.size(); ++i) {
            const ExprId owner = m_graph.body(BodyId(i)).owner;
            if (owner.valid() && !m_graph.isErased(owner)) depth[i] = depth[m_graph.expr(owner).body.index()] + 1;
        }
        m_home.resize(m_graph.nodeCount());
        for (std::size_t i = 0; i < m_home.size(); ++i) {
            const Expr& producer = m_graph.expr(m_graph.node(NodeId(i)).producer);
            if (!producer.id.valid()) continue;
            BodyId& home = m_home[m_plan.source[i].index()];
            if (!home.valid() || depth[producer.body.index()] < depth[home.index()]) home = producer.body;
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
        Step step;
        step.expr = expr.id;
        step.hasEffect = m_needed.effect[expr.id.index()];
        step.isOptional = isOptional(expr);
        if (const auto stream = m_streams.find(expr.id); stream != m_streams.end()) step.stream = stream->second;
        for (const Argument& argument : expr.arguments) step.arguments.push_back(&argument);
        if (expr.kind == ExprKind::Output) {
            step.kind = Step::Kind::Collect;
        } else if (expr.op.name.empty() && !expr.bodies.empty()) {
            step.kind = Step::Kind::Body;
        } else if (expr.op.name.empty() && expr.callable) {
            step.kind = Step::Kind::Callable;
        } else {
            planOperator(expr, step);
        }
        return step;
    }

    /// Only watched, and in a row that runs anyway: what fails inside an operator's body is that operator's failure.
    bool isOptional(const Expr& expr) const {
        if (m_needed.required[expr.id.index()]) return false;
        const ExprId owner = m_graph.body(rowOf(m_graph, expr.body)).owner;
        return !owner.valid() || m_needed.required[owner.index()];
    }

    static void impossible(Step& step, base::Error error) {
        step.kind = Step::Kind::Impossible;
        step.problem = std::move(error);
    }

    void planOperator(const Expr& expr, Step& step) {
        const std::string title = expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
        if (expr.op.name.empty()) {
            impossible(step, base::runError("'" + expr.target + "' has nothing to execute"));
            return;
        }
        step.op = m_registry.find(expr.op.domain, expr.op.name, expr.op.version);
        if (!step.op || !step.op->kernel) {
            const bool known = m_registry.knows(expr.op.domain, expr.op.name);
            const std::string what =
                known ? "operator " + title + " is not known in version " + std::to_string(expr.op.version)
                      : "operator " + title + " is not known";
            m_missing.insert(title + (known ? " (version " + std::to_string(expr.op.version) + ")" : ""));
            impossible(step, base::runError(what, {}, "the nodes before this one can be run: set an end point there"));
            return;
        }
        auto attributes = ops::completeAttributes(*step.op, expr.attributes);
        if (!attributes) {
            impossible(step, attributes.error());
            return;
        }
        step.attributes = std::move(*attributes);
        step.runsEpilogue = expr.outputs.size() == 1 && expr.bodies.empty() && ops::kernels::runsEpilogue(*step.op);
        if (!step.op->parameters.empty() || !expr.keywords.empty()) bindParameters(expr, step);
    }

    /// Operators with a schema see one value for each parameter, whether it was given by position, by name or not at
    /// all.
    void bindParameters(const Expr& expr, Step& step) {
        const std::vector<ops::Parameter>& parameters = step.op->parameters;
        if (step.arguments.size() > parameters.size()) {
            impossible(step, base::runError(std::string(step.op->name) + " takes " + std::to_string(parameters.size()) +
                                            " arguments, not " + std::to_string(step.arguments.size())));
            return;
        }
        step.arguments.resize(parameters.size(), nullptr);
        step.fallbacks.resize(parameters.size());
        for (const auto& [key, argument] : expr.keywords) {
            const auto found =
                std::find_if(parameters.begin(), parameters.end(),
                             [&key = key](const ops::Parameter& parameter) { return parameter.name == key; });
            if (found == parameters.end()) {
                impossible(step, base::runError(std::string(step.op->name) + " has no parameter '" + key + "'"));
                return;
            }
            step.arguments[static_cast<std::size_t>(found - parameters.begin())] = &argument;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (step.arguments[i]) continue;
            if (!parameters[i].fallback) {
                impossible(step, base::runError(std::string(step.op->name) + " is missing its argument '" +
                                                std::string(parameters[i].name) + "'"));
                return;
            }
            step.fallbacks[i] = *parameters[i].fallback;
        }
    }

    /// Nodes read anywhere inside a step: its arguments, and what its bodies capture.
    void collectReads(const Step& step, std::vector<NodeId>& reads) const {
        const Expr& expr = m_graph.expr(step.expr);
        const auto results = [&](BodyId body) {
            const auto& outputs = m_graph.body(body).outputs;
            reads.insert(reads.end(), outputs.begin(), outputs.end());
        };
        if (step.kind == Step::Kind::Leave) results(expr.bodies.front());
        else reads.insert(reads.end(), expr.inputs.begin(), expr.inputs.end());
        const auto operands = [&](std::span<const NodeId> made) {
            m_plan.forEachOperand(made, [&](NodeId operand) { reads.push_back(operand); });
        };
        if (step.kind != Step::Kind::Enter) {
            reads.insert(reads.end(), expr.outputs.begin(), expr.outputs.end());  // never read at all
            operands(expr.outputs);
        }
        if (step.kind == Step::Kind::Enter || step.kind == Step::Kind::Leave) return;
        for (BodyId inner : expr.bodies) {
            for (ExprId id : m_graph.recursiveOrder(inner)) {
                const Expr& e = m_graph.expr(id);
                reads.insert(reads.end(), e.inputs.begin(), e.inputs.end());
                operands(e.outputs);
                for (BodyId deeper : e.bodies) results(deeper);
            }
            results(inner);
        }
    }

    /// A value is dropped after the last step that reads it; results of the body stay. In a row that holds the steps of
    /// called bodies their values are its own.
    void planReleases(BodyId id, std::vector<Step>& steps, bool isRow) const {
        std::vector<bool> done(m_graph.nodeCount(), false);
        const auto source = [&](NodeId node) { return m_plan.source[node.index()]; };
        for (NodeId output : m_graph.body(id).outputs) done[source(output).index()] = true;
        for (NodeId end : m_plan.options.end) done[source(end).index()] = true;
        std::vector<NodeId> reads;
        for (std::size_t i = steps.size(); i-- > 0;) {
            reads.clear();
            collectReads(steps[i], reads);
            for (const Step& fused : steps[i].epilogue) collectReads(fused, reads);
            for (NodeId read : reads) {
                const NodeId node = source(read);
                if (done[node.index()]) continue;
                done[node.index()] = true;
                const BodyId home = m_home[node.index()];
                if ((isRow ? rowOf(m_graph, home) : home) == id && !m_graph.node(node).constant)
                    steps[i].release.push_back(node);
            }
        }
    }

    /// Nothing after the last end point runs. (Inside bodies the runner stops by itself.)
    void cutAfterEnds() {
        if (m_plan.options.end.empty()) return;
        std::vector<bool> holdsEnd(m_graph.exprCount(), false);
        for (NodeId node : m_plan.options.end) {
            ExprId id = m_graph.node(node).producer;
            holdsEnd[id.index()] = true;
            while (m_graph.body(m_graph.expr(id).body).owner.valid()) {
                id = m_graph.body(m_graph.expr(id).body).owner;
                holdsEnd[id.index()] = true;
            }
        }
        for (std::vector<Step>* steps : {&m_plan.bodies.front().steps, &m_plan.bodies.front().joined}) {
            std::size_t last = 0;
            for (std::size_t i = 0; i < steps->size(); ++i) {
                bool holds = holdsEnd[(*steps)[i].expr.index()];
                for (const Step& fused : (*steps)[i].epilogue) holds = holds || holdsEnd[fused.expr.index()];
                if (holds) last = i + 1;
            }
            steps->resize(last);
        }
    }

    PlanImpl& m_plan;
    const InternalGraph& m_graph;
    const ops::Registry& m_registry;
    Needed m_needed;
    const std::unordered_map<ExprId, std::uint64_t> m_streams;
    std::vector<BodyId> m_home;  ///< by source node
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
    std::shared_ptr<Plan> plan(new Plan);
    plan->m_impl->graph = std::move(graph);
    plan->m_impl->options = std::move(options);
    Planner planner(*plan->m_impl, registry);
    planner.run();
    if (planner.lacking().valid()) return lackingError(plan->m_impl->graph, planner.lacking());
    return std::shared_ptr<const Plan>(std::move(plan));
}

const InternalGraph& Plan::graph() const { return *m_impl->graph; }
const std::shared_ptr<const InternalGraph>& Plan::sharedGraph() const { return m_impl->graph; }
const PlanOptions& Plan::options() const { return m_impl->options; }
const std::vector<ExprId>& Plan::steps() const { return m_impl->mainSteps; }
const std::vector<std::string>& Plan::missingOperators() const { return m_impl->missing; }

}  // namespace sonde::exec
