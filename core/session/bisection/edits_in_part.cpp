#include "core/session/bisection/edits_in_part.h"

#include <algorithm>
#include <set>

#include "core/analysis/difference.h"
#include "core/analysis/edited_values.h"
#include "core/analysis/upstream.h"
#include "core/analysis/weight_positions.h"
#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/graph/edit_origin.h"
#include "core/graph/stored_tensor.h"

namespace sonde::session::bisection {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Operations with what is in their bodies, in execution order.
std::vector<ExprId> withBodies(const InternalGraph& graph, const std::vector<ExprId>& operations) {
    std::vector<ExprId> all;
    for (const ExprId id : operations) {
        all.push_back(id);
        for (const graph::BodyId body : graph.expr(id).bodies)
            for (const ExprId inner : graph.recursiveOrder(body)) all.push_back(inner);
    }
    return all;
}

/// Null: it is no tensor, or is computed.
const tensor::Tensor* weightAt(const InternalGraph& graph, NodeId node) {
    return analysis::isStored(graph.expr(graph.node(node).producer)) ? graph::storedTensor(graph, node) : nullptr;
}

/// The weights of one model beside those of the other.
class WeightComparison {
  public:
    WeightComparison(const InternalGraph& model, const InternalGraph& other,
                     const std::function<NodeId(NodeId)>& counterpart)
        : m_model(model), m_other(other), m_sources(exec::valueSources(model)), m_others(exec::valueSources(other)),
          m_counterpart(counterpart) {}

    void add(const Expr& expr) {
        for (std::size_t i = 0; i < expr.inputs.size(); ++i) {
            const NodeId own = m_sources[expr.inputs[i].index()];
            if (!weightAt(m_model, own) || !m_seen.insert(own).second) continue;
            const NodeId named = m_counterpart(own), there = named.valid() ? named : inSamePosition(expr, i);
            if (there.valid() && weightAt(m_other, there)) compare(own, there);
        }
    }
    std::vector<DifferingWeight> take() { return std::move(m_found); }

  private:
    NodeId inSamePosition(const Expr& expr, std::size_t input) const {
        const NodeId result = expr.outputs.empty() ? NodeId() : m_counterpart(m_sources[expr.outputs.front().index()]);
        if (!result.valid()) return {};
        const Expr& there = m_other.expr(m_other.node(m_others[result.index()]).producer);
        if (there.inputs.size() != expr.inputs.size()) return {};
        const NodeId node = m_others[there.inputs[input].index()];
        if (there.op.name == expr.op.name) return node;
        // As of a convolution in the other vocabulary.
        const tensor::Tensor* const a = weightAt(m_model, m_sources[expr.inputs[input].index()]);
        const tensor::Tensor* const b = weightAt(m_other, node);
        return a && b && a->shape() == b->shape() ? node : NodeId();
    }

    void compare(NodeId own, NodeId there) {
        const tensor::Tensor &a = *weightAt(m_model, own), &b = *weightAt(m_other, there);
        if (tensor::identical(a, b)) return;
        DifferingWeight weight{m_model.node(own).name, m_other.node(there).name, {}, {}};
        const bool areNumbers = a.dtype() != tensor::DType::String && b.dtype() != tensor::DType::String;
        if (a.shape() == b.shape() && areNumbers) weight.maxAbsolute = analysis::difference(b, a, {}).maxAbsolute;
        for (const Expr* const expr :
             {&m_model.expr(m_model.node(own).producer), &m_other.expr(m_other.node(there).producer)})
            if (weight.edit.empty()) weight.edit = graph::editedWeightOf(*expr);
        m_found.push_back(std::move(weight));
    }

    const InternalGraph &m_model, &m_other;
    const std::vector<NodeId> m_sources, m_others;
    const std::function<NodeId(NodeId)>& m_counterpart;
    std::set<NodeId> m_seen;
    std::vector<DifferingWeight> m_found;
};

/// Values and weights that have edits: their names, and what has the edited value.
std::vector<std::pair<std::string, NodeId>> allEdits(const InternalGraph& graph) {
    std::vector<std::pair<std::string, NodeId>> edits;
    for (const analysis::EditedValue& value : analysis::editedValues(graph))
        edits.emplace_back(value.name, value.after);
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        if (const std::string name = graph::editedWeightOf(graph.expr(id)); !name.empty())
            edits.emplace_back(name, graph.expr(id).outputs.front());
    return edits;
}

}  // namespace

base::Result<std::string> editInPart(const std::shared_ptr<const InternalGraph>& graph, const std::vector<NodeId>& from,
                                     NodeId node) {
    if (analysis::editedValues(*graph).empty()) return std::string();
    SONDE_ASSIGN(const analysis::Upstream upstream, analysis::Upstream::make(graph));
    std::vector<bool> known(graph->nodeCount(), false);
    for (const NodeId each : from)
        if (each.valid() && each != node) known[upstream.sourceOf(each).index()] = true;
    std::vector<ExprId> operations = upstream.to(node, known).between;
    operations.push_back(graph->node(node).producer);
    for (const ExprId id : withBodies(*graph, operations))
        if (std::string edited = graph::editedNodeOf(graph->expr(id)); !edited.empty()) return edited;
    return std::string();
}

std::vector<DifferingWeight> differingWeights(const InternalGraph& model, const std::vector<ExprId>& operations,
                                              const InternalGraph& other,
                                              const std::function<NodeId(NodeId)>& counterpart) {
    WeightComparison comparison(model, other, counterpart);
    for (const ExprId id : withBodies(model, operations)) comparison.add(model.expr(id));
    return comparison.take();
}

std::string editedWeightIn(const InternalGraph& graph, const std::vector<ExprId>& operations) {
    const std::vector<NodeId> sources = exec::valueSources(graph);
    for (const ExprId id : withBodies(graph, operations))
        for (const NodeId input : graph.expr(id).inputs) {
            const NodeId source = sources[input.index()];
            std::string edited = graph::editedWeightOf(graph.expr(graph.node(source).producer));
            if (!edited.empty()) return edited;
        }
    return std::string();
}

std::vector<std::string> notesOnUnreadEdits(const document::Document& document) {
    const InternalGraph& graph = *document.graph;
    std::vector<std::string> notes;
    for (const auto& [name, after] : allEdits(graph)) {
        exec::Edits edit;
        edit.inputs = {after};
        const exec::Dependants changed = exec::dependantsOf(graph, edit);
        const auto isChanged = [&](NodeId output) { return changed.nodes[output.index()]; };
        if (std::ranges::any_of(graph.outputs(), isChanged)) continue;
        const bool isRead = std::ranges::find(changed.exprs, true) != changed.exprs.end();
        notes.push_back("the edit of '" + name + "' in " + document.title +
                        (isRead ? " reaches no output" : " is read by nothing"));
    }
    return notes;
}

}  // namespace sonde::session::bisection
