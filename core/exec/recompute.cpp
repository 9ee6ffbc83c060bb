#include "core/exec/recompute.h"

#include <algorithm>
#include <unordered_map>

#include "core/exec/recompute_schedule.h"

namespace sonde::exec {

namespace {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprKind;

/// Writes a sequence as a graph: what runs again is a copy before the next step that runs for the first time.
class Repeater {
  public:
    explicit Repeater(const InternalGraph& graph) : m_graph(std::make_shared<InternalGraph>(graph)) { addNodes(); }

    Recomputed run(const Schedule& schedule, const Schedule::Sequence& sequence) {
        Recomputed made;
        std::vector<bool> hasRun(schedule.units().size(), false);
        std::vector<std::size_t> again;
        for (const std::size_t index : sequence) {
            const Schedule::Unit& unit = schedule.units()[index];
            if (hasRun[index]) {
                again.push_back(index);
                ++made.repeatedSteps;
                made.repeatedNs += unit.elapsedNs;
                continue;
            }
            hasRun[index] = true;
            for (const std::size_t repeated : again) repeat(schedule.units()[repeated].expr, unit.expr);
            again.clear();
            readLatest(unit.expr);
        }
        Argument result = m_graph->main().result;
        result.forEachNode([this](NodeId& node) { node = latest(node); });
        m_graph->setResult(m_graph->mainId(), std::move(result));
        made.graph = std::move(m_graph);
        made.origin = std::move(m_origin);
        return made;
    }

  private:
    void addNodes() {
        while (m_now.size() < m_graph->nodeCount()) {
            m_origin.emplace_back(m_now.size());
            m_now.emplace_back(m_now.size());
        }
    }

    /// Arguments may have been changed already to what was the latest then.
    NodeId latest(NodeId node) const { return m_now[m_origin[node.index()].index()]; }

    void readLatest(Argument& argument) const {
        argument.forEachNode([this](NodeId& node) { node = latest(node); });
    }

    /// The arguments of an expr of the graph, and of what is in its bodies.
    void readLatest(ExprId id) {
        const Expr& expr = m_graph->expr(id);
        const bool isSame = std::ranges::all_of(expr.inputs, [this](NodeId node) { return latest(node) == node; });
        if (!isSame) {
            std::vector<Argument> arguments = expr.arguments;
            auto keywords = expr.keywords;
            for (Argument& argument : arguments) readLatest(argument);
            for (auto& [name, argument] : keywords) readLatest(argument);
            m_graph->setArguments(id, std::move(arguments), std::move(keywords));
        }
        const std::vector<BodyId> bodies = m_graph->expr(id).bodies;
        for (const BodyId body : bodies) {
            const std::vector<ExprId> order = m_graph->body(body).order;
            for (const ExprId inner : order) readLatest(inner);
            Argument result = m_graph->body(body).result;
            readLatest(result);
            m_graph->setResult(body, std::move(result));
        }
    }

    void repeat(ExprId id, ExprId before) {
        const std::vector<ExprId>& order = m_graph->main().order;
        const auto position = static_cast<std::size_t>(std::ranges::find(order, before) - order.begin());
        copy(id, m_graph->mainId(), position);
    }

    /// A copy of an expr in a body; later reads of its nodes are reads of the copy's.
    void copy(ExprId id, BodyId into, std::optional<std::size_t> position = {}) {
        const Expr& old = m_graph->expr(id);
        Expr made = old;
        const std::vector<BodyId> bodies = old.bodies;
        const std::vector<NodeId> outputs = old.outputs;
        made.bodies.clear();
        made.body = into;
        for (Argument& argument : made.arguments) readLatest(argument);
        for (auto& [name, argument] : made.keywords) readLatest(argument);
        std::vector<std::string> names;
        for (const NodeId node : outputs) names.push_back(freeName(m_graph->node(node).name));
        const ExprId copied = m_graph->addExpr(std::move(made), names, position);
        for (const BodyId body : bodies) copyBody(body, copied);
        for (std::size_t i = 0; i < outputs.size(); ++i) standsFor(m_graph->expr(copied).outputs[i], outputs[i]);
    }

    void copyBody(BodyId from, ExprId owner) {
        const Body old = m_graph->body(from);
        const BodyId into = m_graph->addBody(owner, old.label);
        for (const ExprId id : old.order) {
            const Expr expr = m_graph->expr(id);
            if (expr.kind != ExprKind::Input) {
                copy(id, into);
                continue;
            }
            const NodeId input = expr.outputs.front();
            standsFor(m_graph->addInput(into, freeName(m_graph->node(input).name), {}, expr.target), input);
        }
        Argument result = old.result;
        readLatest(result);
        m_graph->setResult(into, std::move(result));
    }

    void standsFor(NodeId made, NodeId node) {
        m_graph->setType(made, m_graph->node(node).type);
        if (const auto& constant = m_graph->node(node).constant) m_graph->setConstant(made, tensor::Value(*constant));
        addNodes();
        m_origin[made.index()] = m_origin[node.index()];
        m_now[m_origin[node.index()].index()] = made;
    }

    std::string freeName(const std::string& name) const {
        std::string free = name + "_again";
        for (int i = 1; m_graph->findNode(free).valid(); ++i) free = name + "_again_" + std::to_string(i);
        return free;
    }

    std::shared_ptr<InternalGraph> m_graph;
    std::vector<NodeId> m_now;     ///< by node: what reads of it read now
    std::vector<NodeId> m_origin;  ///< by node: what it is a copy of
};

/// A lower peak is worth nothing if it is not lower by this part.
constexpr double kMinGain = 0.01;

/// `sequence` as a graph, if its peak is lower.
Recomputed inGraph(const Plan& plan, const Schedule& schedule, const Schedule::Sequence& sequence) {
    const auto before = static_cast<double>(schedule.costOf(schedule.plain()).peakBytes);
    const auto after = static_cast<double>(schedule.costOf(sequence).peakBytes);
    if (after < before * (1 - kMinGain)) return Repeater(plan.graph()).run(schedule, sequence);
    Recomputed same;
    same.graph = plan.sharedGraph();
    for (std::size_t i = 0; i < plan.graph().nodeCount(); ++i) same.origin.emplace_back(i);
    return same;
}

}  // namespace

base::Result<Recomputed> recomputeSublinear(const Plan& plan, const Measurement& measurement,
                                            const SublinearOptions& options) {
    SONDE_TRY(options.check());
    const Schedule schedule(plan, measurement);
    return inGraph(plan, schedule, sublinearSequence(schedule, options));
}

base::Result<Recomputed> recomputeDtr(const Plan& plan, const Measurement& measurement, const DtrOptions& options) {
    SONDE_TRY(options.check());
    const Schedule schedule(plan, measurement);
    SONDE_ASSIGN(const Schedule::Sequence sequence, dtrSequence(schedule, options));
    return inGraph(plan, schedule, sequence);
}

}  // namespace sonde::exec
