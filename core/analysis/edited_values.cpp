#include "core/analysis/edited_values.h"

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/graph/edit_origin.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

bool isStored(const InternalGraph& graph, NodeId node) {
    const graph::ExprKind kind = graph.expr(graph.node(node).producer).kind;
    return kind == graph::ExprKind::Constant || kind == graph::ExprKind::GetAttr;
}

EditedValue& ofName(std::vector<EditedValue>& all, const std::string& name) {
    const auto found = std::ranges::find(all, name, &EditedValue::name);
    return found == all.end() ? all.emplace_back(EditedValue{name, {}, {}}) : *found;
}

/// The operations of an edit read the value and constants; the last of them gives what it is then.
void addOperation(std::vector<EditedValue>& all, const InternalGraph& graph, const Expr& expr,
                  const std::string& edited) {
    EditedValue& value = ofName(all, edited);
    value.after = expr.outputs.front();
    for (const NodeId input : expr.inputs)
        if (!isStored(graph, input) && graph::editedNodeOf(graph.expr(graph.node(input).producer)) != edited)
            value.before = input;
}

void addNamed(std::vector<EditedValue>& all, const InternalGraph& graph, NodeId node) {
    const std::string_view name = graph.node(node).name;
    if (!name.ends_with(kBeforeEdits)) return;
    const std::string plain(name.substr(0, name.size() - kBeforeEdits.size()));
    const NodeId after = graph.findNode(plain);
    if (!after.valid()) return;
    EditedValue& value = ofName(all, plain);
    if (!value.after.valid()) value.before = node, value.after = after;
}

EditedValue valueOf(const std::vector<EditedValue>& all, const std::string& name) {
    const auto found = std::ranges::find(all, name, &EditedValue::name);
    return found == all.end() ? EditedValue() : *found;
}

}  // namespace

std::vector<EditedValue> editedValues(const InternalGraph& graph) {
    std::vector<EditedValue> all;
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        const bool isOperation = expr.outputs.size() == 1 && !isStored(graph, expr.outputs.front());
        if (const std::string edited = graph::editedNodeOf(expr); isOperation && !edited.empty())
            addOperation(all, graph, expr, edited);
    }
    for (const ExprId id : order)
        for (const NodeId node : graph.expr(id).outputs) addNamed(all, graph, node);
    std::erase_if(all, [](const EditedValue& value) { return !value.before.valid(); });
    return all;
}

std::string nameWithoutEdits(const InternalGraph& graph, NodeId node) {
    const std::string edit = graph::editedNodeOf(graph.expr(graph.node(node).producer));
    if (!edit.empty()) return "the edit of " + edit;
    const std::string& name = graph.node(node).name;
    if (!name.ends_with(kBeforeEdits)) return name;
    const std::string edited = name.substr(0, name.size() - kBeforeEdits.size());
    return graph.findNode(edited).valid() ? edited + " before its edit" : name;
}

namespace {

/// Counterparts by what they have the value of: a call has that of its last operation.
class Pairing {
  public:
    Pairing(std::vector<NodeId> match, const InternalGraph& from, const InternalGraph& to)
        : m_match(std::move(match)), m_from(exec::valueSources(from)), m_to(exec::valueSources(to)) {}

    NodeId of(NodeId ours) const { return m_match[ours.index()]; }
    NodeId from(NodeId theirs) const {
        const auto found = std::ranges::find(m_match, theirs);
        return found == m_match.end() ? NodeId() : NodeId(static_cast<std::size_t>(found - m_match.begin()));
    }
    /// From now on `theirs` is nothing else's counterpart.
    void pair(NodeId ours, NodeId theirs) {
        leave(ours, theirs);
        m_match[ours.index()] = theirs;
    }
    /// No other value than `ours` has the value of `theirs` as its counterpart.
    void leave(NodeId ours, NodeId theirs) {
        const NodeId own = m_from[ours.index()], other = m_to[theirs.index()];
        for (std::size_t i = 0; i < m_match.size(); ++i)
            if (m_match[i].valid() && m_to[m_match[i].index()] == other && m_from[i] != own) m_match[i] = NodeId();
    }
    /// What is inside of edits has no counterpart: another edit of the same value may be made of the same operations.
    void forget(const std::vector<bool>& own, const std::vector<bool>& others) {
        for (std::size_t i = 0; i < m_match.size(); ++i)
            if (own[i] || (m_match[i].valid() && others[m_match[i].index()])) m_match[i] = NodeId();
    }
    void share(NodeId before, NodeId after, NodeId theirs) {
        pair(after, theirs);
        m_match[before.index()] = theirs;
    }
    std::vector<NodeId> take() { return std::move(m_match); }

  private:
    std::vector<NodeId> m_match;
    std::vector<NodeId> m_from, m_to;  ///< valueSources()
};

/// By node: computed by an operation of an edit, but not what the value is after it.
std::vector<bool> insideOfEdits(const InternalGraph& graph, const std::vector<EditedValue>& edits) {
    std::vector<bool> inside(graph.nodeCount(), false);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Expr& expr = graph.expr(graph.node(NodeId(i)).producer);
        inside[i] = !graph.isErased(expr.id) && !graph::editedNodeOf(expr).empty();
    }
    for (const EditedValue& value : edits) inside[value.after.index()] = false;
    return inside;
}

}  // namespace

std::vector<NodeId> withEditedValues(std::vector<NodeId> match, const InternalGraph& from, const InternalGraph& to) {
    const std::vector<EditedValue> own = editedValues(from), others = editedValues(to);
    if (own.empty() && others.empty()) return match;
    Pairing pairing(std::move(match), from, to);
    pairing.forget(insideOfEdits(from, own), insideOfEdits(to, others));
    for (const EditedValue& value : others) {
        if (valueOf(own, value.name).after.valid()) continue;
        // By the edit's own word where it is right; exporters may give what an edit does other names.
        const NodeId named = from.findNode(value.name);
        const NodeId ours = named.valid() ? named : pairing.from(value.before);
        if (!ours.valid()) continue;
        pairing.leave(ours, value.before);
        pairing.pair(ours, value.after);
    }
    for (const EditedValue& value : own) {
        const EditedValue other = valueOf(others, value.name);
        if (other.after.valid()) {
            pairing.pair(value.before, other.before);
            pairing.pair(value.after, other.after);
            continue;
        }
        const NodeId named = to.findNode(value.name), before = pairing.of(value.before);
        const NodeId theirs = named.valid() ? named : before.valid() ? before : pairing.of(value.after);
        if (theirs.valid()) pairing.share(value.before, value.after, theirs);
    }
    return pairing.take();
}

}  // namespace sonde::analysis
