#include "core/session/debug/trace.h"

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/exec/plan_impl.h"

namespace sonde::session::debug {

using graph::ExprId;
using graph::ScopeId;

namespace {

bool isShown(const graph::Expr& expr) { return !expr.outputs.empty() || !expr.bodies.empty(); }

/// The last of sorted items at or before `at`.
ItemId lastIn(const std::vector<ItemId>& items, ItemId at) {
    const auto after = std::ranges::upper_bound(items, at);
    return after == items.begin() ? kNoItem : *std::prev(after);
}

}  // namespace

Trace::Trace(const exec::Plan& plan)
    : m_graph(plan.graph()), m_frames(1), m_ofExpr(m_graph.exprCount()), m_ofBody(m_graph.bodyCount()),
      m_operations(m_graph.scopeCount(), 0) {
    for (const exec::BodyPlan& body : plan.impl().bodies) {
        for (const exec::Step& step : body.steps) {
            const graph::Expr& expr = m_graph.expr(step.expr);
            if (!isShown(expr)) continue;
            for (ScopeId scope = expr.scope; scope.valid(); scope = m_graph.scope(scope).parent)
                ++m_operations[scope.index()];
        }
    }
}

ItemId Trace::add(Item item) {
    const auto id = static_cast<ItemId>(m_items.size());
    if (item.parent != kNoItem)
        item.depth = static_cast<std::uint16_t>(std::min(m_items[item.parent].depth + 1, 0xFFFF));
    m_items.push_back(item);
    return id;
}

ItemId Trace::parentIn(const Frame& frame) const {
    return !frame.modules.empty() ? frame.modules.back() : frame.body != kNoItem ? frame.body : frame.operation;
}

void Trace::closeModules(Frame& frame, std::size_t kept) {
    while (frame.modules.size() > kept) {
        m_items[frame.modules.back()].end = static_cast<ItemId>(m_items.size());
        frame.modules.pop_back();
    }
}

void Trace::closeBody(Frame& frame) {
    closeModules(frame, 0);
    if (frame.body != kNoItem) m_items[frame.body].end = static_cast<ItemId>(m_items.size());
    frame.body = kNoItem;
}

/// An operation that failed, and that the run went on after, was not told as finished.
void Trace::closeFailed() {
    if (m_items.empty()) return;
    Item& last = m_items.back();
    if (last.kind == Item::Kind::Operation && last.end == kNoItem && m_graph.expr(last.expr).bodies.empty())
        last.end = static_cast<ItemId>(m_items.size());
}

/// Leaves what is around until the operation `owner` is innermost. What failed and was gone past is done, too.
void Trace::unwindTo(ExprId owner) {
    while (m_frames.size() > 1 && m_frames.back().expr != owner) {
        closeBody(m_frames.back());
        if (const ItemId item = m_frames.back().operation; item != kNoItem)
            m_items[item].end = static_cast<ItemId>(m_items.size());
        m_frames.pop_back();
    }
}

/// Modules that are worth a place of their own. What a call runs is in the module that is called: the call stands for
/// it.
void Trace::enterModules(const graph::Expr& expr) {
    Frame& frame = m_frames.back();
    ScopeId base = m_graph.rootScope();
    bool isInCall = false;
    if (frame.expr.valid()) {
        const graph::Expr& owner = m_graph.expr(frame.expr);
        if (owner.scope.valid()) base = owner.scope;
        isInCall = exec::isCall(owner);
    }
    std::vector<ScopeId> chain;
    ScopeId scope = expr.scope;
    for (; scope.valid() && scope != base; scope = m_graph.scope(scope).parent) chain.push_back(scope);
    if (!scope.valid()) chain.clear();  // recorded elsewhere
    if (isInCall && !chain.empty()) chain.pop_back();
    std::erase_if(chain, [this](ScopeId one) { return m_operations[one.index()] <= 1; });
    std::ranges::reverse(chain);
    std::size_t common = 0;
    while (common < chain.size() && common < frame.modules.size() &&
           m_items[frame.modules[common]].scope == chain[common])
        ++common;
    closeModules(frame, common);
    for (; common < chain.size(); ++common) {
        Item module;
        module.kind = Item::Kind::Module;
        module.scope = chain[common];
        module.parent = parentIn(frame);
        frame.modules.push_back(add(module));
    }
}

ItemId Trace::started(ExprId id) {
    const graph::Expr& expr = m_graph.expr(id);
    closeFailed();
    unwindTo(m_graph.body(expr.body).owner);
    if (!isShown(expr)) return kNoItem;
    enterModules(expr);
    Item item;
    item.expr = id;
    item.scope = expr.scope;
    item.parent = parentIn(m_frames.back());
    const ItemId made = add(item);
    m_ofExpr[id.index()].push_back(made);
    if (!expr.bodies.empty()) {
        Frame frame;
        frame.operation = made;
        frame.expr = id;
        m_frames.push_back(std::move(frame));
    }
    return made;
}

ItemId Trace::finished(ExprId id, std::int64_t elapsedNs) {
    const graph::Expr& expr = m_graph.expr(id);
    if (!isShown(expr) || m_ofExpr[id.index()].empty()) return kNoItem;
    if (!expr.bodies.empty()) {
        closeFailed();
        unwindTo(id);
    }
    const ItemId item = m_ofExpr[id.index()].back();
    if (!expr.bodies.empty() && m_frames.size() > 1) {
        closeBody(m_frames.back());
        m_frames.pop_back();
    }
    if (expr.bodies.empty()) m_items[item].elapsedNs = elapsedNs;
    m_items[item].end = static_cast<ItemId>(m_items.size());
    return item;
}

ItemId Trace::bodyStarted(graph::BodyId body, bool hasInputs, std::int64_t iteration) {
    const ExprId owner = m_graph.body(body).owner;
    closeFailed();
    unwindTo(owner);
    Frame& frame = m_frames.back();
    ItemId item = frame.operation;
    const bool isLoop = m_graph.expr(owner).bodies.size() == 1;
    closeBody(frame);
    if (isLoop || hasInputs) {
        Item each;
        each.kind = Item::Kind::Body;
        each.expr = owner;
        each.scope = m_graph.expr(owner).scope;
        each.parent = frame.operation;
        each.iteration = isLoop ? iteration : -1;
        item = add(each);
        frame.body = item;
    }
    m_ofBody[body.index()].push_back(item);
    return item;
}

void Trace::close() {
    closeFailed();
    unwindTo({});
    closeModules(m_frames.front(), 0);
}

ItemId Trace::lastOf(ExprId expr, ItemId at) const { return lastIn(m_ofExpr[expr.index()], at); }
ItemId Trace::lastOf(graph::BodyId body, ItemId at) const { return lastIn(m_ofBody[body.index()], at); }

/// Iterations follow each other in order, those of inner loops within those of the outer ones.
ItemId Trace::inPass(const std::vector<ItemId>& items, const std::vector<std::int64_t>& pass) const {
    const auto found = std::ranges::lower_bound(items, pass, {}, [this](ItemId item) { return passOf(item); });
    return found != items.end() && passOf(*found) == pass ? *found : kNoItem;
}
ItemId Trace::inPass(ExprId expr, const std::vector<std::int64_t>& pass) const {
    return inPass(m_ofExpr[expr.index()], pass);
}
ItemId Trace::inPass(graph::BodyId body, const std::vector<std::int64_t>& pass) const {
    return inPass(m_ofBody[body.index()], pass);
}

std::size_t Trace::countBefore(ExprId expr, ItemId item) const {
    const std::vector<ItemId>& items = m_ofExpr[expr.index()];
    return static_cast<std::size_t>(std::ranges::lower_bound(items, item) - items.begin());
}

ItemId Trace::operationAt(ItemId item) const {
    while (item < size() && m_items[item].kind != Item::Kind::Operation) ++item;
    return item < size() ? item : kNoItem;
}

ItemId Trace::previousBeside(ItemId item) const {
    if (item == 0) return kNoItem;
    const ItemId parent = m_items[item].parent;
    ItemId at = item - 1;
    while (at != parent && m_items[at].parent != parent) at = m_items[at].parent;
    return at;
}

ItemId Trace::around(ItemId item) const {
    const ItemId parent = m_items[item].parent;
    return parent != kNoItem && m_items[parent].kind == Item::Kind::Body ? m_items[parent].parent : parent;
}

std::int64_t Trace::elapsedNs(ItemId item) const {
    std::int64_t sum = m_items[item].elapsedNs;
    for (ItemId inside = item + 1; inside < size() && isInside(inside, item); ++inside)
        sum += m_items[inside].elapsedNs;
    return sum;
}

std::vector<std::int64_t> Trace::passOf(ItemId item) const {
    std::vector<std::int64_t> pass;
    for (; item != kNoItem; item = m_items[item].parent)
        if (m_items[item].kind == Item::Kind::Body && m_items[item].iteration >= 0)
            pass.push_back(m_items[item].iteration);
    std::ranges::reverse(pass);
    return pass;
}

}  // namespace sonde::session::debug
