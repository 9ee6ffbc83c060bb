#include "core/session/diff/structure_diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

#include "core/analysis/call_spelling.h"
#include "core/graph/traits.h"
#include "core/session/diff/compared_operations.h"
#include "core/session/diff/folded_constants.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/layer_accounts.h"
#include "core/session/diff/module_parts.h"
#include "core/session/diff/operation_settings.h"
#include "core/session/diff/operator_contents.h"
#include "core/session/diff/other_layers.h"
#include "core/session/diff/sequence.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

class StructureDiffer {
  public:
    StructureDiffer(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs)
        : m_a(first), m_b(second), m_flatA(first, !pairs.isOneVocabulary), m_flatB(second, !pairs.isOneVocabulary),
          m_pairs(pairs), m_comparedA(m_flatA, pairs.isOneVocabulary), m_comparedB(m_flatB, pairs.isOneVocabulary),
          m_contents(m_flatA, m_flatB), m_isSkippedA(first.exprCount(), false),
          m_isSkippedB(second.exprCount(), false) {}

    StructureDiff differ() {
        if (!m_pairs.isOneVocabulary) {
            m_accounts.emplace(m_flatA, m_flatB, m_comparedA, m_comparedB, m_pairs);
            m_diff.comparedByFunction = m_accounts->byFunctions;
            m_diff.notCompared = m_accounts->notCompared;
            m_diff.otherLayers = m_accounts->layers;
        }
        listUnmatched(m_flatA, m_comparedA, m_pairs.ofFirst, 0, m_diff.removed);
        listUnmatched(m_flatB, m_comparedB, m_pairs.ofSecond, 1, m_diff.added);
        countMatched(m_flatA, m_comparedA, m_pairs.ofFirst, 0);
        countMatched(m_flatB, m_comparedB, m_pairs.ofSecond, 1);
        findModules();
        // Between two vocabularies each file has operations of its own between those of the other.
        if (m_pairs.isOneVocabulary) {
            m_folded.emplace(m_flatA, m_flatB);
            skipReordered();
        }
        for (const ExprId id : m_flatA.order) compare(id);
        if (m_folded) takeFolded();
        if (m_accounts) listOtherParts();
        return std::move(m_diff);
    }

  private:
    void listUnmatched(const diff::FlatGraph& flat, const diff::ComparedOperations& compared,
                       const std::vector<ExprId>& match, std::size_t side, std::vector<NodeId>& list) const {
        for (const ExprId id : flat.order) {
            if (match[id.index()].valid() || !compared.isListed[id.index()] || isInLayer(side, id)) continue;
            list.push_back(flat.graph.expr(id).outputs.front());
        }
    }

    /// Without a counterpart of its own, but in a layer that both have.
    bool isInLayer(std::size_t side, ExprId id) const {
        const std::vector<bool>& isInPaired = m_pairs.isInPairedModule[side];
        if (m_accounts && m_accounts->isOther[side][id.index()]) return false;
        return id.index() < isInPaired.size() && isInPaired[id.index()];
    }

    void countMatched(const diff::FlatGraph& flat, const diff::ComparedOperations& compared,
                      const std::vector<ExprId>& match, std::size_t side) {
        for (const ExprId id : flat.order) {
            if (!compared.isListed[id.index()]) {
                m_diff.aside += flat.graph.expr(id).outputs.size();
                addOpen(side, id);
                continue;
            }
            const bool isIn = isInLayer(side, id);
            if (isIn && !match[id.index()].valid()) addOpen(side, id);
            const bool isMatched = match[id.index()].valid() || isIn;
            const std::size_t nodes = flat.graph.expr(id).outputs.size();
            m_diff.comparedNodes += nodes;
            m_diff.matchedNodes += isMatched ? nodes : 0;
            if (!match[id.index()].valid() && isIn) m_diff.matchedByModule += nodes;
            if (!compared.hasTensors[id.index()]) continue;
            m_diff.comparedTensors += nodes;
            m_diff.matchedTensors += isMatched ? nodes : 0;
        }
    }

