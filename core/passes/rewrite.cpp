#include "core/passes/rewrite.h"

#include <algorithm>

#include "core/base/number_text.h"

namespace sonde::passes {

namespace {

bool reads(const Argument& argument, NodeId node) {
    bool found = false;
    argument.forEachNode([&](NodeId each) { found = found || each == node; });
    return found;
}

/// The redirected copy of an argument.
Argument redirected(Argument argument, NodeId from, NodeId to) {
    argument.forEachNode([&](NodeId& node) {
        if (node == from) node = to;
    });
    return argument;
}

}  // namespace

std::vector<BodyId> Rewrite::bodies() const {
    std::vector<BodyId> result{m_graph.mainId()};
    for (ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
        for (BodyId inner : m_graph.expr(id).bodies) result.push_back(inner);
    }
    return result;
}

std::size_t Rewrite::position(ExprId id) const {
    const std::vector<ExprId>& order = m_graph.body(m_graph.expr(id).body).order;
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), id) - order.begin());
}

bool Rewrite::isResult(NodeId node) const {
    const std::vector<ExprId>& users = m_graph.node(node).users;
    if (std::any_of(users.begin(), users.end(),
                    [this](ExprId user) { return m_graph.expr(user).kind == ExprKind::Output; }))
        return true;
    // Bodies that are no longer part of the program have no results.
    for (std::size_t i = 0; i < m_graph.bodyCount(); ++i) {
        const std::vector<NodeId>& outputs = m_graph.body(BodyId(i)).outputs;
        if (std::find(outputs.begin(), outputs.end(), node) != outputs.end()) return true;
    }
    return false;
}

bool Rewrite::hasOneUse(NodeId node) const { return m_graph.node(node).users.size() == 1 && !isResult(node); }

std::string Rewrite::freeName(std::string_view wanted) const {
    if (!m_graph.findNode(wanted).valid()) return std::string(wanted);
    std::string_view stem = wanted;
    std::uint64_t number = 0;
    if (const std::size_t bar = wanted.rfind('_'); bar != std::string_view::npos && bar + 1 < wanted.size()) {
        if (const auto read = base::parseNumber<std::uint64_t>(wanted.substr(bar + 1))) {
            stem = wanted.substr(0, bar);
            number = *read;
        }
    }
    std::string name;
    do {
        name = std::string(stem) + '_' + std::to_string(++number);
    } while (m_graph.findNode(name).valid());
    return name;
}

ExprId Rewrite::insertAt(ExprId anchor, std::size_t position, Expr expr, std::string_view wantedName, std::string why) {
    const Expr& beside = m_graph.expr(anchor);
    expr.body = beside.body;
    if (!expr.scope.valid()) expr.scope = beside.scope;
    if (!expr.qualname) expr.qualname = beside.qualname;
    if (expr.moduleClass.empty()) expr.moduleClass = beside.moduleClass;
    if (expr.source.empty()) expr.source = beside.source;
    const std::string name = freeName(wantedName);
    const ExprId id = m_graph.addExpr(std::move(expr), std::span(&name, 1), position);
    m_notes.add(output(id), std::move(why));
    return id;
}

ExprId Rewrite::insertBefore(ExprId anchor, Expr expr, std::string_view wantedName, std::string why) {
    return insertAt(anchor, position(anchor), std::move(expr), wantedName, std::move(why));
}

ExprId Rewrite::insertAfter(ExprId anchor, Expr expr, std::string_view wantedName, std::string why) {
    return insertAt(anchor, position(anchor) + 1, std::move(expr), wantedName, std::move(why));
}

NodeId Rewrite::constantBefore(ExprId anchor, Value value, std::string_view wantedName, std::string why) {
    Expr expr;
    expr.kind = ExprKind::Constant;
    expr.target = wantedName;
    const NodeId node = output(insertBefore(anchor, std::move(expr), wantedName, std::move(why)));
    m_graph.setType(node, tensor::TypeInfo::of(value));
    m_graph.setConstant(node, std::move(value));
    return node;
}

void Rewrite::replace(NodeId from, NodeId to, std::string why) {
    m_graph.replaceUses(from, to);
    m_notes.add(from, std::move(why), to);
}

