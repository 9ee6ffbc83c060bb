#include "ui/context/navigation.h"

#include <algorithm>
#include <utility>

namespace sonde::context {
namespace {

constexpr std::size_t kHistoryLimit = 200;

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

Selection Navigation::selectionOf(NodeId node) const {
    if (!m_model.isOpen() || !node.valid() || node.index() >= m_model.graph().nodeCount()) return {};
    const ExprId producer = m_model.graph().node(node).producer;
    Selection selection;
    selection.kind = Selection::Kind::Node;
    selection.node = node;
    selection.expr = producer;
    if (producer.valid()) {
        const graph::Expr& expr = m_model.graph().expr(producer);
        selection.scope = expr.scope;
        if (expr.qualname) selection.qualname = QString::fromStdString(*expr.qualname);
    }
    return selection;
}

Selection Navigation::selectionOf(ExprId id) const {
    if (!m_model.isOpen() || !id.valid() || m_model.graph().isErased(id)) return {};
    const graph::Expr& expr = m_model.graph().expr(id);
    if (!expr.outputs.empty()) return selectionOf(expr.outputs.front());
    Selection selection;
    selection.kind = Selection::Kind::Expr;
    selection.expr = id;
    selection.scope = expr.scope;
    if (expr.qualname) selection.qualname = QString::fromStdString(*expr.qualname);
    return selection;
}

Selection Navigation::selectionOf(ScopeId scope) const {
    if (!m_model.isOpen() || !scope.valid()) return {};
    Selection selection;
    selection.kind = Selection::Kind::Scope;
    selection.scope = scope;
    selection.qualname = QString::fromStdString(m_model.graph().scope(scope).qualname);
    if (selection.qualname.isNull()) selection.qualname = QLatin1String("");
    return selection;
}

Selection Navigation::selectionOf(const QString& qualname) const {
    if (!m_model.isOpen()) return {};
    const std::string wanted = qualname.toStdString();
    for (const graph::Scope& scope : m_model.graph().scopes())
        if (scope.qualname == wanted) return selectionOf(scope.id);
    // A module that was not traced into has no scope: its call stands for it.
    for (const graph::ExprId id : m_model.graph().main().order) {
        const graph::Expr& expr = m_model.graph().expr(id);
        if (expr.kind == graph::ExprKind::CallModule && expr.target == wanted) return selectionOf(id);
    }
    Selection selection;
    selection.kind = Selection::Kind::Module;
    selection.qualname = qualname;
    return selection;
}

std::vector<ExprId> Navigation::exprsOf(const Selection& selection) const {
    std::vector<ExprId> exprs;
    if (!m_model.isOpen()) return exprs;
    if (selection.kind == Selection::Kind::Scope) {
        for (const ExprId id : m_model.graph().recursiveOrder(m_model.graph().mainId()))
            if (m_model.graph().encloses(selection.scope, m_model.graph().expr(id).scope)) exprs.push_back(id);
    } else if (selection == m_selection && !m_selectedNodes.empty()) {
        for (const NodeId node : m_selectedNodes) exprs.push_back(m_model.graph().node(node).producer);
    } else if (selection.expr.valid()) {
        exprs.push_back(selection.expr);
    }
    return exprs;
}

void Navigation::setSelection(const Selection& selection) {
    m_model.checkFiles();
    m_session.inputs().checkFiles();
    m_selection = selection;
    if (selection.node.valid() && !contains(m_selectedNodes, selection.node)) m_selectedNodes = {selection.node};
    if (!selection.node.valid()) m_selectedNodes.clear();
    m_session.runs().setLookedAt(m_selectedNodes);  // its value comes with each run
    Q_EMIT selectionChanged(m_selection);
    // While a run is debugged, the values of others are not shown.
    if (selection.node.valid() && !m_session.debugger().hasBegun()) m_session.values().request(selection.node);
}

void Navigation::follow(NodeId node) {
    const Selection selection = selectionOf(node);
    if (selection == m_selection) return;
    m_selectedNodes.clear();
    setSelection(selection);
}

void Navigation::select(const Selection& selection) {
    if (selection == m_selection && m_selectedNodes.size() <= 1) return;
    m_selectedNodes.clear();
    if (!selection.isNone() && (m_history.empty() || m_history[m_historyAt] != selection)) {
        if (!m_history.empty()) m_history.resize(m_historyAt + 1);
        m_history.push_back(selection);
        if (m_history.size() > kHistoryLimit) m_history.erase(m_history.begin());
        m_historyAt = m_history.size() - 1;
        Q_EMIT historyChanged();
    }
    setSelection(selection);
}

void Navigation::selectMany(const std::vector<NodeId>& nodes) {
    if (nodes.empty()) return clearSelection();
    m_selectedNodes = nodes;
    setSelection(selectionOf(nodes.front()));
}

void Navigation::hover(const Selection& selection) {
    if (selection == m_hovered) return;
    m_hovered = selection;
    Q_EMIT hoverChanged(m_hovered);
}

void Navigation::reveal(const Selection& selection) {
    if (!m_model.isOpen() || selection.isNone()) return;
    Q_EMIT openingRequested(selection);
    Q_EMIT revealRequested(selection);
}

void Navigation::navigateTo(const Selection& selection) {
    select(selection);
    reveal(selection);
}

void Navigation::showInTree(const Selection& selection) {
    Q_EMIT treeRequested();
    select(selection);
}

void Navigation::goBack() {
    if (!canGoBack()) return;
    --m_historyAt;
    setSelection(m_history[m_historyAt]);
    Q_EMIT historyChanged();
    reveal(m_selection);
}

void Navigation::goForward() {
    if (!canGoForward()) return;
    ++m_historyAt;
    setSelection(m_history[m_historyAt]);
    Q_EMIT historyChanged();
    reveal(m_selection);
}

void Navigation::goToParent() {
    if (!m_model.isOpen() || m_selection.isNone()) return;
    ScopeId scope = m_selection.scope;
    if (m_selection.kind == Selection::Kind::Scope) scope = m_model.graph().scope(scope).parent;
    if (scope.valid()) navigateTo(selectionOf(scope));
}

void Navigation::setSearchHits(std::vector<NodeId> hits, int current) {
    m_searchHits = std::move(hits);
    m_currentHit = current;
    Q_EMIT searchHitsChanged();
}

void Navigation::reset(std::vector<Selection> bookmarks) {
    m_selection = m_hovered = {};
    m_selectedNodes.clear();
    m_history.clear();
    m_historyAt = 0;
    m_searchHits.clear();
    m_currentHit = -1;
    m_bookmarks = std::move(bookmarks);
}

// --- bookmarks ------------------------------------------------------------------------------------------------------

bool Navigation::isBookmarked(const Selection& selection) const {
    return std::find(m_bookmarks.begin(), m_bookmarks.end(), selection) != m_bookmarks.end();
}

void Navigation::toggleBookmark(const Selection& selection) {
    if (selection.isNone()) return;
    if (isBookmarked(selection)) std::erase(m_bookmarks, selection);
    else m_bookmarks.push_back(selection);
    Q_EMIT bookmarksChanged();
}

void Navigation::goToBookmark(int index) {
    if (index >= 0 && index < static_cast<int>(m_bookmarks.size()))
        navigateTo(Selection(m_bookmarks[static_cast<std::size_t>(index)]));
}

void Navigation::goToNextBookmark() {
    if (m_bookmarks.empty()) return;
    const auto at = std::find(m_bookmarks.begin(), m_bookmarks.end(), m_selection);
    const std::size_t next =
        at == m_bookmarks.end() ? 0 : static_cast<std::size_t>(at - m_bookmarks.begin() + 1) % m_bookmarks.size();
    goToBookmark(static_cast<int>(next));
}

}  // namespace sonde::context
