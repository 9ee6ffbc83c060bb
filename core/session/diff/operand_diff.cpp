#include "core/session/diff/operand_diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/call_spelling.h"
#include "core/graph/stored_tensor.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/operator_contents.h"
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

/// "p -> q"; of values with one name, what gives them as well: "p (Relu) -> p (Exp)", "a (result 0 of Split) -> ...".
std::string changeOf(const FlatGraph& first, NodeId a, const std::string& nameOfA, const FlatGraph& second, NodeId b,
                     const std::string& nameOfB) {
    const auto text = [&](const FlatGraph& flat, NodeId node, const std::string& name) {
        const graph::Node& value = flat.graph.node(flat.origin[node.index()]);
        const Expr& expr = flat.graph.expr(value.producer);
        if (nameOfA != nameOfB || !isDiffOperation(expr)) return name;
        const std::string which = expr.outputs.size() > 1 ? "result " + std::to_string(value.outputIndex) + " of " : "";
        return name + " (" + which + operatorName(expr) + ")";
    };
    return text(first, a, nameOfA) + " -> " + text(second, b, nameOfB);
}

class OperandDiffer {
  public:
    OperandDiffer(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                  const ParameterDiff& parameters)
        : m_flatA(*first.graph), m_flatB(*second.graph), m_pairs(pairs), m_contents(m_flatA, m_flatB) {
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
        if (analysis::isCommutative(expr) && ours.size() == 2 && areSame(ours[0], theirs[1]) &&
            areSame(ours[1], theirs[0]) && isSource(ours[0]) && isSource(ours[1]))
            return {};
        std::string what;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            if (areSame(ours[i], theirs[i])) continue;
            what += (what.empty() ? "" : "; ") + ("input " + std::to_string(i)) + ": " +
                    m_flatA.graph.node(ours[i]).name + " -> " + m_flatB.graph.node(theirs[i]).name;
        }
        return what;
    }

    /// "output 1 of then_branch: p -> q"; empty: bodies give the same.
    std::string otherResults(ExprId a, ExprId b) const {
        const Expr &ours = m_flatA.graph.expr(a), &theirs = m_flatB.graph.expr(b);
        std::string what;
        for (std::size_t i = 0; i < ours.bodies.size() && i < theirs.bodies.size(); ++i) {
            const graph::Body &own = m_flatA.graph.body(ours.bodies[i]), &other = m_flatB.graph.body(theirs.bodies[i]);
            for (std::size_t k = 0; k < own.outputs.size() && k < other.outputs.size(); ++k) {
                if (isSameResult(own.outputs[k], other.outputs[k])) continue;
                const NodeId x = own.outputs[k], y = other.outputs[k];
                what += (what.empty() ? "output " : "; output ") + std::to_string(k) +
                        (own.label.empty() ? "" : " of " + own.label) + ": " +
                        changeOf(m_flatA, x, m_flatA.graph.node(x).name, m_flatB, y, m_flatB.graph.node(y).name);
            }
        }
        return what;
    }

    /// Whether two values are not known to be others.
    bool isSameResult(NodeId a, NodeId b) const {
        a = m_flatA.origin[a.index()];
        b = m_flatB.origin[b.index()];
        const Expr &ours = m_flatA.graph.expr(m_flatA.graph.node(a).producer),
                   &theirs = m_flatB.graph.expr(m_flatB.graph.node(b).producer);
        if (ours.kind == ExprKind::Output && theirs.kind == ExprKind::Output) return areSameMembers(ours, theirs);
        if (!isDiffOperation(ours) && !isDiffOperation(theirs)) return areSameSources(a, b);
        if (!isDiffOperation(ours) || !isDiffOperation(theirs)) return !hasCounterpart(ours, theirs);
        const ExprId counterpart = m_pairs.ofFirst[ours.id.index()];
        if (counterpart == theirs.id) return m_flatA.graph.node(a).outputIndex == m_flatB.graph.node(b).outputIndex;
        if (!counterpart.valid() || !m_pairs.ofSecond[theirs.id.index()].valid()) return true;  // added or removed
        return computeTheSame(a, b, 0);
    }

    const FlatGraph& first() const { return m_flatA; }
    const FlatGraph& second() const { return m_flatB; }

  private:
    /// Of an operation and what is none, which the other model may have folded.
    bool hasCounterpart(const Expr& ours, const Expr& theirs) const {
        return isDiffOperation(ours) ? m_pairs.ofFirst[ours.id.index()].valid()
                                     : m_pairs.ofSecond[theirs.id.index()].valid();
    }

    /// Structures that a model returns as one value.
    bool areSameMembers(const Expr& ours, const Expr& theirs) const {
        for (std::size_t i = 0; i < ours.inputs.size() && i < theirs.inputs.size(); ++i)
            if (!isSameResult(ours.inputs[i], theirs.inputs[i])) return false;
        return true;
    }

    /// Results that two operations compute alike of the same: files have some arithmetic of sizes several times, and
    /// any of them may be the counterpart.
    bool computeTheSame(NodeId a, NodeId b, int depth) const {
        constexpr int kMaxDepth = 8;
        const InternalGraph &first = m_flatA.graph, &second = m_flatB.graph;
        const Expr &ours = first.expr(first.node(a).producer), &theirs = second.expr(second.node(b).producer);
        if (!isDiffOperation(ours) || !isDiffOperation(theirs)) return areSameSources(a, b);
        if (first.node(a).outputIndex != second.node(b).outputIndex) return false;
        if (m_pairs.ofFirst[ours.id.index()] == theirs.id) return true;
        if (depth == kMaxDepth || !ours.bodies.empty() || !theirs.bodies.empty()) return false;
        if (!m_contents.differences(ours, theirs).empty()) return false;
        const std::vector<NodeId> own = m_flatA.inputsOf(ours.id), other = m_flatB.inputsOf(theirs.id);
        return std::ranges::equal(own, other, [&](NodeId x, NodeId y) { return computeTheSame(x, y, depth + 1); });
    }

    static bool isInput(const FlatGraph& flat, NodeId node) {
        return flat.graph.expr(flat.graph.node(node).producer).kind == ExprKind::Input;
    }
    bool isSource(NodeId a) const { return isInput(m_flatA, a) || storedTensor(m_flatA.graph, a); }

    /// Of inputs and stored values.
    bool areSameSources(NodeId a, NodeId b) const {
        return isInput(m_flatA, a) == isInput(m_flatB, b) && areSame(a, b);
    }

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
    const GraphPairs& m_pairs;
    const OperatorContents m_contents;
    std::map<StoredMemory, StoredMemory> m_counterpart;  ///< of stored tensors of the first graph
    std::set<StoredMemory> m_isPaired;                   ///< those of the second
    std::unordered_map<NodeId, NodeId> m_inputs;
};

