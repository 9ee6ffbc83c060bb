#include "core/session/diff/replaced_operations.h"

#include <algorithm>
#include <unordered_map>

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;

namespace {

/// Looks from those behind, which are few where those in front are many.
class ReplacementFinder {
  public:
    ReplacementFinder(const GraphSide& first, const GraphSide& second,
                      const std::function<bool(ExprId, ExprId)>& isFree)
        : m_a(first), m_b(second), m_isFree(isFree), m_othersResults(second.outputs()) {
        for (std::size_t i = 0; i < m_a.graph.inputs().size(); ++i) m_inputOf.try_emplace(m_a.graph.inputs()[i], i);
        const std::vector<NodeId> results = m_a.outputs();
        for (std::size_t i = 0; i < results.size(); ++i) m_resultOf.try_emplace(results[i], i);
    }

    /// None: there is none.
    ExprId find(ExprId id) const {
        const Expr& ours = m_a.graph.expr(id);
        if (ours.outputs.empty()) return {};
        NodeId from;
        const std::vector<NodeId> inputs = m_a.inputsOf(id);
        for (const NodeId input : inputs)
            if (!from.valid() && !isValueExpr(m_a.graph.expr(m_a.producer(input)))) from = input;
        if (!from.valid() && !inputs.empty()) from = inputs.front();
        const NodeId there = from.valid() ? counterpart(from) : NodeId();
        if (!there.valid()) return {};
        const auto result = m_resultOf.find(ours.outputs.front());
        ExprId found = result != m_resultOf.end() && result->second < m_othersResults.size()
                           ? replacement(id, m_othersResults[result->second], there)
                           : ExprId();
        for (const ExprId user : m_a.users[ours.outputs.front().index()])
            if (!found.valid()) found = replacementBefore(id, user, there);
        return found;
    }

  private:
    /// Of a value, through its producer; graph inputs by their position.
    NodeId counterpart(NodeId a) const {
        const graph::Node& node = m_a.graph.node(a);
        if (const auto input = m_inputOf.find(a); input != m_inputOf.end())
            return input->second < m_b.graph.inputs().size() ? m_b.graph.inputs()[input->second] : NodeId();
        const ExprId b = m_a.match[node.producer.index()];
        if (!b.valid() || node.outputIndex >= m_b.graph.expr(b).outputs.size()) return {};
        return m_b.graph.expr(b).outputs[node.outputIndex];
    }

    /// What makes a value of the second graph, if it can be the counterpart and takes `from`; else none.
    ExprId replacement(ExprId id, NodeId made, NodeId from) const {
        const ExprId other = m_b.producer(made);
        const Expr& theirs = m_b.graph.expr(other);
        if (isValueExpr(theirs) || !m_isFree(id, other) || theirs.outputs.front() != made) return {};
        if (theirs.outputs.size() != m_a.graph.expr(id).outputs.size()) return {};
        const std::vector<NodeId> inputs = m_b.inputsOf(other);
        return std::ranges::find(inputs, from) == inputs.end() ? ExprId() : other;
    }

    /// The same of the inputs of the counterpart of a user: the one at the same position first.
    ExprId replacementBefore(ExprId id, ExprId user, NodeId from) const {
        constexpr std::size_t kMaxInputs = 64;  ///< that are looked through
        const ExprId there = m_a.match[user.index()];
        if (!there.valid()) return {};
        const std::vector<NodeId> ours = m_a.inputsOf(user), theirs = m_b.inputsOf(there);
        const auto at =
            static_cast<std::size_t>(std::ranges::find(ours, m_a.graph.expr(id).outputs.front()) - ours.begin());
        if (at < theirs.size())
            if (const ExprId found = replacement(id, theirs[at], from); found.valid()) return found;
        for (std::size_t i = 0; i < theirs.size() && i < kMaxInputs; ++i)
            if (const ExprId found = replacement(id, theirs[i], from); found.valid()) return found;
        return {};
    }

    const GraphSide &m_a, &m_b;
    const std::function<bool(ExprId, ExprId)>& m_isFree;
    std::unordered_map<NodeId, std::size_t> m_inputOf, m_resultOf;  ///< positions of the first graph's ends
    std::vector<NodeId> m_othersResults;
};

}  // namespace

void pairReplaced(const GraphSide& first, const GraphSide& second, const std::function<bool(ExprId, ExprId)>& isFree,
                  const std::function<void(ExprId, ExprId)>& pair, const base::WorkContext& work) {
    const ReplacementFinder finder(first, second, isFree);
    for (const ExprId id : first.order) {
        if (first.isMatched(id) || work.cancelled()) continue;
        if (const ExprId found = finder.find(id); found.valid()) pair(id, found);
    }
}

}  // namespace sonde::session::diff
