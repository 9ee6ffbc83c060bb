#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/graph/main_layer.h"
#include "core/layout/compose/layout_draft.h"
#include "core/layout/lockstep.h"
#include "core/layout/shape_math.h"

namespace sonde::layout::compose {

namespace {

using Kind = Outline::Kind;

/// Walks the open groups from the outermost inwards and makes an item for each member.
class ItemFinder {
  public:
    explicit ItemFinder(LayoutDraft& draft)
        : m_draft(draft), m_outline(*draft.outline), m_view(*draft.view), m_graph(draft.outline->graph()) {}

    void run() {
        m_draft.exprItems.assign(m_graph.exprCount(), ItemId());
        m_draft.scopeItems.assign(m_graph.scopeCount(), ItemId());
        m_draft.levels.push_back({});
        if (m_view.foldShapes) m_draft.shapes = shapeMath(m_graph);
        if (m_view.filtered || !m_draft.shapes.empty()) countLeftOut();
        fill(m_outline.root(), kNone);
        for (std::uint32_t item = 0; item < m_draft.items.size(); ++item) {
            if (m_draft.items[item].what.open) fill(m_draft.items[item].group, item);
        }
        joinBlocks();
    }

  private:
    void fill(GroupId id, std::uint32_t container) {
        // A call has one body and no choice: its box shows the body's members.
        if (isCall(id)) id = m_outline.group(id).members.front().group;
        const Outline::Group& group = m_outline.group(id);
        if (container != kNone) {
            m_draft.levelOf[container] = static_cast<std::uint32_t>(m_draft.levels.size());
            m_draft.levels.push_back({container, m_draft.itemDepth[container] + 1, {}, {}, {}, {}});
        }
        bool hasOutput = false;
        for (const Outline::Member& member : group.members) {
            if (member.expr.valid()) {
                hasOutput = hasOutput || m_graph.expr(member.expr).kind == graph::ExprKind::Output;
                addExpr(member.expr, member.group, container);
            } else if (m_outline.group(member.group).kind == Kind::Body) {
                addBody(member.group, container);
            } else {
                addModule(member.group, container);
            }
        }
        if (group.kind == Kind::Body && !hasOutput) addOutputs(group.body, container);
    }

    bool isCall(GroupId id) const {
        const Outline::Group& group = m_outline.group(id);
        return group.kind == Kind::Operation && group.members.size() == 1 && Outline::isCall(m_graph.expr(group.expr));
    }

    std::uint32_t add(SceneItem item, std::uint32_t container) {
        const auto index = static_cast<std::uint32_t>(m_draft.items.size());
        Level& level = m_draft.levels[container == kNone ? 0 : m_draft.levelOf[container]];
        item.parent = container == kNone ? ItemId() : ItemId(container);
        m_draft.slot.push_back(static_cast<std::uint32_t>(level.members.size()));
        m_draft.itemDepth.push_back(container == kNone ? 0 : m_draft.itemDepth[container] + 1);
        m_draft.levelOf.push_back(kNone);
        level.members.push_back(index);
        if (container != kNone) m_draft.items[container].children.push_back(ItemId(index));
        m_draft.items.push_back(std::move(item));
        return index;
    }

    /// Operations that are not drawn, and which of them compute shapes, inside each group, at any depth.
    void countLeftOut() {
        m_leftOut.assign(m_outline.groupCount(), {});
        for (std::size_t i = m_outline.groupCount(); i-- > 0;) {
            const Outline::Group& group = m_outline.group(GroupId(i));
            for (const Outline::Member& member : group.members) {
                if (!member.expr.valid() || Outline::isConstant(m_graph.expr(member.expr))) continue;
                if (isFiltered(m_view, member.expr)) ++m_leftOut[i].filtered;
                else if (m_draft.isShape(member.expr)) ++m_leftOut[i].shapes;
            }
            const bool call = group.kind == Kind::Operation && Outline::isCall(m_graph.expr(group.expr));
            if (!group.parent.valid() || call) continue;
            m_leftOut[group.parent.index()].filtered += m_leftOut[i].filtered;
            m_leftOut[group.parent.index()].shapes += m_leftOut[i].shapes;
        }
    }
    struct LeftOut {
        std::uint32_t filtered = 0, shapes = 0;
    };
    LeftOut leftOutOf(GroupId id) const { return m_leftOut.empty() ? LeftOut{} : m_leftOut[id.index()]; }
    void addLeftOut(GroupId id) {
        m_draft.filteredExprs += leftOutOf(id).filtered;
        m_draft.shapeExprs += leftOutOf(id).shapes;
    }
    /// Operations of a group that a view does not leave out.
    std::uint32_t left(GroupId id) const {
        return m_outline.group(id).exprs - m_outline.group(id).constants - leftOutOf(id).filtered -
               leftOutOf(id).shapes;
    }

