#include "core/analysis/requirements/requirements.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/operators/names.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace sonde::analysis::requirement {

using graph::Argument;
using graph::Body;
using graph::Expr;
using graph::NodeId;
using tensor::Value;

namespace {

constexpr int kMaxDepth = 200;

struct IndexItem {
    enum class Kind : std::uint8_t { Slice, Number, NewAxis, Ellipsis };
    Kind kind;
    std::int64_t first = 0;
};

std::optional<IndexItem> indexItem(const Facts& facts, const Argument& item) {
    using Kind = IndexItem::Kind;
    if (item.kind == Argument::Kind::Slice)
        return IndexItem{Kind::Slice, item.items.empty() ? 0 : facts.integer(item.items.front()).value_or(0)};
    if (const auto number = facts.integer(item)) return IndexItem{Kind::Number, *number};
    const Value value = facts.valueOf(item);
    if (item.kind == Argument::Kind::Constant && value.isNone()) return IndexItem{Kind::NewAxis};
    if (value.kind() != tensor::ValueKind::Object) return std::nullopt;
    const auto* slice = dynamic_cast<const tensor::SliceValue*>(value.object().get());
    if (slice)
        return IndexItem{Kind::Slice, slice->start().kind() == tensor::ValueKind::Int ? slice->start().toInt() : 0};
    if (dynamic_cast<const tensor::EllipsisValue*>(value.object().get())) return IndexItem{Kind::Ellipsis};
    return std::nullopt;
}

}  // namespace

Requirement Requirements::of(NodeId node) const {
    Requirement requirement = m_requirements[node.index()];
    for (const auto& branch : m_branches) {
        if (const auto found = branch.find(node.index()); found != branch.end()) requirement.add(found->second);
    }
    return requirement;
}

void Requirements::want(NodeId node, const Requirement& requirement) {
    (m_branches.empty() ? m_requirements[node.index()] : m_branches.back()[node.index()]).add(requirement);
}

/// Users come behind what they use: backwards, all that is wanted of an output is known before its expr is looked at.
void Requirements::collect(const Body& body, int depth) {
    if (depth > kMaxDepth) return;
    for (auto id = body.order.rbegin(); id != body.order.rend(); ++id) {
        const Expr& expr = m_graph.expr(*id);
        if (expr.op.name.empty() && !expr.bodies.empty()) collectCall(expr, depth);
        else if (expr.bodies.size() == 2 && graph::traitsOf(expr).opClass == OpClass::If) collectBranches(expr, depth);
        else if (expr.op.domain == "aten") collectOperator(expr);
        else if (expr.op.domain == "prim") collectPlain(expr);
    }
}

/// A called module: what is wanted of its result goes in, what is wanted of its inputs comes out.
void Requirements::collectCall(const Expr& expr, int depth) {
    const Body& body = m_graph.body(expr.bodies.front());
    for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i)
        m_facts.setGiven(body.inputs[i], expr.inputs[i]);
    if (expr.outputs.size() == 1 && body.result.kind == Argument::Kind::Node) want(body.result, of(expr));
    collect(body, depth + 1);
    for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i)
        want(expr.inputs[i], of(body.inputs[i]));
}

/// Only what both branches want is wanted whatever happens.
void Requirements::collectBranches(const Expr& expr, int depth) {
    std::array<std::unordered_map<std::size_t, Requirement>, 2> wanted;
    for (const std::size_t branch : {0, 1}) {
        const Body& body = m_graph.body(expr.bodies[branch]);
        std::vector<Requirement> results;
        for (std::size_t i = 0; i < body.outputs.size() && i < expr.outputs.size(); ++i)
            results.push_back(of(expr.outputs[i]));
        m_branches.emplace_back();
        for (std::size_t i = 0; i < results.size(); ++i) want(body.outputs[i], results[i]);
        collect(body, depth + 1);
        wanted[branch] = std::move(m_branches.back());
        m_branches.pop_back();
    }
    for (const auto& [node, requirement] : wanted[0]) {
        if (const auto found = wanted[1].find(node); found != wanted[1].end())
            want(NodeId(node), common(requirement, found->second));
    }
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) wantBatch(expr, i);
}

/// if x.dim() != 3: x = x.unsqueeze(0): a batch is not changed.
void Requirements::wantBatch(const Expr& expr, std::size_t output) {
    for (const std::size_t branch : {0, 1}) {
        const Body &same = m_graph.body(expr.bodies[branch]), &other = m_graph.body(expr.bodies[1 - branch]);
        if (output >= same.outputs.size() || output >= other.outputs.size()) continue;
        const Expr& maker = m_graph.expr(m_graph.node(other.outputs[output]).producer);
        const bool makesBatch = maker.body == other.id && graph::traitsOf(maker).form == ViewForm::Unsqueeze &&
                                !maker.arguments.empty() && maker.arguments.front().kind == Argument::Kind::Node &&
                                maker.arguments.front().node == same.outputs[output];
        if (makesBatch) want(same.outputs[output], of(expr.outputs[output]));
    }
}