    void addOpen(std::size_t side, ExprId id) {
        const std::vector<NodeId>& outputs = (side == 0 ? m_a : m_b).expr(id).outputs;
        if (!outputs.empty()) m_diff.open[side].push_back(outputs.front());
    }

    void findModules() {
        const auto collect = [](const diff::FlatGraph& flat, std::set<std::string>& modules) {
            for (const ExprId id : flat.order) modules.insert(diff::moduleOf(flat.graph, id));
        };
        collect(m_flatA, m_modulesA);
        collect(m_flatB, m_modulesB);
    }

    /// Names that only one graph has are other names of the same module.
    bool isOtherModule(const Expr& a, const Expr& b) const {
        const std::string ours = diff::moduleOf(m_a, a.id), theirs = diff::moduleOf(m_b, b.id);
        if (ours == theirs || ours.empty() || theirs.empty()) return false;
        return m_modulesA.contains(theirs) && m_modulesB.contains(ours);
    }

    /// Pairs that would have to be taken out for the rest to be in the same order are looked through, if their inputs
    /// are others as well.
    void skipReordered() {
        std::vector<ExprId> ours;
        std::vector<std::size_t> theirs, positionInB(m_b.exprCount(), 0);
        for (std::size_t i = 0; i < m_flatB.order.size(); ++i) positionInB[m_flatB.order[i].index()] = i;
        for (const ExprId id : m_flatA.order) {
            if (!m_pairs.ofFirst[id.index()].valid()) continue;
            ours.push_back(id);
            theirs.push_back(positionInB[m_pairs.ofFirst[id.index()].index()]);
        }
        std::vector<bool> isKept(ours.size(), false);
        for (const std::size_t i : diff::longestIncreasing(theirs)) isKept[i] = true;
        std::vector<ExprId> candidates;
        for (std::size_t i = 0; i < ours.size(); ++i)
            if (!isKept[i] && !otherInputs(ours[i]).empty()) candidates.push_back(ours[i]);
        for (const ExprId id : candidates) {
            m_isSkippedA[id.index()] = true;
            m_isSkippedB[m_pairs.ofFirst[id.index()].index()] = true;
        }
        m_behindA.clear();
        m_behindB.clear();
    }

    /// The value itself, or what operations without counterpart (or that moved) made it of. What was found on the way
    /// is kept, so that a long chain is walked once.
    static NodeId through(const diff::FlatGraph& flat, NodeId node, const std::vector<ExprId>& match,
                          const std::vector<bool>& isSkipped, std::vector<NodeId>& known) {
        if (known.empty()) known.resize(flat.graph.nodeCount());
        std::vector<NodeId> way;
        while (!known[node.index()].valid()) {
            const NodeId before = behind(flat, node, match, isSkipped);
            if (!before.valid()) known[node.index()] = node;
            else way.push_back(std::exchange(node, before));
        }
        const NodeId end = known[node.index()];
        for (const NodeId passed : way) known[passed.index()] = end;
        return end;
    }

    /// What an operation without counterpart, or that moved, made a value of first; none of another value.
    static NodeId behind(const diff::FlatGraph& flat, NodeId node, const std::vector<ExprId>& match,
                         const std::vector<bool>& isSkipped) {
        const InternalGraph& graph = flat.graph;
        const Expr& expr = graph.expr(graph.node(node).producer);
        if (!isDiffOperation(expr) || (match[expr.id.index()].valid() && !isSkipped[expr.id.index()])) return {};
        for (const NodeId input : flat.inputsOf(expr.id)) {
            const ExprKind kind = graph.expr(graph.node(input).producer).kind;
            if (kind != ExprKind::Constant && kind != ExprKind::GetAttr) return input;
        }
        return {};
    }

