#include <algorithm>

#include "core/layout/compose/draft.h"

namespace sonde::layout::compose {

namespace {

using Kind = Outline::Kind;

/// Walks the open groups from the outermost inwards and makes an item for each member.
class ItemFinder {
  public:
    explicit ItemFinder(Draft& draft)
        : m_draft(draft), m_outline(*draft.outline), m_view(*draft.view), m_graph(draft.outline->graph()) {}

    void run() {
        m_draft.exprItems.assign(m_graph.exprCount(), ItemId());
        m_draft.scopeItems.assign(m_graph.scopeCount(), ItemId());
        m_draft.levels.push_back({});
        fill(m_outline.root(), kNone);
        for (std::uint32_t item = 0; item < m_draft.items.size(); ++item) {
            if (m_draft.items[item].what.open) fill(m_draft.items[item].group, item);
        }
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

    void addExpr(ExprId id, GroupId operation, std::uint32_t container) {
        const graph::Expr& expr = m_graph.expr(id);
        if (m_view.hideConstants && Outline::isConstant(expr)) {
            ++m_draft.hiddenConstants;
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
        std::vector<NodeId> seen;
        for (const NodeId value : m_graph.body(body).outputs) {
            if (std::find(seen.begin(), seen.end(), value) != seen.end()) continue;
            seen.push_back(value);
            SceneItem item;
            item.what.kind = ItemKind::Output;
            item.what.body = body;
            item.what.scope = m_graph.expr(m_graph.node(value).producer).scope;
            item.what.values = {value};
            item.key = {ItemKind::Output, {}, {}, body, value};
            add(std::move(item), container);
        }
    }

    void countHidden(SceneItem& item, GroupId id) {
        const Outline::Group& group = m_outline.group(id);
        item.what.hiddenExprs = group.exprs - group.constants;
        item.what.hiddenConstants = group.constants;
        if (group.kind == Kind::Operation && Outline::isCall(m_graph.expr(group.expr))) return;
        m_draft.hiddenExprs += group.exprs - group.constants;
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

    Draft& m_draft;
    const Outline& m_outline;
    const ViewState& m_view;
    const InternalGraph& m_graph;
};

}  // namespace

void findItems(Draft& draft) { ItemFinder(draft).run(); }

}  // namespace sonde::layout::compose
