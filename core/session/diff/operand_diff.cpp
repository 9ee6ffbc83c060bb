#include "core/session/diff/operand_diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/graph/stored_tensor.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/stored_tensors.h"
#include "core/session/input_values.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

class OperandDiffer {
  public:
    OperandDiffer(const document::Document& first, const document::Document& second, const ParameterDiff& parameters)
        : m_flatA(*first.graph), m_flatB(*second.graph) {
        for (const auto& [a, b] : parameters.pairs) {
            const Tensor *const ours = storedTensor(*first.graph, a), *const theirs = storedTensor(*second.graph, b);
            if (!ours || !theirs) continue;
            m_counterpart.emplace(memoryOf(*ours), memoryOf(*theirs));
            m_isPaired.insert(memoryOf(*theirs));
        }
        std::vector<Value> positions;
        for (std::size_t i = 0; i < first.inputs.size(); ++i)
            positions.push_back(Value::ofInt(static_cast<std::int64_t>(i)));
        const std::vector<Value> theirs = valuesForSecond(first, second, positions);
        if (first.inputs.size() != second.inputs.size()) return;
        for (std::size_t k = 0; k < theirs.size() && k < second.inputs.size(); ++k)
            if (theirs[k].kind() == tensor::ValueKind::Int)
                m_inputs.emplace(first.inputs[static_cast<std::size_t>(theirs[k].toInt())].node, second.inputs[k].node);
    }

    /// "input 1: w -> v"; empty: none is another one.
    std::string differences(ExprId a, ExprId b) const {
        const std::vector<NodeId> ours = m_flatA.inputsOf(a), theirs = m_flatB.inputsOf(b);
        if (ours.size() != theirs.size()) return {};
        const Expr& expr = m_flatA.graph.expr(a);
        if (isCommutative(expr) && ours.size() == 2 && areSame(ours[0], theirs[1]) && areSame(ours[1], theirs[0]) &&
            isSource(ours[0]) && isSource(ours[1]))
            return {};
        std::string what;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            if (areSame(ours[i], theirs[i])) continue;
            what += (what.empty() ? "" : "; ") + ("input " + std::to_string(i)) + ": " +
                    m_flatA.graph.node(ours[i]).name + " -> " + m_flatB.graph.node(theirs[i]).name;
        }
        return what;
    }

    const std::vector<ExprId>& order() const { return m_flatA.order; }

  private:
    static bool isInput(const FlatGraph& flat, NodeId node) {
        return flat.graph.expr(flat.graph.node(node).producer).kind == ExprKind::Input;
    }
    bool isSource(NodeId a) const { return isInput(m_flatA, a) || storedTensor(m_flatA.graph, a); }

    /// What they are is not known to be another; of results of operations nothing is said.
    bool areSame(NodeId a, NodeId b) const {
        if (isInput(m_flatA, a) && isInput(m_flatB, b)) return areSameInput(a, b);
        const Tensor *const ours = storedTensor(m_flatA.graph, a), *const theirs = storedTensor(m_flatB.graph, b);
        if (!ours || !theirs) return true;
        const auto counterpart = m_counterpart.find(memoryOf(*ours));
        const bool arePaired = counterpart != m_counterpart.end() && m_isPaired.contains(memoryOf(*theirs));
        return !arePaired || counterpart->second == memoryOf(*theirs) || areEqual(*ours, *theirs);
    }

    bool areSameInput(NodeId a, NodeId b) const {
        if (const auto found = m_inputs.find(a); found != m_inputs.end()) return found->second == b;
        const auto positionOf = [](const InternalGraph& graph, NodeId node) -> std::optional<std::size_t> {
            const graph::BodyId body = graph.expr(graph.node(node).producer).body;
            if (body == graph.mainId()) return std::nullopt;  // the models have not as many
            const std::vector<NodeId>& inputs = graph.body(body).inputs;
            const auto at = std::ranges::find(inputs, node);
            return at == inputs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - inputs.begin()));
        };
        const auto ours = positionOf(m_flatA.graph, a), theirs = positionOf(m_flatB.graph, b);
        return !ours || !theirs || ours == theirs;
    }

    const FlatGraph m_flatA, m_flatB;
    std::map<StoredMemory, StoredMemory> m_counterpart;  ///< of stored tensors of the first graph
    std::set<StoredMemory> m_isPaired;                   ///< those of the second
    std::unordered_map<NodeId, NodeId> m_inputs;
};

}  // namespace

void addOtherOperands(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                      const ParameterDiff& parameters, StructureDiff& structure) {
    if (!pairs.isOneVocabulary) return;
    const OperandDiffer differ(first, second, parameters);
    std::unordered_map<NodeId, std::size_t> rows;
    for (std::size_t i = 0; i < structure.changed.size(); ++i) rows.emplace(structure.changed[i].a, i);
    for (const ExprId id : differ.order()) {
        const ExprId other = pairs.ofFirst[id.index()];
        const Expr& expr = first.graph->expr(id);
        if (!other.valid() || expr.outputs.empty() || second.graph->expr(other).outputs.empty()) continue;
        const std::string what = differ.differences(id, other);
        if (what.empty()) continue;
        const auto known = rows.find(expr.outputs.front());
        if (known == rows.end())
            structure.changed.push_back({expr.outputs.front(), second.graph->expr(other).outputs.front(), what});
        else structure.changed[known->second].what += "; " + what;
    }
}

}  // namespace sonde::session::diff
