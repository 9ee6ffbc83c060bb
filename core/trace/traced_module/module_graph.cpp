#include "core/trace/traced_module/module_graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace sonde::trace {

using Kind = TracedExpr::Kind;

ModuleGraph& ModuleGraph::root() { return m_parent ? m_parent->root() : *this; }
const ModuleGraph& ModuleGraph::root() const { return m_parent ? m_parent->root() : *this; }

base::Result<void> ModuleGraph::setName(std::string_view name) {
    const std::string wanted = identifierOf(name);
    if (wanted.empty()) return base::usageError("a graph's name cannot be empty");
    if (wanted == m_name) return {};
    if (m_parent) {
        if (m_parent->m_names.holds(wanted))
            return base::usageError("the name '" + wanted + "' is already in use", m_parent->m_name);
        m_parent->m_names.free(m_name);
        m_parent->m_names.take(wanted);
    }
    m_name = wanted;
    return {};
}

void ModuleGraph::collect(bool recursive, std::vector<TracedExpr*>& into, std::set<const ModuleGraph*>& seen) const {
    seen.insert(this);
    for (const TracedNode* input : m_inputs) into.push_back(&input->expr());
    for (TracedExpr* expr : m_body) {
        into.push_back(expr);
        if (recursive && expr->innerGraph() && !seen.contains(expr->innerGraph().get())) {
            expr->innerGraph()->collect(true, into, seen);
        }
    }
}

ExprQuery ModuleGraph::exprs(bool recursive) const {
    std::vector<TracedExpr*> items;
    std::set<const ModuleGraph*> seen;
    collect(recursive, items, seen);
    return ExprQuery(std::move(items));
}

NodeQuery ModuleGraph::nodes(bool recursive) const {
    std::vector<TracedNode*> items;
    for (const TracedExpr* expr : exprs(recursive))
        items.insert(items.end(), expr->outputs().begin(), expr->outputs().end());
    return NodeQuery(std::move(items));
}

base::Result<ExprQuery> ModuleGraph::dependencies(const std::vector<TracedNode*>& nodes) const {
    std::vector<TracedExpr*> order;
    std::unordered_set<const TracedExpr*> seen;
    std::vector<TracedExpr*> stack;
    for (TracedNode* node : nodes) {
        if (&node->graph() != this)
            return base::usageError("node '" + node->fullName() + "' is of another graph", m_name);
    }
    // Depth first with the last input on top; each expr where it is met first.
    for (std::size_t i = nodes.size(); i-- > 0;) stack.push_back(&nodes[i]->expr());
    std::ranges::reverse(stack);
    while (!stack.empty()) {
        TracedExpr* expr = stack.back();
        stack.pop_back();
        if (!seen.insert(expr).second) continue;
        order.push_back(expr);
        for (TracedNode* input : expr->inputs()) {
            if (!seen.contains(&input->expr())) stack.push_back(&input->expr());
        }
    }
    return ExprQuery(std::move(order));
}

std::size_t ModuleGraph::positionOf(const TracedExpr& expr) const {
    if (expr.kind() == Kind::Input) return 0;
    const auto found = std::ranges::find(m_body, &expr);
    return static_cast<std::size_t>(found - m_body.begin()) + 1;
}

base::Result<void> ModuleGraph::replaceNode(const std::vector<std::pair<TracedNode*, TracedNode*>>& replacements) {
    for (const auto& [before, after] : replacements) {
        if (&after->graph() != this || &before->graph() != this)
            return base::usageError("the nodes are not of this graph", m_name);
        if (before->isModule() != after->isModule()) {
            return base::usageError("a module and a tensor cannot replace each other",
                                    before->name() + ", " + after->name());
        }
    }
    for (const auto& [before, after] : replacements) {
        GraphBuilder(*this).redirect(*before, *after, positionOf(after->expr()), true);
    }
    return {};
}

void ModuleGraph::compile() {
    mergeReads();
    removeUnneeded();
}

