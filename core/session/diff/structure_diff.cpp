#include "core/session/diff/structure_diff.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/analysis/layer_facts.h"
#include "core/analysis/parameters.h"
#include "core/base/number_text.h"
#include "core/graph/traits.h"
#include "core/session/diff/compared_operations.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/module_parts.h"
#include "core/session/diff/sequence.h"

namespace sonde::session {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;

namespace {

constexpr std::size_t kMaxText = 80;

/// What layerFacts() tell of a layer in the same way in every vocabulary.
constexpr std::string_view kLayerFacts[] = {"Kernel", "Stride", "Padding", "Dilation", "Groups", "Dim"};

using Kinds = std::vector<std::optional<analysis::StoredKind>>;

/// Of a plain argument, or of a stored value that is no parameter or buffer: those are compared apart.
std::string constantText(const InternalGraph& graph, const Kinds& kinds, const Argument& argument) {
    if (argument.kind == Argument::Kind::Constant) return argument.constant.text(kMaxText);
    if (argument.kind != Argument::Kind::Node) return {};
    const auto& constant = graph.node(argument.node).constant;
    if (!constant ||
        kinds[argument.node.index()].value_or(analysis::StoredKind::Constant) != analysis::StoredKind::Constant)
        return {};
    return constant->isTensor() && constant->tensor().numel() > 64 ? std::string() : constant->text(kMaxText);
}

class StructureDiffer {
  public:
    StructureDiffer(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs)
        : m_a(first), m_b(second), m_flatA(first, !pairs.isOneVocabulary), m_flatB(second, !pairs.isOneVocabulary),
          m_pairs(pairs), m_comparedA(m_flatA, pairs.isOneVocabulary), m_comparedB(m_flatB, pairs.isOneVocabulary),
          m_kindsA(analysis::storedKinds(first)), m_kindsB(analysis::storedKinds(second)),
          m_isSkippedA(first.exprCount(), false), m_isSkippedB(second.exprCount(), false) {}

    StructureDiff differ() {
        listUnmatched(m_flatA, m_comparedA, m_pairs.ofFirst, 0, m_diff.removed);
        listUnmatched(m_flatB, m_comparedB, m_pairs.ofSecond, 1, m_diff.added);
        countMatched(m_flatA, m_comparedA, m_pairs.ofFirst, 0);
        countMatched(m_flatB, m_comparedB, m_pairs.ofSecond, 1);
        findModules();
        // Between two vocabularies each file has operations of its own between those of the other.
        if (m_pairs.isOneVocabulary) skipReordered();
        for (const ExprId id : m_flatA.order) compare(id);
        return std::move(m_diff);
    }

  private:
    void listUnmatched(const diff::FlatGraph& flat, const diff::ComparedOperations& compared,
                       const std::vector<ExprId>& match, std::size_t side, std::vector<NodeId>& list) const {
        const std::vector<bool>& isInPaired = m_pairs.isInPairedModule[side];
        for (const ExprId id : flat.order) {
            if (match[id.index()].valid() || !compared.isListed[id.index()]) continue;
            if (id.index() < isInPaired.size() && isInPaired[id.index()]) continue;
            list.push_back(flat.graph.expr(id).outputs.front());
        }
    }

