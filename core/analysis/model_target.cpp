#include "core/analysis/model_target.h"

#include <algorithm>
#include <set>

#include "core/analysis/edited_values.h"
#include "core/analysis/injection.h"
#include "core/analysis/match.h"
#include "core/exec/flatten.h"
#include "core/graph/operation_count.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

base::Result<Value> inType(const Value& value, tensor::DType dtype) {
    if (!value.isTensor() || dtype == tensor::DType::Undefined || value.tensor().dtype() == dtype) return value;
    SONDE_ASSIGN(Tensor converted, value.tensor().cast(dtype));
    return Value(std::move(converted));
}

/// Outside of loops and branches.
bool isPlain(const InternalGraph& graph, NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    return exec::rowOf(graph, expr.body) == graph.mainId();
}

}  // namespace

ModelTarget::ModelTarget(const InternalGraph& model, BisectModel other, exec::Runner& runner)
    : m_other(std::move(other)), m_runner(runner) {
    const std::vector<NodeId> match = withEditedValues(matchNodes(model, *m_other.graph), model, *m_other.graph);
    const std::vector<NodeId> sources = exec::valueSources(model), others = exec::valueSources(*m_other.graph);
    for (const EditedValue& edited : editedValues(model))
        if (match[edited.before.index()] == match[edited.after.index()])
            m_afterEdits.emplace(sources[edited.before.index()], sources[edited.after.index()]);
    std::set<NodeId> taken;
    // A value has several names where modules are called: its own comes first.
    for (const bool isOwnName : {true, false})
        for (std::size_t i = 0; i < match.size(); ++i) {
            const NodeId source = sources[i];
            if (!match[i].valid() || (source == NodeId(i)) != isOwnName || m_counterpart.contains(source)) continue;
            const NodeId there = others[match[i].index()];
            if (!isPlain(*m_other.graph, there)) continue;
            if (!m_afterEdits.contains(source) && !taken.insert(there).second) continue;
            m_counterpart.emplace(source, there);
            m_matched.push_back(source);
        }
    for (const NodeId input : model.inputs())
        if (const NodeId there = counterpart(input); there.valid() && !inputIndex(there))
            m_editedInputs.push_back(input);
}

std::optional<std::size_t> ModelTarget::inputIndex(NodeId there) const {
    const auto& inputs = m_other.graph->inputs();
    const auto at = std::ranges::find(inputs, there);
    if (at == inputs.end()) return std::nullopt;
    return static_cast<std::size_t>(at - inputs.begin());
}

NodeId ModelTarget::counterpart(NodeId node) const {
    const auto found = m_counterpart.find(node);
    return found == m_counterpart.end() ? NodeId() : found->second;
}

std::string ModelTarget::title() const { return m_other.title.empty() ? BisectTarget::title() : m_other.title; }

std::size_t ModelTarget::computed() const {
    const InternalGraph& graph = *m_other.graph;
    const std::vector<NodeId> sources = exec::valueSources(graph);
    std::size_t count = 0;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const NodeId node(i);
        if (graph.isErased(graph.node(node).producer) || sources[i] != node || !isPlain(graph, node)) continue;
        if (graph::isOperation(graph.expr(graph.node(node).producer))) ++count;
    }
    return count;
}

base::Result<BisectTarget::Values> ModelTarget::run(const Values& given, std::span<const NodeId> wanted,
                                                    const base::WorkContext& work) {
    std::vector<NodeId> places;
    std::vector<Value> inputs = m_other.inputs;
    for (const auto& [node, value] : given) {
        const NodeId there = counterpart(node);
        if (!there.valid()) continue;
        // What reads it reads what it is after the edits.
        if (const auto after = m_afterEdits.find(node); after != m_afterEdits.end() && given.contains(after->second))
            continue;
        const auto known = m_dtypes.find(there);
        SONDE_ASSIGN(Value converted,
                     inType(value, known == m_dtypes.end() ? tensor::DType::Undefined : known->second));
        places.push_back(there);
        inputs.push_back(std::move(converted));
    }
    const auto graph = withInjected(m_other.graph, places);
    exec::PlanOptions options;
    for (const NodeId node : wanted)
        if (const NodeId there = counterpart(node); there.valid() && !inputIndex(there)) options.watch.push_back(there);
    SONDE_ASSIGN(const auto plan, exec::Plan::make(graph, options));
    exec::RunOptions how;
    how.seed = m_other.seed;
    const exec::Recording recording = m_runner.run(*plan, inputs, work, how);
    if (recording.error) return errorOf(m_other, *recording.error);
    Values values;
    for (const NodeId node : wanted) {
        const NodeId there = counterpart(node);
        if (!there.valid()) continue;
        const auto& constant = graph->node(there).constant;
        const auto input = inputIndex(there);
        const Value* const value = constant ? &*constant : input ? &m_other.inputs[*input] : recording.value(there);
        if (!value) continue;
        if (value->isTensor()) m_dtypes.emplace(there, value->tensor().dtype());
        values.emplace(node, *value);
    }
    return values;
}

base::Result<std::vector<Value>> inputsLike(const BisectModel& model, const InternalGraph& other,
                                            const std::string& otherTitle) {
    const std::vector<NodeId> match = matchNodes(*model.graph, other);
    std::vector<Value> inputs;
    for (const NodeId input : other.inputs()) {
        const auto& own = model.graph->inputs();
        const auto at = std::ranges::find_if(own, [&](NodeId each) { return match[each.index()] == input; });
        const auto index = static_cast<std::size_t>(at - own.begin());
        if (at == own.end() || index >= model.inputs.size())
            return base::usageError("input '" + other.node(input).name + "' of " + otherTitle +
                                        " has no counterpart in " + (model.title.empty() ? "the first" : model.title),
                                    "bisect", "both must have the same inputs");
        SONDE_ASSIGN(Value value, inType(model.inputs[index], other.node(input).type.dtype));
        inputs.push_back(std::move(value));
    }
    return inputs;
}

}  // namespace sonde::analysis
