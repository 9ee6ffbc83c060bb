#include "core/session/diff/quantised_model.h"

#include "core/base/counted_text.h"
#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using precision::Counterparts;

namespace {

/// The node that others read in place of one, if it is quantised and dequantised at once and nobody reads it directly.
NodeId dequantised(const InternalGraph& graph, NodeId node) {
    NodeId found;
    if (graph.node(node).users.empty()) return node;
    for (const ExprId user : graph.node(node).users) {
        const Expr& quantise = graph.expr(user);
        if (quantise.outputs.size() != 1) return node;
        for (const ExprId next : graph.node(quantise.outputs.front()).users) {
            const Expr& back = graph.expr(next);
            const bool isBack = graph::traitsOf(back).opClass == OpClass::Dequantize && back.outputs.size() == 1 &&
                                !back.inputs.empty() && back.inputs.front() == quantise.outputs.front();
            if (!isBack) return node;
            found = back.outputs.front();
        }
    }
    return found.valid() ? found : node;
}

/// Which values of two models are compared: what paired operations give, what they read at the same place, as where one
/// of the models has other operators before them, and the outputs.
class PairedValues {
  public:
    PairedValues(const document::Document& plain, const document::Document& other, const base::WorkContext& work)
        : m_plain(*plain.graph), m_other(*other.graph), m_pairs(pairOperations(m_plain, m_other, work)),
          m_isPaired(m_plain.nodeCount(), false), m_sources(exec::valueSources(m_plain)),
          m_otherSources(exec::valueSources(m_other)) {
        forEachPair([this](const Expr& ours, const Expr& theirs) {
            for (std::size_t k = 0; k < ours.outputs.size() && k < theirs.outputs.size(); ++k)
                pair(ours.outputs[k], dequantised(m_other, theirs.outputs[k]));
        });
        for (std::size_t i = 0; i < plain.outputs.size() && i < other.outputs.size(); ++i)
            pair(plain.outputs[i].node, other.outputs[i].node);
        forEachPair([this](const Expr& ours, const Expr& theirs) {
            for (std::size_t k = 0; k < ours.arguments.size() && k < theirs.arguments.size(); ++k)
                if (ours.arguments[k].kind == graph::Argument::Kind::Node &&
                    theirs.arguments[k].kind == graph::Argument::Kind::Node)
                    pair(ours.arguments[k].node, theirs.arguments[k].node);
        });
    }

    Counterparts take() { return std::move(m_counterparts); }
    /// "2 values have no counterpart in the other model, the first is 'c'"; empty if all have one.
    std::vector<std::string> notes() const {
        std::size_t count = 0;
        NodeId first;
        for (const ExprId id : m_plain.recursiveOrder(m_plain.mainId())) {
            const Expr& expr = m_plain.expr(id);
            if (!isDiffOperation(expr) || exec::isCall(expr) || !expr.bodies.empty() || expr.outputs.empty() ||
                m_isPaired[m_sources[expr.outputs.front().index()].index()])
                continue;
            if (!first.valid()) first = expr.outputs.front();
            ++count;
        }
        if (count == 0) return {};
        return {base::countedText(static_cast<std::int64_t>(count), "value") + " ha" + (count == 1 ? "s" : "ve") +
                " no counterpart in the quantised model and " + (count == 1 ? "is" : "are") + " not compared" +
                (count == 1 ? ": '" : ", the first is '") + m_plain.node(first).name + "'"};
    }

  private:
    template <typename Visit>
    void forEachPair(const Visit& visit) const {
        for (std::size_t i = 0; i < m_pairs.ofFirst.size(); ++i) {
            if (!m_pairs.ofFirst[i].valid() || m_plain.isErased(ExprId(i)) || exec::isCall(m_plain.expr(ExprId(i))))
                continue;
            visit(m_plain.expr(ExprId(i)), m_other.expr(m_pairs.ofFirst[i]));
        }
    }
    static bool isGiven(const InternalGraph& graph, NodeId node) {
        return graph.node(node).constant || graph.expr(graph.node(node).producer).kind == graph::ExprKind::Input;
    }
    void pair(NodeId ours, NodeId theirs) {
        ours = m_sources[ours.index()], theirs = m_otherSources[theirs.index()];
        if (m_isPaired[ours.index()] || isGiven(m_plain, ours) || isGiven(m_other, theirs)) return;
        m_isPaired[ours.index()] = true;
        const graph::Node& node = m_other.node(theirs);
        m_counterparts[node.producer].push_back({ours, node.outputIndex});
    }

    const InternalGraph &m_plain, &m_other;
    GraphPairs m_pairs;
    std::vector<bool> m_isPaired;  ///< by source node of the plain model
    std::vector<NodeId> m_sources, m_otherSources;
    Counterparts m_counterparts;
};

}  // namespace

base::Result<precision::Report> measureQuantised(const document::Document& document,
                                                 const document::Document& quantised, const precision::Request& request,
                                                 const base::WorkContext& work) {
    if (document.inputs.size() != quantised.inputs.size())
        return base::usageError("the models have " + std::to_string(document.inputs.size()) + " and " +
                                    std::to_string(quantised.inputs.size()) + " inputs",
                                quantised.location);
    work.report("matching nodes");
    PairedValues pairs(document, quantised, work);
    SONDE_ASSIGN(precision::Report report,
                 precision::measureRuns(document.graph, quantised.graph, pairs.take(), {}, request, work));
    report.notes = pairs.notes();
    return report;
}

}  // namespace sonde::session