std::size_t Rewrite::replaceBehind(NodeId from, NodeId to, ExprId anchor) {
    const BodyId bodyId = m_graph.expr(anchor).body;
    const std::vector<ExprId> order = m_graph.body(bodyId).order;
    std::size_t replaced = 0;
    const auto inExpr = [&](ExprId id) {
        const std::vector<NodeId>& inputs = m_graph.expr(id).inputs;
        if (std::find(inputs.begin(), inputs.end(), from) == inputs.end()) return;
        std::vector<Argument> arguments = m_graph.expr(id).arguments;
        auto keywords = m_graph.expr(id).keywords;
        for (Argument& argument : arguments) argument = redirected(std::move(argument), from, to);
        for (auto& [key, argument] : keywords) argument = redirected(std::move(argument), from, to);
        m_graph.setArguments(id, std::move(arguments), std::move(keywords));
        ++replaced;
    };
    const auto inResult = [&](BodyId id) {
        if (!reads(m_graph.body(id).result, from)) return;
        m_graph.setResult(id, redirected(m_graph.body(id).result, from, to));
        ++replaced;
    };
    for (std::size_t i = position(anchor) + 1; i < order.size(); ++i) {
        inExpr(order[i]);
        for (BodyId inner : m_graph.expr(order[i]).bodies) {
            inResult(inner);
            for (ExprId id : m_graph.recursiveOrder(inner)) {
                inExpr(id);
                for (BodyId deeper : m_graph.expr(id).bodies) inResult(deeper);
            }
        }
    }
    inResult(bodyId);
    return replaced;
}

bool Rewrite::isReadBehind(NodeId node, ExprId anchor) const {
    const BodyId bodyId = m_graph.expr(anchor).body;
    const graph::Body& body = m_graph.body(bodyId);
    if (reads(body.result, node)) return true;
    const std::size_t at = position(anchor);
    for (ExprId user : m_graph.node(node).users) {
        // A user inside an inner body counts where the owner of that body stands.
        ExprId here = user;
        while (m_graph.expr(here).body != bodyId && m_graph.body(m_graph.expr(here).body).owner.valid()) {
            here = m_graph.body(m_graph.expr(here).body).owner;
        }
        if (m_graph.expr(here).body == bodyId && position(here) > at) return true;
    }
    for (std::size_t i = at + 1; i < body.order.size(); ++i) {
        for (BodyId inner : m_graph.expr(body.order[i]).bodies) {
            if (reads(m_graph.body(inner).result, node)) return true;
        }
    }
    return false;
}

void Rewrite::erase(ExprId id, std::string why) {
    for (BodyId inner : m_graph.expr(id).bodies) {
        m_graph.setResult(inner, Argument::omitted());
        const std::vector<ExprId> order = m_graph.body(inner).order;
        for (std::size_t i = order.size(); i-- > 0;) erase(order[i], "removed with " + m_graph.expr(id).target);
    }
    for (NodeId node : m_graph.expr(id).outputs) m_notes.add(node, why);
    m_graph.erase(id);
}

void Rewrite::eraseIfUnusedConstant(NodeId node, std::string why) {
    if (m_graph.isErased(m_graph.node(node).producer) || !m_graph.node(node).users.empty() || isResult(node)) return;
    const Expr& expr = producer(node);
    if (expr.kind != ExprKind::Constant && expr.kind != ExprKind::GetAttr) return;
    erase(expr.id, std::move(why));
}

void Rewrite::addOrigins(ExprId into, ExprId from) {
    const auto origins = [this](ExprId id) {
        const Expr& expr = m_graph.expr(id);
        if (!expr.origins.empty()) return expr.origins;
        std::string name = expr.name;
        if (name.empty() && !expr.outputs.empty()) name = m_graph.node(expr.outputs.front()).name;
        return std::vector<graph::Origin>{{operationText(expr), std::move(name)}};
    };
    std::vector<graph::Origin> merged = origins(into);
    for (graph::Origin& origin : origins(from)) {
        const bool known = std::any_of(merged.begin(), merged.end(), [&](const graph::Origin& each) {
            return each.op == origin.op && each.name == origin.name;
        });
        if (!known) merged.push_back(std::move(origin));
    }
    m_graph.mutableExpr(into).origins = std::move(merged);
}

}  // namespace sonde::passes
