#include "core/passes/report.h"

#include <algorithm>
#include <unordered_map>

namespace sonde::passes {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::Node;
using graph::NodeId;

namespace {

bool sameConstant(const std::optional<graph::Value>& a, const std::optional<graph::Value>& b) {
    if (a.has_value() != b.has_value()) return false;
    if (!a) return true;
    if (a->isTensor() && b->isTensor()) {
        // Weights are large: the same memory is the same value, other memory is taken as changed.
        const tensor::Tensor& x = a->tensor();
        const tensor::Tensor& y = b->tensor();
        return x.storage() == y.storage() && x.offsetElements() == y.offsetElements() && x.shape() == y.shape() &&
               x.dtype() == y.dtype();
    }
    return tensor::identical(*a, *b);
}

bool same(const Argument& a, const Argument& b) {
    if (a.kind != b.kind || a.node != b.node || a.items.size() != b.items.size()) return false;
    if (a.kind == Argument::Kind::Constant && !sameConstant(a.constant, b.constant)) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        if (!same(a.items[i], b.items[i])) return false;
    }
    return true;
}

bool sameExpr(const Expr& a, const Expr& b) {
    if (a.kind != b.kind || a.op.name != b.op.name || a.op.domain != b.op.domain || a.target != b.target) return false;
    if (a.arguments.size() != b.arguments.size() || a.keywords.size() != b.keywords.size()) return false;
    for (std::size_t i = 0; i < a.arguments.size(); ++i) {
        if (!same(a.arguments[i], b.arguments[i])) return false;
    }
    for (std::size_t i = 0; i < a.keywords.size(); ++i) {
        if (a.keywords[i].first != b.keywords[i].first || !same(a.keywords[i].second, b.keywords[i].second))
            return false;
    }
    return a.bodies == b.bodies && a.attributes.items().size() == b.attributes.items().size();
}

bool alive(const InternalGraph& graph, ExprId id) { return id.index() < graph.exprCount() && !graph.isErased(id); }

NodeChange changeOf(const InternalGraph& graph, const Node& node) {
    const Expr& expr = graph.expr(node.producer);
    NodeChange change;
    change.node = node.id;
    change.name = node.name;
    change.qualname = expr.qualname.value_or("");
    change.op = operationText(expr);
    change.origins = expr.origins;
    return change;
}

/// What went may be replaced by something that went later in the same pass: the end of the chain counts.
NodeId finalReplacement(const InternalGraph& after, const std::unordered_map<NodeId, const Notes::Note*>& notes,
                        NodeId node) {
    for (std::size_t steps = 0; node.valid() && steps <= notes.size(); ++steps) {
        if (alive(after, after.node(node).producer)) return node;
        const auto next = notes.find(node);
        if (next == notes.end()) return {};
        node = next->second->replacedBy;
    }
    return {};
}

std::size_t outsideCount(const std::vector<NodeChange>& changes) {
    return static_cast<std::size_t>(
        std::count_if(changes.begin(), changes.end(), [](const NodeChange& each) { return !each.inside; }));
}

void appendLines(std::string& text, const std::vector<NodeChange>& changes, char sign, std::size_t limit) {
    std::size_t lines = 0;
    for (const NodeChange& change : changes) {
        if (change.inside) continue;
        if (lines++ == limit) {
            text += "  " + std::string(1, sign) + " and " + std::to_string(outsideCount(changes) - limit) + " more\n";
            return;
        }
        text += "  " + std::string(1, sign) + " " + change.name + " (" + change.op + ")";
        if (!change.replacedByName.empty()) text += " -> " + change.replacedByName;
        text += ": " + change.why + "\n";
    }
}

}  // namespace

std::string operationText(const Expr& expr) {
    if (expr.kind == graph::ExprKind::CallModule && !expr.moduleClass.empty()) return expr.moduleClass;
    if (expr.op.name.empty()) return expr.target.empty() ? std::string(graph::name(expr.kind)) : expr.target;
    return expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
}