/// Rows of StructureDiff::changed, one for each node of the first graph.
class ChangedRows {
  public:
    explicit ChangedRows(StructureDiff& structure) : m_changed(structure.changed) {
        for (std::size_t i = 0; i < m_changed.size(); ++i) m_rows.emplace(m_changed[i].a, i);
    }
    void add(NodeId a, NodeId b, const std::string& what) {
        if (what.empty()) return;
        const auto [row, isNew] = m_rows.try_emplace(a, m_changed.size());
        if (isNew) m_changed.push_back({a, b, what});
        else m_changed[row->second].what += "; " + what;
    }

  private:
    std::vector<NodeChange>& m_changed;
    std::unordered_map<NodeId, std::size_t> m_rows;
};

/// Inputs or outputs of a model by name.
class NamedNodes {
  public:
    explicit NamedNodes(const std::vector<document::NamedNode>& nodes) {
        for (const document::NamedNode& each : nodes) m_byName.try_emplace(each.name, &each);
    }
    /// Null: there is none.
    const document::NamedNode* find(std::string_view name) const {
        const auto found = m_byName.find(name);
        return found == m_byName.end() ? nullptr : found->second;
    }

  private:
    std::unordered_map<std::string_view, const document::NamedNode*> m_byName;
};

/// Names of inputs that both models have in other places.
void addInputOrder(const document::Document& first, const document::Document& second, ChangedRows& rows) {
    using document::NamedNode;
    const auto common = [](const std::vector<NamedNode>& own, const NamedNodes& others) {
        std::vector<const NamedNode*> found;
        for (const NamedNode& each : own)
            if (others.find(each.name)) found.push_back(&each);
        return found;
    };
    const auto ours = common(first.inputs, NamedNodes(second.inputs)),
               theirs = common(second.inputs, NamedNodes(first.inputs));
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
        if (ours[i]->name == theirs[i]->name) continue;
        const auto place = ours[i] - first.inputs.data();
        rows.add(ours[i]->node, theirs[i]->node,
                 "input " + std::to_string(place) + ": " + ours[i]->name + " -> " + theirs[i]->name);
    }
}

