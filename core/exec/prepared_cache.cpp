#include "core/exec/prepared_cache.h"

#include "core/graph/traits.h"

namespace sonde::exec {

namespace {

/// Exporters give weights that several layers share other names by Identity.
const std::optional<Value>& constantOf(const PlanImpl& plan, NodeId node) {
    const InternalGraph& graph = *plan.graph;
    node = plan.source[node.index()];
    for (std::size_t hops = 0; hops < graph.nodeCount(); ++hops) {
        const graph::Node& n = graph.node(node);
        if (n.constant) return n.constant;
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
    std::vector<Value> constants(step.arguments.size());
    for (std::size_t i = 0; i < constants.size(); ++i) {
        const graph::Argument* argument = step.arguments[i];
        if (!argument) {
            constants[i] = step.fallbacks[i];
        } else if (argument->kind == graph::Argument::Kind::Constant) {
            constants[i] = argument->constant;
        } else if (argument->kind == graph::Argument::Kind::Node) {
            if (const auto& constant = constantOf(plan, argument->node)) constants[i] = *constant;
        }
    }
    return constants;
}

void PreparedCache::select(const std::shared_ptr<const InternalGraph>& graph, bool exact) {
    if (m_states && graph == m_graph && exact == m_exact) return;
    m_states = PreparedStates::of(graph, exact);
    m_graph = graph;
    m_exact = exact;
}

base::Result<std::shared_ptr<const ops::PreparedState>> PreparedCache::find(
    const Step& step, const std::function<std::vector<Value>()>& constants, ops::RunEnvironment& environment) {
    if (!step.op->prepare) return std::shared_ptr<const ops::PreparedState>();
    if (auto found = m_states->find(step.expr)) return std::move(*found);
    const std::vector<Value> values = constants();
    SONDE_ASSIGN(std::shared_ptr<const ops::PreparedState> state,
                 step.op->prepare(ops::Constants(values, *step.op), step.attributes, environment));
    return m_states->add(step.expr, std::move(state));
}

}  // namespace sonde::exec