    /// Whether a group is an instance of a folded run that another instance stands for.
    bool standsBehind(GroupId id) {
        const std::uint32_t run = m_outline.runOf(id);
        if (!isFolded(m_outline, m_view, run)) return false;
        if (m_outline.instanceOf(id) == shownInstance(m_outline, m_view, run)) {
            if (m_outline.runs()[run]
                    .groups[std::size_t{shownInstance(m_outline, m_view, run)} * m_outline.runs()[run].period] == id)
                m_folded.push_back(run);
            return false;
        }
        ++m_draft.foldedBlocks;
        m_draft.foldedExprs += left(id);
        addLeftOut(id);
        (m_view.hideConstants ? m_draft.hiddenConstants : m_draft.foldedExprs) += m_outline.group(id).constants;
        return true;
    }

    /// Exprs of the blocks of folded runs: who is in which, and the items of those that are shown for all.
    void joinBlocks() {
        if (m_folded.empty()) return;
        m_draft.blockOf.assign(m_graph.exprCount(), kNone);
        for (const std::uint32_t run : m_folded) {
            const std::uint32_t shown = shownInstance(m_outline, m_view, run);
            const Outline::Run& all = m_outline.runs()[run];
            for (std::uint32_t i = 0; i < all.instances.size(); ++i) {
                const auto block = static_cast<std::uint32_t>(m_draft.blocks.size());
                FoldedBlock made{run, i, i == shown, kNone, 0};
                bool first = true;
                for (std::uint32_t k = 0; k < all.period; ++k) {
                    forEachExpr(m_outline, all.groups[i * all.period + k], [&](ExprId expr) {
                        std::uint32_t& at = m_draft.blockOf[expr.index()];
                        if (std::exchange(first, false)) made.parent = at;
                        at = block;
                    });
                }
                if (made.parent != kNone) made.depth = m_draft.blocks[made.parent].depth + 1;
                m_draft.blocks.push_back(made);
            }
        }
        // Inner runs first: what is inside a shown block must have its items before they are taken over.
        for (auto it = m_folded.rbegin(); it != m_folded.rend(); ++it) {
            const std::uint32_t shown = shownInstance(m_outline, m_view, *it);
            const Outline::Run& all = m_outline.runs()[*it];
            for (std::uint32_t i = 0; i < all.groups.size(); ++i) {
                if (i / all.period == shown) continue;
                const GroupId from = all.groups[shown * all.period + i % all.period];
                takeOver(m_outline.group(from).scope, m_outline.group(all.groups[i]).scope);
                forEachPair(m_outline, from, all.groups[i],
                            [&](const Outline::Member& mine, const Outline::Member& theirs) {
                                if (mine.expr.valid())
                                    m_draft.exprItems[theirs.expr.index()] = m_draft.exprItems[mine.expr.index()];
                                if (mine.group.valid() && m_outline.group(mine.group).kind == Kind::Module)
                                    takeOver(m_outline.group(mine.group).scope, m_outline.group(theirs.group).scope);
                            });
            }
        }
    }

    void takeOver(ScopeId from, ScopeId to) { m_draft.scopeItems[to.index()] = m_draft.scopeItems[from.index()]; }