void ModuleGraph::mergeReads() {
    GraphBuilder builder(*this);
    std::map<std::pair<const TracedNode*, std::string>, TracedNode*> reads;
    const std::vector<TracedExpr*> body = m_body;
    for (TracedExpr* expr : body) {
        if (expr->kind() != Kind::GetAttr) continue;
        TracedNode* base = expr->inputs().front();
        // The base's own chain is merged already: it comes earlier.
        if (base->expr().kind() == Kind::GetAttr) {
            expr->m_target = base->expr().target() + '.' + expr->target();
            builder.setArguments(*expr, {Operand(base->expr().inputs().front())}, {});
        }
        TracedNode* node = expr->outputs().front();
        const auto [known, isNew] = reads.try_emplace({expr->inputs().front(), expr->target()}, node);
        if (isNew) continue;
        builder.redirect(*node, *known->second, 0, true);
        builder.remove(*expr);
    }
}

void ModuleGraph::removeUnneeded() {
    std::unordered_set<const TracedExpr*> needed;
    std::vector<const TracedExpr*> stack;
    for (const TracedNode* output : m_outputs) stack.push_back(&output->expr());
    for (const TracedExpr* expr : m_body) {
        if (!expr->mayRemove()) stack.push_back(expr);
    }
    while (!stack.empty()) {
        const TracedExpr* expr = stack.back();
        stack.pop_back();
        if (!needed.insert(expr).second) continue;
        for (const TracedNode* input : expr->inputs()) stack.push_back(&input->expr());
    }
    const std::vector<TracedExpr*> body = m_body;
    for (std::size_t i = body.size(); i-- > 0;) {
        if (!needed.contains(body[i])) GraphBuilder(*this).remove(*body[i]);
    }
}

base::Result<void> ModuleGraph::validate() const {
    std::unordered_map<const TracedNode*, std::vector<const TracedExpr*>> uses;
    std::unordered_set<const TracedNode*> made(m_inputs.begin(), m_inputs.end());
    std::unordered_set<std::string> names;
    const auto broken = [&](const std::string& what, const std::string& where) {
        return base::usageError(what, m_name + ": " + where);
    };
    for (const TracedExpr* expr : m_body) {
        std::vector<const TracedNode*> listed;
        for (const Operand& operand : expr->args())
            operand.forEachNode([&](const TracedNode* node) { listed.push_back(node); });
        for (const auto& [name, operand] : expr->keywords())
            operand.forEachNode([&](const TracedNode* node) { listed.push_back(node); });
        if (!std::ranges::equal(listed, expr->inputs()))
            return broken("inputs are not those of the arguments", expr->text());
        for (const TracedNode* input : expr->inputs()) {
            if (!made.contains(input))
                return broken("'" + input->name() + "' is read before it is produced", expr->text());
            uses[input].push_back(expr);
        }
        made.insert(expr->outputs().begin(), expr->outputs().end());
        if (expr->innerGraph()) {
            if (expr->innerGraph()->inputs().size() != expr->inputs().size())
                return broken("the inner graph has other inputs", expr->text());
            for (std::size_t i = 0; i < expr->inputs().size(); ++i) {
                const std::vector<TracedNode*>& actual = expr->innerGraph()->inputs()[i]->actualNodes();
                if (std::ranges::find(actual, expr->inputs()[i]) == actual.end())
                    return broken("an actual node is missing", expr->text());
            }
            SONDE_TRY(expr->innerGraph()->validate());
        }
    }
    for (const TracedNode* node : made) {
        std::vector<const TracedExpr*> users(node->users().begin(), node->users().end());
        std::vector<const TracedExpr*>& expected = uses[node];
        std::ranges::sort(users);
        std::ranges::sort(expected);
        if (users != expected) return broken("the use list is wrong", node->name());
        if (!names.insert(node->name()).second) return broken("two nodes have the same name", node->name());
        if (!m_names.holds(node->name())) return broken("the name is not registered", node->name());
    }
    for (const TracedNode* output : m_outputs) {
        if (!made.contains(output)) return broken("an output is never produced", output->name());
    }
    return {};
}

std::string ModuleGraph::text(std::string_view format) const {
    std::string result = m_name + ".Graph (";
    for (std::size_t i = 0; i < m_inputs.size(); ++i) result += (i > 0 ? ", " : "") + nodeText(*m_inputs[i], format);
    result += ") {\n";
    for (const TracedExpr* expr : m_body) result += '\t' + expr->text(format) + '\n';
    result += "\treturn ";
    for (std::size_t i = 0; i < m_outputs.size(); ++i) result += (i > 0 ? ", " : "") + nodeText(*m_outputs[i], format);
    return result + "\n}\n";
}

}  // namespace sonde::trace