/// Inputs of another element type, as both files declare them: what follows is computed in another precision. Other
/// sizes are no other network.
void addInputTypes(const document::Document& first, const document::Document& second, ChangedRows& rows) {
    const NamedNodes theirs(second.inputs);
    for (std::size_t i = 0; i < first.inputs.size(); ++i) {
        const document::NamedNode* other = theirs.find(first.inputs[i].name);
        if (!other && first.inputs.size() == second.inputs.size()) other = &second.inputs[i];
        if (!other || first.inputs[i].isRequired || other->isRequired) continue;
        const tensor::TypeInfo &a = first.graph->node(first.inputs[i].node).type,
                               &b = second.graph->node(other->node).type;
        if (!a.isTensor() || !b.isTensor() || a.dtype == b.dtype) continue;
        if (a.dtype == tensor::DType::Undefined || b.dtype == tensor::DType::Undefined) continue;
        rows.add(first.inputs[i].node, other->node, "input " + std::to_string(i) + ": " + a.text() + " -> " + b.text());
    }
}

/// What the models give at each place, or by each name.
class OutputDiffer {
  public:
    OutputDiffer(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                 const OperandDiffer& operands, ChangedRows& rows)
        : m_first(first), m_second(second), m_namesOfFirst(first.outputs), m_namesOfSecond(second.outputs),
          m_pairs(pairs), m_operands(operands), m_rows(rows) {}

    void addChanges() {
        if (m_first.outputs.size() != m_second.outputs.size()) return addByName();
        for (std::size_t k = 0; k < m_first.outputs.size(); ++k) {
            const document::NamedNode &ours = m_first.outputs[k], &theirs = m_second.outputs[k];
            const bool haveChanged =
                ours.name != theirs.name && m_namesOfSecond.find(ours.name) && m_namesOfFirst.find(theirs.name);
            if (haveChanged || !m_operands.isSameResult(ours.node, theirs.node))
                m_rows.add(ours.node, theirs.node,
                           "output " + std::to_string(k) + ": " +
                               changeOf(m_operands.first(), ours.node, ours.name, m_operands.second(), theirs.node,
                                        theirs.name));
        }
    }

  private:
    void addByName() {
        for (const document::NamedNode& ours : m_first.outputs) {
            const document::NamedNode* const theirs = m_namesOfSecond.find(ours.name);
            if (!theirs) addMissing(m_operands.first(), ours, m_pairs.ofFirst, true);
            else if (!m_operands.isSameResult(ours.node, theirs->node))
                m_rows.add(ours.node, theirs->node,
                           "output " + ours.name + ": " +
                               changeOf(m_operands.first(), ours.node, m_first.graph->node(ours.node).name,
                                        m_operands.second(), theirs->node, m_second.graph->node(theirs->node).name));
        }
        for (const document::NamedNode& theirs : m_second.outputs)
            if (!m_namesOfFirst.find(theirs.name)) addMissing(m_operands.second(), theirs, m_pairs.ofSecond, false);
    }

    /// Where the operation is in both models; else it is added or removed itself.
    void addMissing(const FlatGraph& flat, const document::NamedNode& output, const std::vector<ExprId>& match,
                    bool isOurs) {
        const NodeId node = flat.origin[output.node.index()];
        const ExprId counterpart = match[flat.graph.node(node).producer.index()];
        if (!counterpart.valid()) return;
        const InternalGraph& other = isOurs ? *m_second.graph : *m_first.graph;
        const auto& outputs = other.expr(counterpart).outputs;
        const std::size_t index = flat.graph.node(node).outputIndex;
        if (index >= outputs.size()) return;
        m_rows.add(isOurs ? node : outputs[index], isOurs ? outputs[index] : node,
                   "output " + output.name + (isOurs ? ": none in the second model" : ": none in the first model"));
    }

    const document::Document &m_first, &m_second;
    const NamedNodes m_namesOfFirst, m_namesOfSecond;
    const GraphPairs& m_pairs;
    const OperandDiffer& m_operands;
    ChangedRows& m_rows;
};

}  // namespace

void addOtherOperands(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                      const ParameterDiff& parameters, StructureDiff& structure) {
    ChangedRows rows(structure);
    addInputOrder(first, second, rows);
    if (!pairs.isOneVocabulary) return;
    addInputTypes(first, second, rows);
    const OperandDiffer differ(first, second, pairs, parameters);
    for (const ExprId id : differ.first().order) {
        const ExprId other = pairs.ofFirst[id.index()];
        const Expr& expr = first.graph->expr(id);
        if (!other.valid() || expr.outputs.empty() || second.graph->expr(other).outputs.empty()) continue;
        const NodeId a = expr.outputs.front(), b = second.graph->expr(other).outputs.front();
        rows.add(a, b, differ.differences(id, other));
        rows.add(a, b, differ.otherResults(id, other));
    }
    OutputDiffer(first, second, pairs, differ, rows).addChanges();
}

}  // namespace sonde::session::diff