    void countMatched(const diff::FlatGraph& flat, const diff::ComparedOperations& compared,
                      const std::vector<ExprId>& match, std::size_t side) {
        const std::vector<bool>& isInPaired = m_pairs.isInPairedModule[side];
        for (const ExprId id : flat.order) {
            if (!compared.isListed[id.index()]) continue;
            const bool isIn = id.index() < isInPaired.size() && isInPaired[id.index()];
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
        if (ours.kind == ExprKind::Input && theirs.kind == ExprKind::Input) return true;  // counted apart
        if (!isDiffOperation(ours) || !isDiffOperation(theirs))
            return !isDiffOperation(ours) == !isDiffOperation(theirs);
        const ExprId match = m_pairs.ofFirst[ours.id.index()];
        if (!match.valid()) return !m_pairs.ofSecond[theirs.id.index()].valid();
        return match == theirs.id && m_a.node(a).outputIndex == m_b.node(b).outputIndex;
    }

    /// Inputs that do not come from counterparts.
    std::vector<std::size_t> otherInputs(ExprId id) const {
        const std::vector<NodeId> ours = m_flatA.inputsOf(id), theirs = m_flatB.inputsOf(m_pairs.ofFirst[id.index()]);
        std::vector<std::size_t> others;
        if (ours.size() != theirs.size()) return others;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            if (areCounterparts(ours[i], theirs[i])) continue;
            const NodeId a = through(m_flatA, ours[i], m_pairs.ofFirst, m_isSkippedA, m_behindA),
                         b = through(m_flatB, theirs[i], m_pairs.ofSecond, m_isSkippedB, m_behindB);
            if (!areCounterparts(a, b)) others.push_back(i);
        }
        return others;
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
            if (m_pairs.isReplaced[id.index()] || diff::areOtherFunctions(ours, theirs))
                m_diff.changed.push_back({a, b, "operator: " + operatorOf(ours) + " -> " + operatorOf(theirs)});
            else if (std::string what = otherLayer(ours, theirs); !what.empty())
                m_diff.changed.push_back({a, b, std::move(what)});
            return;
        }
        std::vector<std::string> what = otherContent(ours, theirs);
        if (!m_isSkippedA[id.index()]) {
            for (const std::size_t i : otherInputs(id))
                what.push_back("input " + std::to_string(i) + ": " + m_a.node(ours.inputs[i]).name + " -> " +
                               m_b.node(theirs.inputs[i]).name);
            if (ours.inputs.size() != theirs.inputs.size())
                what.push_back("inputs: " + std::to_string(ours.inputs.size()) + " -> " +
                               std::to_string(theirs.inputs.size()));
        }
        if (what.empty()) return;
        std::string text;
        for (const std::string& each : what) text += (text.empty() ? "" : "; ") + each;
        m_diff.changed.push_back({a, b, std::move(text)});
    }

    /// Under another name.
    static bool areOneConvolution(const Expr& ours, const Expr& theirs) {
        const operators::Traits &a = graph::traitsOf(ours), &b = graph::traitsOf(theirs);
        return ours.op.name != theirs.op.name && ours.op.domain == theirs.op.domain && a.opClass == b.opClass &&
               a.is(operators::Trait::Convolves) && b.is(operators::Trait::Convolves);
    }

    /// A batch norm stands for the convolution before it: another exporter has folded it.
    static const Expr& layerOf(const diff::FlatGraph& flat, const Expr& expr) {
        if (graph::traitsOf(expr).opClass != OpClass::BatchNorm) return expr;
        const std::vector<NodeId> inputs = flat.inputsOf(expr.id);
        if (inputs.empty()) return expr;
        const Expr& before = flat.graph.expr(flat.graph.node(inputs.front()).producer);
        const OpClass kind = graph::traitsOf(before).opClass;
        return kind == OpClass::Conv || kind == OpClass::ConvTranspose ? before : expr;
    }

    /// How two operations of different vocabularies differ as layers, in what both say: "Kernel: 3×3 -> 5×5".
    std::string otherLayer(const Expr& one, const Expr& other) const {
        const Expr &ours = layerOf(m_flatA, one), &theirs = layerOf(m_flatB, other);
        const OpClass kind = graph::traitsOf(ours).opClass;
        if (kind != graph::traitsOf(theirs).opClass) return {};
        const std::vector<analysis::LayerFact> others = analysis::layerFacts(m_b, theirs);
        std::string text;
        for (const analysis::LayerFact& fact : analysis::layerFacts(m_a, ours)) {
            if (std::ranges::find(kLayerFacts, fact.name) == std::end(kLayerFacts)) continue;
            // Exporters pad before an average pool that counts what it pads.
            if (fact.name == "Padding" && kind == OpClass::AveragePool) continue;
            const auto same = std::ranges::find(others, fact.name, &analysis::LayerFact::name);
            if (same == others.end() || isWord(fact.value) || isWord(same->value)) continue;
            if (axisFromFront(m_a, ours, fact) == axisFromFront(m_b, theirs, *same)) continue;
            if (areSameSizes(fact.value, same->value)) continue;
            text += (text.empty() ? "" : "; ") + fact.name + ": " + fact.value + " -> " + same->value;
        }
        return text;
    }

