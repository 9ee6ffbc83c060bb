#include "core/exec/prepared_cache.h"

#include "core/graph/traits.h"

namespace sonde::exec {

namespace {

/// Exporters give weights that several layers share other names by Identity. `isOther`: it is none in the graph, or
/// another one.
const std::optional<Value>& constantOf(const PlanImpl& plan, NodeId node, bool* isOther = nullptr) {
    static const std::optional<Value> none;
    const InternalGraph& graph = *plan.graph;
    node = plan.source[node.index()];
    for (std::size_t hops = 0; hops < graph.nodeCount(); ++hops) {
        const graph::Node& n = graph.node(node);
        const bool isEdited = plan.isEdited(node);
        if (isOther && (isEdited || plan.constants.contains(node))) *isOther = true;
        if (isEdited) return none;
        if (n.constant) return plan.constantOf(node);
        const graph::Expr& producer = graph.expr(n.producer);
        if (graph::traitsOf(producer).opClass != operators::OpClass::Identity || !producer.op.domain.empty() ||
            producer.arguments.size() != 1 || producer.arguments.front().kind != graph::Argument::Kind::Node) {
            break;
        }
        node = plan.source[producer.arguments.front().node.index()];
    }
    return graph.node(node).constant;
}

}  // namespace

std::vector<Value> constantInputs(const PlanImpl& plan, const Step& step) {
    std::vector<Value> constants(step.call->arguments.size());
    for (std::size_t i = 0; i < constants.size(); ++i) {
        const graph::Argument* argument = step.call->arguments[i];
        if (!argument) {
            constants[i] = step.call->fallbacks[i];
        } else if (argument->kind == graph::Argument::Kind::Constant) {
            constants[i] = argument->constant;
        } else if (argument->kind == graph::Argument::Kind::Node) {
            if (const auto& constant = constantOf(plan, argument->node)) constants[i] = *constant;
        }
    }
    return constants;
}

bool readsEdited(const PlanImpl& plan, const Step& step) {
    bool isOther = false;
    if (plan.edits.empty() && plan.constants.empty()) return false;
    for (const graph::Argument* const argument : step.call->arguments)
        if (argument && argument->kind == graph::Argument::Kind::Node) (void)constantOf(plan, argument->node, &isOther);
    return isOther;
}

void PreparedCache::select(const std::shared_ptr<const InternalGraph>& graph, bool exact) {
    if (m_states && graph == m_graph && exact == m_exact) return;
    m_states = PreparedStates::of(graph, exact);
    m_edited.clear();
    m_graph = graph;
    m_exact = exact;
}

base::Result<std::shared_ptr<const ops::PreparedState>> PreparedCache::find(
    const PlanImpl& plan, const Step& step, const std::function<std::vector<Value>()>& constants,
    ops::RunEnvironment& environment) {
    if (!step.call->op->prepare) return std::shared_ptr<const ops::PreparedState>();
    const bool isEdited = readsEdited(plan, step);
    if (isEdited && m_edits != plan.options.edits) {
        m_edited.clear();
        m_edits = plan.options.edits;
    }
    if (isEdited) {
        if (const auto found = m_edited.find(step.expr); found != m_edited.end()) return found->second;
    } else if (auto found = m_states->find(step.expr)) {
        return std::move(*found);
    }
    const std::vector<Value> values = constants();
    SONDE_ASSIGN(std::shared_ptr<const ops::PreparedState> state,
                 step.call->op->prepare(ops::Constants(values, *step.call->op), step.call->attributes, environment));
    return isEdited ? m_edited.emplace(step.expr, std::move(state)).first->second
                    : m_states->add(step.expr, std::move(state));
}

}  // namespace sonde::exec
