#include "core/exec/prepared_cache.h"

#include "core/graph/traits.h"
#include "core/ops/support/constant_output.h"

namespace sonde::exec {

namespace {

/// Exporters give weights that several layers share other names by Identity. `isOther`: it is none in the graph, or
/// another one. `last`: the node that has it, or that something else computes.
const std::optional<Value>& constantOf(const PlanImpl& plan, NodeId node, bool* isOther = nullptr,
                                       NodeId* last = nullptr) {
    static const std::optional<Value> none;
    const InternalGraph& graph = *plan.graph;
    node = plan.source[node.index()];
    for (std::size_t hops = 0; hops < graph.nodeCount(); ++hops) {
        if (last) *last = node;
        const graph::Node& n = graph.node(node);
        const bool isEdited = plan.isEdited(node);
        if (isOther && (isEdited || plan.constants.contains(node))) *isOther = true;
        if (isEdited) return none;
        if (n.constant) return plan.constantOf(node);
        const graph::Expr& producer = graph.expr(n.producer);
        if (!producer.op.domain.empty() || producer.arguments.size() != 1 ||
            producer.arguments.front().kind != graph::Argument::Kind::Node ||
            graph::traitsOf(producer).opClass != operators::OpClass::Identity) {
            break;
        }
        node = plan.source[producer.arguments.front().node.index()];
    }
    return graph.node(node).constant;
}

/// A step that turns stored weights into real numbers: what it computes of constants is one too. Its expr has no step
/// in plans that are given its result.
std::optional<Step> dequantizeStep(const PlanImpl& plan, NodeId node) {
    const graph::Expr& expr = plan.graph->expr(plan.graph->node(node).producer);
    if (expr.outputs.size() != 1 || !expr.keywords.empty() || plan.isEdited(node) ||
        graph::traitsOf(expr).opClass != operators::OpClass::Dequantize) {
        return std::nullopt;
    }
    Step step;
    step.expr = expr.id;
    step.call = plan.calls[expr.id.index()];
    if (!step.call) {
        auto call = std::make_shared<StepCall>();
        call->op = plan.registry->find(expr.op.domain, expr.op.name, expr.op.version);
        auto attributes = call->op ? ops::completeAttributes(*call->op, expr.attributes)
                                   : base::Result<ops::Attributes>(ops::Attributes());
        if (!attributes) return std::nullopt;
        call->attributes = std::move(*attributes);
        for (const graph::Argument& argument : expr.arguments) call->arguments.push_back(&argument);
        step.call = std::move(call);
    }
    if (!step.call->op || !step.call->op->prepare) return std::nullopt;
    return step;
}

/// The node behind an argument that is no constant, if there is one.
std::optional<NodeId> computedInput(const PlanImpl& plan, const graph::Argument* argument, bool* isOther = nullptr) {
    if (!argument || argument->kind != graph::Argument::Kind::Node) return std::nullopt;
    NodeId last = argument->node;
    if (constantOf(plan, argument->node, isOther, &last)) return std::nullopt;
    return last;
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
    for (const graph::Argument* const argument : step.call->arguments) {
        const std::optional<NodeId> input = computedInput(plan, argument, &isOther);
        if (isOther) return true;
        if (!input) continue;
        if (const std::optional<Step> dequantize = dequantizeStep(plan, *input))
            isOther = readsEdited(plan, *dequantize);
        if (isOther) return true;
    }
    return false;
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
    if (!step.call->op->prepare) return State();
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
    SONDE_ASSIGN(State state, stateOf(plan, step, constants(), environment));
    return isEdited ? m_edited.emplace(step.expr, std::move(state)).first->second
                    : m_states->add(step.expr, std::move(state));
}

base::Result<PreparedCache::State> PreparedCache::stateOf(const PlanImpl& plan, const Step& step,
                                                          std::vector<Value> constants,
                                                          ops::RunEnvironment& environment) {
    SONDE_TRY(addDequantized(plan, step, constants, environment));
    SONDE_ASSIGN(State state,
                 step.call->op->prepare(ops::Constants(constants, *step.call->op), step.call->attributes, environment));
    return state;
}

/// Real numbers of stored weights among the constants. They are made here if their own step has not run: whether a step
/// is prepared must not depend on what ran before it.
base::Result<void> PreparedCache::addDequantized(const PlanImpl& plan, const Step& step, std::vector<Value>& constants,
                                                 ops::RunEnvironment& environment) {
    for (std::size_t i = 0; i < constants.size(); ++i) {
        if (!constants[i].isNone()) continue;
        const std::optional<NodeId> input = computedInput(plan, step.call->arguments[i]);
        const std::optional<Step> dequantize = input ? dequantizeStep(plan, *input) : std::nullopt;
        if (!dequantize) continue;
        SONDE_ASSIGN(const State state,
                     find(
                         plan, *dequantize, [&] { return constantInputs(plan, *dequantize); }, environment));
        if (const auto* const known = dynamic_cast<const ops::ConstantOutput*>(state.get()))
            constants[i] = known->value;
    }
    return {};
}

}  // namespace sonde::exec