    /// "1×1" and "1": of all dimensions.
    static bool areSameSizes(std::string_view a, std::string_view b) {
        if (a.size() < b.size()) std::swap(a, b);
        constexpr std::string_view kTimes = "×";
        for (std::size_t at = 0; at <= a.size(); at += b.size() + kTimes.size()) {
            if (a.substr(at, b.size()) != b) return false;
            if (at + b.size() == a.size()) return true;
            if (a.substr(at + b.size(), kTimes.size()) != kTimes) return false;
        }
        return false;
    }

    /// "same", "1 before, 0 after": the other vocabulary may say it in numbers.
    static bool isWord(std::string_view value) {
        return std::ranges::any_of(value, [](unsigned char c) { return c < 0x80 && std::isalpha(c); });
    }

    /// The value; of a dimension that counts from the end, where the rank is known, that from the front.
    static std::string axisFromFront(const InternalGraph& graph, const Expr& expr, const analysis::LayerFact& fact) {
        if (fact.name != "Dim" || !fact.value.starts_with('-') || expr.inputs.empty()) return fact.value;
        const tensor::TypeInfo& type = graph.node(expr.inputs.front()).type;
        const auto axis = base::parseNumber<std::int64_t>(fact.value);
        if (!type.shape || !axis) return fact.value;
        return std::to_string(*axis + std::ssize(*type.shape));
    }

    static std::string inputName(const InternalGraph& graph, const Expr& expr) {
        return expr.inputs.empty() ? std::string("nothing") : "'" + graph.node(expr.inputs.front()).name + "'";
    }

    static std::string operatorOf(const Expr& expr) {
        if (expr.op.name.empty()) return expr.moduleClass.empty() ? expr.target : expr.moduleClass;
        return expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
    }

    std::vector<std::string> otherContent(const Expr& ours, const Expr& theirs) const {
        std::vector<std::string> what;
        if (areOneConvolution(ours, theirs)) {
            // A trace calls _convolution where a script calls conv2d: the arguments are others.
            if (std::string layer = otherLayer(ours, theirs); !layer.empty()) what.push_back(std::move(layer));
            return what;
        }
        if (operatorOf(ours) != operatorOf(theirs)) {
            what.push_back("operator: " + operatorOf(ours) + " -> " + operatorOf(theirs));
            return what;
        }
        std::map<std::string, std::pair<std::string, std::string>> attributes;
        for (const tensor::Attribute& each : ours.attributes.items())
            attributes[each.name].first = tensor::text(each.value, kMaxText);
        for (const tensor::Attribute& each : theirs.attributes.items())
            attributes[each.name].second = tensor::text(each.value, kMaxText);
        const auto shown = [](const std::string& text) { return text.empty() ? std::string("not set") : text; };
        for (const auto& [name, values] : attributes)
            if (values.first != values.second)
                what.push_back(name + ": " + shown(values.first) + " -> " + shown(values.second));
        for (std::size_t i = 0; i < ours.arguments.size() && i < theirs.arguments.size(); ++i) {
            const std::string a = constantText(m_a, m_kindsA, ours.arguments[i]),
                              b = constantText(m_b, m_kindsB, theirs.arguments[i]);
            if (a != b && !a.empty() && !b.empty())
                what.push_back("argument " + std::to_string(i) + ": " + a + " -> " + b);
        }
        for (const auto& [name, argument] : ours.keywords)
            for (const auto& [otherName, other] : theirs.keywords) {
                const std::string a = constantText(m_a, m_kindsA, argument), b = constantText(m_b, m_kindsB, other);
                if (name == otherName && a != b) what.push_back(name + ": " + shown(a) + " -> " + shown(b));
            }
        return what;
    }

    const InternalGraph &m_a, &m_b;
    const diff::FlatGraph m_flatA, m_flatB;
    const GraphPairs& m_pairs;
    diff::ComparedOperations m_comparedA, m_comparedB;
    Kinds m_kindsA, m_kindsB;
    std::vector<bool> m_isSkippedA, m_isSkippedB;      ///< by ExprId: moved
    mutable std::vector<NodeId> m_behindA, m_behindB;  ///< by NodeId: through(), as far as it was asked for
    std::set<std::string> m_modulesA, m_modulesB;
    StructureDiff m_diff;
};

}  // namespace

StructureDiff structureDiff(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs) {
    return StructureDiffer(first, second, pairs).differ();
}

}  // namespace sonde::session
