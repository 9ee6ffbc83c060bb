#include "core/session/diff/difference_rows.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/counted_text.h"

namespace sonde::session {

using graph::InternalGraph;
using graph::NodeId;
using Kind = DifferenceRow::Kind;

namespace {

std::string operatorText(const InternalGraph& graph, NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    return expr.op.name.empty() ? expr.moduleClass : expr.op.name;
}

class RowMaker {
  public:
    RowMaker(const document::Document& first, const document::Document& second, const ModelDiff& diff)
        : m_a(*first.graph), m_b(*second.graph), m_diff(diff) {}

    std::vector<DifferenceRow> rows() {
        structure();
        parameters();
        if (m_diff.values)
            for (const ValueChange& change : m_diff.values->changed)
                m_rows.push_back({Kind::Value, change.a, change.b, m_a.node(change.a).name, m_b.node(change.b).name,
                                  change.note, change.maxAbs, change.maxRel});
        otherForms();
        notCompared();
        facts(Kind::Cost, m_diff.cost);
        facts(Kind::Metadata, m_diff.metadata);
        return std::move(m_rows);
    }

  private:
    /// Where an added operation comes: behind the last one before it that has a counterpart.
    std::vector<std::size_t> positionsInFirst() const {
        std::vector<std::size_t> ofFirst(m_a.exprCount(), 0), ofSecond(m_b.exprCount(), 0);
        const auto orderA = m_a.recursiveOrder(m_a.mainId());
        for (std::size_t i = 0; i < orderA.size(); ++i) ofFirst[orderA[i].index()] = i + 1;
        std::size_t last = 0;
        for (const graph::ExprId id : m_b.recursiveOrder(m_b.mainId())) {
            const graph::ExprId match = m_diff.pairs.ofSecond[id.index()];
            if (match.valid()) last = ofFirst[match.index()];
            ofSecond[id.index()] = last;
        }
        return ofSecond;
    }

    void structure() {
        const StructureDiff& nodes = m_diff.structure;
        std::vector<std::size_t> ofFirst(m_a.exprCount(), 0);
        const auto order = m_a.recursiveOrder(m_a.mainId());
        for (std::size_t i = 0; i < order.size(); ++i) ofFirst[order[i].index()] = i + 1;
        const std::vector<std::size_t> ofSecond = positionsInFirst();
        std::vector<std::pair<std::size_t, DifferenceRow>> placed;
        const auto placeOfA = [&](NodeId a) { return ofFirst[m_a.node(a).producer.index()]; };
        for (const NodeId a : nodes.removed)
            placed.push_back({placeOfA(a), {Kind::Removed, a, {}, m_a.node(a).name, {}, operatorText(m_a, a), {}, {}}});
        for (const NodeId b : nodes.added)
            placed.push_back({ofSecond[m_b.node(b).producer.index()],
                              {Kind::Added, {}, b, {}, m_b.node(b).name, operatorText(m_b, b), {}, {}}});
        const auto changes = [&](Kind kind, const std::vector<NodeChange>& list) {
            for (const NodeChange& change : list)
                placed.push_back({placeOfA(change.a),
                                  {kind,
                                   change.a,
                                   change.b,
                                   m_a.node(change.a).name,
                                   m_b.node(change.b).name,
                                   change.what,
                                   {},
                                   {}}});
        };
        changes(Kind::Changed, nodes.changed);
        changes(Kind::Moved, nodes.moved);
        std::ranges::stable_sort(placed, {}, [](const auto& row) { return row.first; });
        for (auto& [place, row] : placed) m_rows.push_back(std::move(row));
    }

    void parameters() {
        const ParameterDiff& parameters = m_diff.parameters;
        for (const ParameterRef& one : parameters.removed)
            m_rows.push_back({Kind::Parameter, one.node, {}, one.name, {}, "removed", {}, {}});
        for (const ParameterRef& one : parameters.added)
            m_rows.push_back({Kind::Parameter, {}, one.node, {}, one.name, "added", {}, {}});
        for (const ParameterChange& change : parameters.changed)
            m_rows.push_back({Kind::Parameter, change.a, change.b, change.name,
                              change.otherName.empty() ? change.name : change.otherName, change.what, change.maxAbs,
                              change.maxRel});
    }

    void facts(Kind kind, const std::vector<FactChange>& facts) {
        for (const FactChange& fact : facts)
            m_rows.push_back(
                {kind,
                 {},
                 {},
                 fact.a ? FactChange::text(fact.a) : std::string(),
                 fact.b ? FactChange::text(fact.b) : std::string(),
                 fact.title(),
                 {},
                 {},
                 fact.nodesA,
                 fact.nodesB,
                 kind == Kind::Cost && isOfBranches(fact) ? fmt::format("{}", fmt::join(m_diff.costNotes, "; ")) : ""});
    }

    /// Stored tensors are the same whichever way is taken.
    static bool isOfBranches(const FactChange& fact) {
        constexpr std::array<std::string_view, 3> kStored{"parameters", "buffers", "parameter_bytes"};
        return std::ranges::find(kStored, fact.name) == kStored.end();
    }

    void otherForms() {
        const auto named = [](const InternalGraph& graph, const std::vector<NodeId>& nodes) {
            std::vector<std::string> names;
            for (const NodeId node : nodes) names.push_back(graph.node(node).name);
            return fmt::format("{}", fmt::join(names, ", "));
        };
        for (const StructureDiff::OtherForm& form : m_diff.structure.otherForms)
            m_rows.push_back({Kind::OtherForm,
                              {},
                              {},
                              named(m_a, form.a),
                              named(m_b, form.b),
                              form.what,
                              {},
                              {},
                              form.a,
                              form.b,
                              {}});
    }

    void notCompared() {
        const auto& [ours, theirs] = m_diff.structure.open;
        if (ours.empty() && theirs.empty()) return;
        const auto counted = [](const std::vector<NodeId>& nodes) {
            return nodes.empty() ? std::string()
                                 : base::countedText(static_cast<std::int64_t>(nodes.size()), "operation");
        };
        std::string what =
            "in layers that the other model writes in other operators, of sizes or constants, or moving elements";
        if (m_diff.runs.haveSameResults())
            what += m_diff.runs.isGiven ? "; the results are the same on the given input"
                                        : "; the results are the same on random numbers";
        m_rows.push_back(
            {Kind::NotCompared, {}, {}, counted(ours), counted(theirs), std::move(what), {}, {}, ours, theirs, {}});
    }

    const InternalGraph &m_a, &m_b;
    const ModelDiff& m_diff;
    std::vector<DifferenceRow> m_rows;
};

}  // namespace

std::string_view name(Kind kind) {
    static constexpr std::array<std::string_view, 10> kNames{
        "added", "removed", "changed", "moved", "parameter", "value", "cost", "metadata", "not compared", "other form"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::vector<DifferenceRow> differenceRows(const document::Document& first, const document::Document& second,
                                          const ModelDiff& diff) {
    return RowMaker(first, second, diff).rows();
}

}  // namespace sonde::session