void Notes::add(NodeId node, std::string why, NodeId replacedBy, bool newValue) {
    byNode.push_back({node, {std::move(why), replacedBy, newValue}});
}

std::size_t PassReport::changes() const {
    return count > 0 ? count : outsideCount(went) + outsideCount(came) + outsideCount(changed);
}

std::string PassReport::summary() const {
    if (!skipped.empty()) return pass + ": skipped: " + skipped;
    const std::size_t gone = outsideCount(went);
    // The pass's own count may leave out changes; "0 times" beside them would contradict itself.
    const bool isCounted = count > 0 || empty();
    return pass + ": " +
           (isCounted ? "applied " + std::to_string(count) + (count == 1 ? " time; " : " times; ") : std::string()) +
           std::to_string(gone) + (gone == 1 ? " node" : " nodes") + " removed, " + std::to_string(outsideCount(came)) +
           " added, " + std::to_string(outsideCount(changed)) + " changed" +
           (compared ? "; the outputs are the same" : "");
}

std::string PassReport::text(std::size_t limit) const {
    std::string result = summary() + "\n";
    appendLines(result, went, '-', limit);
    appendLines(result, came, '+', limit);
    appendLines(result, changed, '~', limit);
    return result;
}

PassReport difference(const InternalGraph& before, const InternalGraph& after, const Notes& notes,
                      std::string_view pass, std::string_view description) {
    PassReport report;
    report.pass = pass;
    report.description = description;
    std::unordered_map<NodeId, const Notes::Note*> byNode;
    for (const auto& [node, note] : notes.byNode) {
        const auto [known, added] = byNode.emplace(node, &note);
        // The later word counts; a replacement that was said before is kept by it.
        if (!added && (note.replacedBy.valid() || !known->second->replacedBy.valid()) && !known->second->newValue)
            known->second = &note;
    }
    const auto explain = [&](NodeChange& change) {
        const auto found = byNode.find(change.node);
        change.why = found == byNode.end() || found->second->why.empty() ? report.description : found->second->why;
        if (found == byNode.end()) return;
        change.replacedBy = finalReplacement(after, byNode, found->second->replacedBy);
        if (change.replacedBy.valid()) change.replacedByName = after.node(change.replacedBy).name;
    };
    for (ExprId id : before.recursiveOrder(before.mainId())) {
        for (NodeId output : before.expr(id).outputs) {
            if (alive(after, id)) continue;
            report.went.push_back(changeOf(before, before.node(output)));
            explain(report.went.back());
            const ExprId owner = before.body(before.expr(id).body).owner;
            report.went.back().inside = owner.valid() && !alive(after, owner);
        }
    }
    for (ExprId id : after.recursiveOrder(after.mainId())) {
        const Expr& expr = after.expr(id);
        const bool isNew = !alive(before, id);
        for (NodeId output : expr.outputs) {
            // A call that returns what is written inside of it has one output more than before.
            const bool isFurther = output.index() >= before.nodeCount();
            const bool differs = !isNew && (isFurther || !sameExpr(before.expr(id), expr) ||
                                            !sameConstant(before.node(output).constant, after.node(output).constant));
            const auto note = byNode.find(output);
            const bool newValue = !isNew && note != byNode.end() && note->second->newValue;
            if (!isNew && !differs && !newValue) continue;
            NodeChange change = changeOf(after, after.node(output));
            explain(change);
            change.newValue = newValue;
            const ExprId owner = after.body(expr.body).owner;
            change.inside = isNew && owner.valid() && !alive(before, owner);
            change.replacedBy = {};
            change.replacedByName.clear();
            if (differs && !byNode.contains(output)) change.why = "uses the replacements of removed values";
            (isNew ? report.came : report.changed).push_back(std::move(change));
        }
    }
    return report;
}

}  // namespace sonde::passes