    bool areCounterparts(NodeId a, NodeId b) const {
        const Expr &ours = m_a.expr(m_a.node(a).producer), &theirs = m_b.expr(m_b.node(b).producer);
        if (ours.kind == ExprKind::Input && theirs.kind == ExprKind::Input) return true;   // counted apart
        if (ours.kind == ExprKind::Input || theirs.kind == ExprKind::Input) return false;  // a number is no input
        if (!isDiffOperation(ours) || !isDiffOperation(theirs))
            return !isDiffOperation(ours) == !isDiffOperation(theirs);
        const ExprId match = m_pairs.ofFirst[ours.id.index()];
        if (!match.valid()) return !m_pairs.ofSecond[theirs.id.index()].valid();
        return match == theirs.id && m_a.node(a).outputIndex == m_b.node(b).outputIndex;
    }

    /// Inputs that do not come from counterparts, nor are what the other graph stores or computes of stored values.
    std::vector<std::size_t> otherInputs(ExprId id) {
        const std::vector<NodeId> ours = m_flatA.inputsOf(id), theirs = m_flatB.inputsOf(m_pairs.ofFirst[id.index()]);
        std::vector<std::size_t> others;
        if (ours.size() != theirs.size()) return others;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            // Two without counterparts may compute other constants.
            const ExprId made = m_flatA.producer(ours[i]);
            const bool areOpen = m_folded && isDiffOperation(m_a.expr(made)) && !m_pairs.ofFirst[made.index()].valid();
            bool areSame = areCounterparts(ours[i], theirs[i]);
            if (areSame && !areOpen) continue;
            if (!areSame)
                areSame = areCounterparts(through(m_flatA, ours[i], m_pairs.ofFirst, m_isSkippedA, m_behindA),
                                          through(m_flatB, theirs[i], m_pairs.ofSecond, m_isSkippedB, m_behindB));
            const auto folded =
                m_folded ? m_folded->compare(ours[i], id, theirs[i], m_pairs.ofFirst[id.index()]) : std::nullopt;
            if (folded ? !folded->isEqual : !areSame) others.push_back(i);
        }
        // Of a sum and the like either order is right.
        const bool areExchanged = others.size() == 2 && ours.size() == 2 && analysis::isCommutative(m_a.expr(id)) &&
                                  isComputedAlike(ours[0], theirs[1]) && isComputedAlike(ours[1], theirs[0]);
        if (areExchanged) others.clear();
        return others;
    }

    /// Results of operations that are counterparts.
    bool isComputedAlike(NodeId a, NodeId b) const {
        return isDiffOperation(m_a.expr(m_a.node(a).producer)) && isDiffOperation(m_b.expr(m_b.node(b).producer)) &&
               m_pairs.ofFirst[m_a.node(a).producer.index()].valid() && areCounterparts(a, b);
    }

    /// "h -> g"; where both have one name, with what the second one is in the first model: "h -> g (named h there)".
    std::string changeOf(NodeId a, NodeId b) const {
        const std::string &ours = m_a.node(a).name, &theirs = m_b.node(b).name;
        const ExprId match = m_pairs.ofSecond[m_flatB.producer(b).index()];
        const std::size_t result = m_b.node(m_flatB.origin[b.index()]).outputIndex;
        if (ours != theirs || !match.valid() || result >= m_a.expr(match).outputs.size()) return ours + " -> " + theirs;
        const std::string& counterpart = m_a.node(m_a.expr(match).outputs[result]).name;
        return ours + " -> " + (counterpart == theirs ? theirs : counterpart + " (named " + theirs + " there)");
    }

    void compare(ExprId id) {
        const ExprId other = m_pairs.ofFirst[id.index()];
        if (!other.valid()) return;
        const Expr &ours = m_a.expr(id), &theirs = m_b.expr(other);
        if (ours.outputs.empty() || theirs.outputs.empty()) return;
        const NodeId a = ours.outputs.front(), b = theirs.outputs.front();
        if (m_a.node(a).name != m_b.node(b).name) ++m_diff.renamed;
        if (isOtherModule(ours, theirs)) {
            m_diff.moved.push_back(
                {a, b, "module: " + diff::moduleOf(m_a, ours.id) + " -> " + diff::moduleOf(m_b, theirs.id)});
        } else if (m_isSkippedA[id.index()]) {
            m_diff.moved.push_back({a, b, "behind " + inputName(m_b, theirs) + ", was behind " + inputName(m_a, ours)});
        }
        if (!m_comparedA.isListed[id.index()]) return;
        if (!m_pairs.isOneVocabulary) {
            NodeChange change = otherOfTwoVocabularies(ours, theirs);
            if (!change.what.empty()) m_diff.changed.push_back(std::move(change));
            else if (areMovedApart(ours, theirs)) {
                m_diff.aside += 2;
                addOpen(0, id);
                addOpen(1, other);
            }
            return;
        }
        std::vector<std::string> what = m_contents.differences(ours, theirs);
        if (areBranchesExchanged(ours, theirs)) what.emplace_back("branches: each has the operations of the other one");
        if (!m_isSkippedA[id.index()]) {
            for (const std::size_t i : otherInputs(id)) {
                const auto folded = m_folded->compare(ours.inputs[i], id, theirs.inputs[i], other);
                what.push_back("input " + std::to_string(i) + ": " + changeOf(ours.inputs[i], theirs.inputs[i]));
                if (folded && folded->maxAbs) what.back() += fmt::format(", max abs {:.3g}", *folded->maxAbs);
            }
            const std::size_t count = m_contents.inputCount(ours, theirs), there = m_contents.inputCount(theirs, ours);
            if (count != there) what.push_back("inputs: " + std::to_string(count) + " -> " + std::to_string(there));
        }
        if (!what.empty()) m_diff.changed.push_back({a, b, joined(what)});
    }

    /// All operations with counterparts in the branches have these in the branch with the other label.
    bool areBranchesExchanged(const Expr& ours, const Expr& theirs) const {
        if (ours.bodies.size() != 2 || theirs.bodies.size() != 2) return false;
        bool areSome = false;
        for (const graph::BodyId body : ours.bodies)
            for (const ExprId id : m_a.body(body).order) {
                const ExprId match = m_pairs.ofFirst[id.index()];
                if (!match.valid()) continue;
                const graph::Body& there = m_b.body(m_b.expr(match).body);
                if (there.owner != theirs.id || there.label == m_a.body(body).label) return false;
                areSome = true;
            }
        return areSome;
    }

    /// Operations that compute what the other graph stores are neither added nor removed.
    void takeFolded() {
        for (std::size_t side = 0; side < 2; ++side) {
            const InternalGraph& graph = side == 0 ? m_a : m_b;
            const diff::ComparedOperations& compared = side == 0 ? m_comparedA : m_comparedB;
            const std::vector<bool> folded =
                m_folded->foldedOperations(side, side == 0 ? m_pairs.ofFirst : m_pairs.ofSecond);
            m_diff.comparedStored[side] = m_folded->comparedValues(side, folded);
            std::erase_if(side == 0 ? m_diff.removed : m_diff.added, [&](NodeId node) {
                const ExprId id = graph.node(node).producer;
                if (!folded[id.index()]) return false;
                const std::size_t nodes = graph.expr(id).outputs.size();
                m_diff.matchedByConstants += nodes;
                m_diff.matchedNodes += nodes;
                if (compared.hasTensors[id.index()]) m_diff.matchedTensors += nodes;
                return true;
            });
        }
        for (const auto& [a, b, maxAbs, isRounded] : m_folded->others())
            m_diff.otherStored.push_back({a, b, maxAbs, isRounded});
    }

    static std::string joined(const std::vector<std::string>& texts) {
        std::string text;
        for (const std::string& each : texts) text += (text.empty() ? "" : "; ") + each;
        return text;
    }

    /// Of layers that the files write in other operators: two operations without counterparts, or one and what the
    /// layer is.
    void listOtherParts() {
        for (const diff::OtherFunction& part : m_accounts->parts) {
            const NodeId a = m_a.expr(part.a).outputs.front(), b = m_b.expr(part.b).outputs.front();
            const auto isListed = [a](const NodeChange& change) { return change.a == a; };
            if (std::ranges::none_of(m_diff.changed, isListed))
                m_diff.changed.push_back(
                    {a, b, part.what, part.isOfOperands ? NodeChange::ByOperands : NodeChange::ByItself});
        }
    }

    /// Null: it computes what its counterpart does.
    const std::string* otherFunction(ExprId id) const {
        const auto found = std::ranges::find(m_accounts->changed, id, &diff::OtherFunction::a);
        return found == m_accounts->changed.end() ? nullptr : &found->what;
    }

    NodeChange otherOfTwoVocabularies(const Expr& ours, const Expr& theirs) {
        NodeChange change{ours.outputs.front(), theirs.outputs.front(), {}};
        if (m_pairs.isReplaced[ours.id.index()]) {
            change.what = "operator: " + diff::operatorName(ours) + " -> " + diff::operatorName(theirs);
            change.told = NodeChange::ByOperator;
        } else if (const std::string* other = otherFunction(ours.id)) {
            change.what = *other;
            change.told = NodeChange::ByLayer;
        } else {
            change.what = otherOperation(ours, theirs);
            // Of what only moves elements nothing but its place says which one it is.
            if (change.what.empty() && !diff::onlyMoves(ours) && diff::operatorName(ours) == diff::operatorName(theirs))
                change.what = joined(m_contents.differences(ours, theirs));
            if (diff::functionOf(m_flatA, ours.id) != diff::functionOf(m_flatB, theirs.id)) return change;
            const std::string operands = otherOperands(ours, theirs);
            if (change.what.empty()) change.told = NodeChange::ByOperands;
            if (!operands.empty()) change.what += (change.what.empty() ? "" : "; ") + operands;
        }
        return change;
    }

    /// What both vocabularies say.
    std::string otherOperation(const Expr& ours, const Expr& theirs) const {
        std::string text = diff::otherLayer(m_flatA, ours, m_flatB, theirs);
        if (diff::functionOf(m_flatA, ours.id) != diff::functionOf(m_flatB, theirs.id)) return text;
        for (const std::string& more : {diff::otherSettings(m_a, ours, m_b, theirs, readTheSame(ours, theirs)),
                                        diff::otherReading(m_a, ours, m_b, theirs)})
            if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
        return text;
    }

    /// A value in the words of the first graph: the producer there, and which of its results; none: it has no
    /// counterpart there.
    using Operand = std::optional<std::pair<std::size_t, std::size_t>>;
    Operand operandOf(const diff::FlatGraph& flat, NodeId node, const std::vector<ExprId>* toFirst) const {
        const Expr& producer = flat.graph.expr(flat.graph.node(node).producer);
        const std::size_t result = flat.graph.node(node).outputIndex;
        if (producer.kind == ExprKind::Input) {
            const std::vector<NodeId>& inputs = flat.graph.inputs();
            const auto at = std::ranges::find(inputs, node);
            if (at == inputs.end() || m_a.inputs().size() != m_b.inputs().size()) return std::nullopt;
            return std::pair(m_a.exprCount(), static_cast<std::size_t>(at - inputs.begin()));
        }
        if (!isDiffOperation(producer)) return std::nullopt;
        const ExprId match = (toFirst ? *toFirst : m_pairs.ofFirst)[producer.id.index()];
        if (!match.valid()) return std::nullopt;
        return std::pair((toFirst ? match : producer.id).index(), result);
    }

    /// The first operands of both are known to be counterparts.
    bool readTheSame(const Expr& ours, const Expr& theirs) const {
        const std::vector<NodeId> first = m_flatA.inputsOf(ours.id), second = m_flatB.inputsOf(theirs.id);
        if (first.empty() || second.empty()) return false;
        const Operand own = operandOf(m_flatA, first.front(), nullptr);
        return own && own == operandOf(m_flatB, second.front(), &m_pairs.ofSecond);
    }

    /// A pair that moves elements, and of which the files do not say in one way how.
    bool areMovedApart(const Expr& ours, const Expr& theirs) const {
        const operators::Traits& traits = graph::traitsOf(ours);
        if (!traits.is(operators::Trait::MovesData) && !traits.mayBeView()) return false;
        return !readTheSame(ours, theirs) || diff::operationSettings(m_a, ours, -1).empty() ||
               diff::operationSettings(m_b, theirs, -1).empty();
    }

    /// Of operations that compute the same function of two values or more: "operands: ..." if those that they read are
    /// no counterparts.
    std::string otherOperands(const Expr& ours, const Expr& theirs) {
        const operators::Traits& traits = graph::traitsOf(ours);
        if (traits.is(operators::Trait::Convolves) || !ours.bodies.empty() || !theirs.bodies.empty()) return {};
        const std::vector<NodeId> first = m_flatA.computedInputsOf(ours.id),
                                  second = m_flatB.computedInputsOf(theirs.id);
        if (first.size() != second.size() || first.size() < 2) return {};
        if (graph::traitsOf(theirs).opClass != traits.opClass) return {};
        // Of what only moves elements nothing but its place says which one it is.
        const auto isMoved = [](const diff::FlatGraph& flat, NodeId node) {
            const operators::Traits& by = graph::traitsOf(flat.graph.expr(flat.graph.node(node).producer));
            return by.is(operators::Trait::MovesData) || by.mayBeView();
        };
        std::vector<Operand> own, other;
        for (const NodeId input : first)
            own.push_back(isMoved(m_flatA, input) ? std::nullopt : operandOf(m_flatA, input, nullptr));
        for (const NodeId input : second)
            other.push_back(isMoved(m_flatB, input) ? std::nullopt : operandOf(m_flatB, input, &m_pairs.ofSecond));
        if (analysis::isCommutative(ours)) {
            const bool areKnown = std::ranges::all_of(own, &Operand::has_value);
            const bool isReordered = areKnown && own != other;
            std::ranges::sort(own);
            std::ranges::sort(other);
            m_diff.reordered += isReordered && own == other ? 1 : 0;
        }
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (own[i] && other[i] && own[i] != other[i])
                return "operands: " + m_a.node(first[i]).name + " -> " + m_b.node(second[i]).name;
            // x + x is no x + y.
            for (std::size_t k = 0; k < i; ++k)
                if ((first[i] == first[k]) != (second[i] == second[k]))
                    return first[i] == first[k] ? "operands: one value twice -> two values"
                                                : "operands: two values -> one value twice";
        }
        return {};
    }

    static std::string inputName(const InternalGraph& graph, const Expr& expr) {
        return expr.inputs.empty() ? std::string("nothing") : "'" + graph.node(expr.inputs.front()).name + "'";
    }

    const InternalGraph &m_a, &m_b;
    const diff::FlatGraph m_flatA, m_flatB;
    const GraphPairs& m_pairs;
    diff::ComparedOperations m_comparedA, m_comparedB;
    const diff::OperatorContents m_contents;
    std::vector<bool> m_isSkippedA, m_isSkippedB;      ///< by ExprId: moved
    mutable std::vector<NodeId> m_behindA, m_behindB;  ///< by NodeId: through(), as far as it was asked for
    std::set<std::string> m_modulesA, m_modulesB;
    std::optional<diff::LayerAccounts> m_accounts;  ///< between two vocabularies
    std::optional<diff::FoldedConstants> m_folded;  ///< within one
    StructureDiff m_diff;
};

}  // namespace

StructureDiff structureDiff(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs) {
    return StructureDiffer(first, second, pairs).differ();
}

}  // namespace sonde::session