    void addExpr(ExprId id, GroupId operation, std::uint32_t container) {
        const graph::Expr& expr = m_graph.expr(id);
        if (isFiltered(m_view, id)) {
            if (!Outline::isConstant(expr)) ++m_draft.filteredExprs;
            else ++(m_view.hideConstants ? m_draft.hiddenConstants : m_draft.filteredExprs);
            // What is inside a filtered operation goes with it.
            if (operation.valid() && !Outline::isCall(expr)) m_draft.filteredExprs += m_outline.group(operation).exprs;
            return;
        }
        if (m_view.hideConstants && Outline::isConstant(expr)) {
            ++m_draft.hiddenConstants;
            return;
        }
        if (m_draft.isShape(id)) {
            ++m_draft.shapeExprs;
            return;
        }
        SceneItem item;
        item.what.kind = expr.kind == graph::ExprKind::Input    ? ItemKind::Input
                         : expr.kind == graph::ExprKind::Output ? ItemKind::Output
                                                                : ItemKind::Expr;
        item.what.expr = id;
        item.what.scope = expr.scope;
        item.key = {item.what.kind, id, {}, {}, {}};
        item.group = operation;
        item.what.expandable = operation.valid();
        item.what.open = operation.valid() && isOpen(m_outline, m_view, operation);
        if (operation.valid() && !item.what.open) countHidden(item, operation);
        const bool closed = operation.valid() && !item.what.open;
        const std::uint32_t index = add(std::move(item), container);
        m_draft.exprItems[id.index()] = ItemId(index);
        if (closed) hide(operation, index);
    }

    void addModule(GroupId id, std::uint32_t container) {
        const Outline::Group& group = m_outline.group(id);
        if (m_view.hideConstants && group.exprs == group.constants) {
            m_draft.hiddenConstants += group.constants;
            return;
        }
        if (!m_leftOut.empty() && left(id) == 0 &&
            (m_view.hideConstants || leftOutOf(id).filtered + leftOutOf(id).shapes > 0)) {
            addLeftOut(id);
            (m_view.hideConstants ? m_draft.hiddenConstants : m_draft.filteredExprs) += group.constants;
            return;
        }
        if (standsBehind(id)) return;
        if (const ExprId single = inlined(m_outline, m_view, id); single.valid()) {
            if (m_view.hideConstants) m_draft.hiddenConstants += group.constants;
            addExpr(single, m_outline.operationGroup(single), container);
            hide(id, m_draft.exprItems[single.index()].value, true);
            return;
        }
        SceneItem item;
        item.what.kind = ItemKind::Module;
        item.what.scope = group.scope;
        item.what.body = group.body;
        item.what.expandable = true;
        item.what.open = isOpen(m_outline, m_view, id);
        item.key = {ItemKind::Module, {}, group.scope, group.body, {}};
        item.group = id;
        if (const std::uint32_t run = m_outline.runOf(id); isFolded(m_outline, m_view, run)) {
            const Outline::Run& all = m_outline.runs()[run];
            const std::size_t place = all.placeOf(id);
            item.what.repeat = static_cast<std::uint32_t>(all.instances.size());
            item.what.period = all.period;
            item.what.turn = static_cast<std::uint32_t>(place);
            item.what.firstBlock = m_outline.group(all.groups[place]).scope;
            item.what.lastBlock = m_outline.group(all.groups[all.groups.size() - all.period + place]).scope;
            item.what.instance = m_outline.instanceOf(id);
        }
        countBlocks(item.what, group);
        const bool open = item.what.open;
        if (!open) countHidden(item, id);
        const std::uint32_t index = add(std::move(item), container);
        setScope(group.scope, index);
        if (!open) hide(id, index);
    }

    void addBody(GroupId id, std::uint32_t container) {
        const Outline::Group& group = m_outline.group(id);
        SceneItem item;
        item.what.kind = ItemKind::Body;
        item.what.scope = group.scope;
        item.what.body = group.body;
        item.what.open = true;
        item.key = {ItemKind::Body, {}, {}, group.body, {}};
        item.group = id;
        add(std::move(item), container);
    }