/// n, c, h, w = x.size(); assert x.dim() == 4; assert x.size(2) == 32; if x.dim() != 4: raise
void Requirements::collectPlain(const Expr& expr) {
    const Traits& traits = graph::traitsOf(expr);
    const OpClass opClass = traits.opClass;
    if (expr.arguments.empty()) return;
    if (opClass == OpClass::Unpack) {
        const Expr* size = m_facts.producerOf(expr.arguments.front());
        Requirement requirement;
        requirement.rank = expr.outputs.size();
        if (size && isShape(*size)) want(size->arguments.front(), requirement);
    } else if (opClass == OpClass::GetAttr && isShape(expr)) {
        wantUnpacked(expr);
    } else if (opClass == OpClass::Index && expr.arguments.size() == 2 && !expr.outputs.empty()) {
        wantIndexed(expr);
    } else if (traits.is(Trait::ChecksFirst)) {
        collectAsserted(expr.arguments.front(), true, 0);
    } else if ((opClass == OpClass::Add || opClass == OpClass::Sub || opClass == OpClass::Mul ||
                opClass == OpClass::Div) &&
               expr.arguments.size() == 2 && m_facts.isNumber(expr.arguments[1])) {
        want(expr.arguments.front(), of(expr).withoutType());
    }
}

void Requirements::collectAsserted(const Argument& condition, bool holds, int depth) {
    const Expr* expr = m_facts.producerOf(condition);
    if (!expr || depth > 8 || expr->op.domain != "prim" || expr->arguments.empty()) return;
    const OpClass opClass = graph::traitsOf(*expr).opClass;
    if (opClass == OpClass::Not) {
        collectAsserted(expr->arguments.front(), !holds, depth + 1);
    } else if (opClass == (holds ? OpClass::Equal : OpClass::NotEqual) && expr->arguments.size() == 2) {
        for (const std::size_t side : {0, 1})
            wantEqual(expr->arguments[side], m_facts.integer(expr->arguments[1 - side]));
    }
}

/// dim(x), x.ndim, size(x, i), x.shape[i]
void Requirements::wantEqual(const Argument& number, std::optional<std::int64_t> value) {
    const Expr* expr = m_facts.producerOf(number);
    if (!expr || !value || *value < 0 || expr->arguments.empty()) return;
    const Traits& traits = graph::traitsOf(*expr);
    Requirement requirement;
    if (traits.query == operators::ShapeQuery::Rank) {
        if (*value > static_cast<std::int64_t>(kHighestRank)) return;
        requirement.rank = static_cast<std::size_t>(*value);
        want(expr->arguments.front(), requirement);
    } else if (traits.opClass == OpClass::Shape && operators::overloadOf(expr->op.name) == "int") {
        requirement.put(m_facts.integer(Facts::argument(*expr, "dim")).value_or(kHighestRank), DimSize::of(*value));
        want(expr->arguments.front(), requirement);
    } else if (traits.opClass == OpClass::Index && expr->op.domain == "prim" && expr->arguments.size() == 2) {
        const Expr* size = m_facts.producerOf(expr->arguments.front());
        if (!size || !isShape(*size)) return;
        requirement.put(m_facts.integer(expr->arguments[1]).value_or(kHighestRank), DimSize::of(*value));
        want(size->arguments.front(), requirement);
    }
}

/// n, t, c = x.size(): all dimensions are taken, in order, right where the size is asked for.
void Requirements::wantUnpacked(const Expr& expr) {
    const std::vector<graph::ExprId>& users = m_graph.node(expr.outputs.front()).users;
    if (users.size() < 2 || users.size() > kHighestRank) return;
    const std::vector<graph::ExprId>& order = m_graph.body(expr.body).order;
    auto at = std::ranges::find(order, expr.id);
    for (std::size_t i = 0; i < users.size(); ++i) {
        const Expr& user = m_graph.expr(users[i]);
        if (++at == order.end() || *at != user.id || graph::traitsOf(user).form != ViewForm::Index ||
            user.arguments.size() != 2)
            return;
        if (m_facts.integer(user.arguments[1]) != static_cast<std::int64_t>(i)) return;
    }
    Requirement requirement;
    requirement.rank = users.size();
    want(expr.arguments.front(), requirement);
}

/// x[:, 2:, 0], x[..., None]: each slice and each number takes a dimension, and there must be elements to take.
void Requirements::wantIndexed(const Expr& expr) {
    const Argument& index = expr.arguments[1];
    if (index.kind != Argument::Kind::Tuple && index.kind != Argument::Kind::Slice) return;
    const std::span<const Argument> items =
        index.kind == Argument::Kind::Tuple ? std::span<const Argument>(index.items) : std::span(&index, 1);
    std::int64_t taken = 0;
    int lost = 0;
    bool isInFront = true;
    Requirement requirement;
    for (const Argument& item : items) {
        const std::optional<IndexItem> part = indexItem(m_facts, item);
        if (!part) return;  // a mask takes as many dimensions as it has
        isInFront = isInFront && part->kind != IndexItem::Kind::Ellipsis;
        lost += part->kind == IndexItem::Kind::Number ? 1 : part->kind == IndexItem::Kind::NewAxis ? -1 : 0;
        if (part->kind != IndexItem::Kind::Number && part->kind != IndexItem::Kind::Slice) continue;
        DimSize dimSize;
        if (part->first >= 0 && part->first <= kMaxDimSize) dimSize.least = part->first + 1;
        if (isInFront) requirement.put(taken, dimSize);
        ++taken;
    }
    requirement.add(of(expr).rankShifted(lost));
    requirement.leastRank = std::max(requirement.leastRank, static_cast<std::size_t>(taken));
    want(expr.arguments.front(), requirement);
}

bool Requirements::isShape(const Expr& expr) const {
    if (expr.arguments.empty()) return false;
    const OpClass opClass = graph::traitsOf(expr).opClass;
    if (expr.op.domain == "aten") return opClass == OpClass::Shape && operators::overloadOf(expr.op.name).empty();
    const Value name = expr.arguments.size() > 1 ? m_facts.valueOf(expr.arguments[1]) : Value();
    return opClass == OpClass::GetAttr && name.kind() == tensor::ValueKind::String && name.toString() == "shape";
}

}  // namespace sonde::analysis::requirement