    /// A body whose results are not gathered by an Output expr shows an item for each result.
    void addOutputs(BodyId body, std::uint32_t container) {
        std::unordered_set<NodeId> seen;
        for (const NodeId value : m_graph.body(body).outputs) {
            if (isFiltered(m_view, m_graph.node(value).producer) || !seen.insert(value).second) continue;
            SceneItem item;
            item.what.kind = ItemKind::Output;
            item.what.body = body;
            item.what.scope = m_graph.expr(m_graph.node(value).producer).scope;
            item.what.values = {value};
            item.key = {ItemKind::Output, {}, {}, body, value};
            add(std::move(item), container);
        }
    }

    /// Modules of several operations that have one class, as the blocks of a stage have: at least two, and half of all.
    void countBlocks(ItemDescription& what, const Outline::Group& group) const {
        std::uint32_t modules = 0, most = 0;
        bool isClassKnown = true;
        std::unordered_map<std::string_view, std::uint32_t> ofClass;
        for (const Outline::Member& member : group.members) {
            if (!member.group.valid() || m_outline.group(member.group).kind != Kind::Module) continue;
            const Outline::Group& inner = m_outline.group(member.group);
            ++modules;
            if (inner.exprs - inner.constants < 2) continue;
            const std::string& className = m_graph.scope(inner.scope).moduleClass;
            if (const std::uint32_t count = ++ofClass[className]; count > most) {
                most = count;
                isClassKnown = !className.empty();
            }
        }
        if (most >= 2 && 2 * most >= modules) (isClassKnown ? what.blocks : what.modules) = most;
    }

    /// Of a module that is small enough to be one layer.
    ExprId mainLayer(GroupId id) const {
        constexpr std::uint32_t kMaxExprs = 64;
        if (m_outline.group(id).exprs > kMaxExprs) return {};
        graph::MainLayer layer(m_graph);
        forEachExpr(m_outline, id, [&](ExprId expr) { layer.add(expr); });
        return layer.found();
    }

    void countHidden(SceneItem& item, GroupId id) {
        const Outline::Group& group = m_outline.group(id);
        item.what.hiddenExprs = left(id);
        item.what.hiddenConstants = group.constants;
        item.what.layer = item.what.expr ? graph::mainLayerOf(m_graph, m_graph.expr(item.what.expr)) : mainLayer(id);
        if (group.kind == Kind::Operation && Outline::isCall(m_graph.expr(group.expr))) return;
        m_draft.hiddenExprs += left(id);
        addLeftOut(id);
        if (m_view.hideConstants) m_draft.hiddenConstants += group.constants;
        else m_draft.hiddenExprs += group.constants;
    }

    void setScope(ScopeId scope, std::uint32_t item) {
        ItemId& first = m_draft.scopeItems[scope.index()];
        if (!first.valid()) first = ItemId(item);
    }

    /// Everything inside a group stands for `item` (all but operations inside that have it already).
    void hide(GroupId id, std::uint32_t item, bool scopesOnly = false) {
        std::vector<GroupId> stack{id};
        while (!stack.empty()) {
            const Outline::Group& group = m_outline.group(stack.back());
            stack.pop_back();
            if (group.kind == Kind::Module) setScope(group.scope, item);
            for (const Outline::Member& member : group.members) {
                if (member.expr.valid() && !scopesOnly) m_draft.exprItems[member.expr.index()] = ItemId(item);
                if (member.group.valid() && (!scopesOnly || !member.expr.valid())) stack.push_back(member.group);
            }
        }
    }

    LayoutDraft& m_draft;
    const Outline& m_outline;
    const ViewState& m_view;
    const InternalGraph& m_graph;
    std::vector<std::uint32_t> m_folded;  // runs that are drawn as one box, outer ones first
    std::vector<LeftOut> m_leftOut;       // by group; empty if nothing is left out
};

}  // namespace

void findItems(LayoutDraft& draft) { ItemFinder(draft).run(); }

}  // namespace sonde::layout::compose
