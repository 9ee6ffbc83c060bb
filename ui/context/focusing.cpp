// The part of InspectorContext that leaves things out of the picture, folds blocks and keeps bookmarks.

#include <algorithm>

#include "core/analysis/reach.h"
#include "ui/context/inspector_context.h"
#include "ui/context/remembered.h"

namespace sonde::context {

using analysis::Flow;

std::vector<ExprId> InspectorContext::exprsOf(const Selection& selection) const {
    std::vector<ExprId> exprs;
    if (!document()) return exprs;
    if (selection.kind == Selection::Kind::Scope) {
        for (const ExprId id : graph().recursiveOrder(graph().mainId()))
            if (graph().encloses(selection.scope, graph().expr(id).scope)) exprs.push_back(id);
    } else if (selection == m_selection && !m_selectedNodes.empty()) {
        for (const NodeId node : m_selectedNodes) exprs.push_back(graph().node(node).producer);
    } else if (selection.expr.valid()) {
        exprs.push_back(selection.expr);
    }
    return exprs;
}

bool InspectorContext::hidesAny() const { return std::find(m_hidden.begin(), m_hidden.end(), true) != m_hidden.end(); }

void InspectorContext::focusCone(bool upstream, bool downstream, int depth) {
    Focus focus;
    focus.kind = Focus::Kind::Cone;
    focus.upstream = upstream;
    focus.downstream = downstream;
    focus.depth = depth;
    // A cone that is there keeps its middle; what is selected in it may be anything by now.
    focus.seeds = m_focus.kind == Focus::Kind::Cone ? m_focus.seeds : exprsOf(m_selection);
    if (!focus.seeds.empty() && (upstream || downstream)) setFocus(std::move(focus));
}

void InspectorContext::focusConeOfSelection(bool upstream, bool downstream) {
    Focus focus;
    focus.kind = Focus::Kind::Cone;
    focus.upstream = upstream;
    focus.downstream = downstream;
    focus.seeds = exprsOf(m_selection);
    if (!focus.seeds.empty() && (upstream || downstream)) setFocus(std::move(focus));
}

bool InspectorContext::focusPaths() {
    if (m_selectedNodes.size() < 2) return false;
    Focus focus;
    focus.kind = Focus::Kind::Paths;
    focus.seeds = {graph().node(m_selectedNodes.front()).producer};
    for (std::size_t i = 1; i < m_selectedNodes.size(); ++i)
        focus.targets.push_back(graph().node(m_selectedNodes[i]).producer);
    if (analysis::between(graph(), focus.seeds, focus.targets).empty()) {
        report(Message{base::Severity::Info, tr("No data flows between the selected nodes"), {}, {}, {}});
        return false;
    }
    setFocus(std::move(focus));
    return true;
}

void InspectorContext::isolateSelection() {
    Focus focus;
    focus.kind = Focus::Kind::Only;
    focus.seeds = exprsOf(m_selection);
    if (!focus.seeds.empty()) setFocus(std::move(focus));
}

void InspectorContext::hideSelection() {
    const std::vector<ExprId> exprs = exprsOf(m_selection);
    if (exprs.empty()) return;
    m_hidden.resize(graph().exprCount(), false);
    for (const ExprId id : exprs) m_hidden[id.index()] = true;
    clearSelection();
    applyFocus();
}

void InspectorContext::hideOperator() {
    if (!document() || !m_selection.expr.valid()) return;
    const graph::OpKey op = graph().expr(m_selection.expr).op;
    if (op.name.empty()) return hideSelection();
    m_hidden.resize(graph().exprCount(), false);
    for (std::size_t i = 0; i < graph().exprCount(); ++i) {
        const graph::Expr& expr = graph().expr(ExprId(i));
        if (!graph().isErased(ExprId(i)) && expr.op.name == op.name && expr.op.domain == op.domain) m_hidden[i] = true;
    }
    clearSelection();
    applyFocus();
}

void InspectorContext::showEverything() {
    m_hidden.clear();
    setFocus({});
}

void InspectorContext::setFocus(Focus focus) {
    m_focus = std::move(focus);
    applyFocus();
}

/// By ExprId, whether the focus leaves it in.
std::vector<bool> InspectorContext::focused() {
    std::vector<bool> in(graph().exprCount(), m_focus.kind == Focus::Kind::None);
    const auto take = [&](Flow flow) {
        const auto distance = analysis::distances(graph(), m_focus.seeds, flow);
        for (std::size_t i = 0; i < distance.size(); ++i) {
            if (distance[i] == analysis::kUnreached) continue;
            // Weights are at the end of every way up: they do not make it longer.
            if (!layout::Outline::isConstant(graph().expr(ExprId(i))))
                m_focus.farthest = std::max(m_focus.farthest, static_cast<int>(distance[i]));
            if (m_focus.depth == 0 || distance[i] <= static_cast<std::uint32_t>(m_focus.depth)) in[i] = true;
        }
    };
    m_focus.farthest = 0;
    switch (m_focus.kind) {
        case Focus::Kind::None: break;
        case Focus::Kind::Cone:
            if (m_focus.upstream) take(Flow::Upstream);
            if (m_focus.downstream) take(Flow::Downstream);
            break;
        case Focus::Kind::Paths:
            for (const ExprId id : analysis::between(graph(), m_focus.seeds, m_focus.targets)) in[id.index()] = true;
            break;
        case Focus::Kind::Only:
            for (const ExprId id : m_focus.seeds) in[id.index()] = true;
            break;
    }
    return in;
}

void InspectorContext::applyFocus() {
    if (!document()) return;
    std::vector<bool> filtered = focused();
    filtered.flip();
    for (std::size_t i = 0; i < m_hidden.size() && i < filtered.size(); ++i)
        if (m_hidden[i]) filtered[i] = true;
    // An operation with something inside that is to be seen is seen; a weight goes with its consumers.
    for (std::size_t i = graph().exprCount(); i-- > 0;) {
        const ExprId id(i);
        if (graph().isErased(id)) continue;
        const graph::Expr& expr = graph().expr(id);
        if (!filtered[i] && expr.body != graph().mainId() && graph().body(expr.body).owner.valid())
            for (graph::BodyId body = expr.body; body != graph().mainId();
                 body = graph().expr(graph().body(body).owner).body)
                filtered[graph().body(body).owner.index()] = false;
    }
    for (std::size_t i = 0; i < graph().exprCount(); ++i) {
        const ExprId id(i);
        if (graph().isErased(id) || !layout::Outline::isConstant(graph().expr(id))) continue;
        bool read = false, seen = false;
        for (const NodeId output : graph().expr(id).outputs)
            for (const ExprId user : graph().node(output).users) read = true, seen = seen || !filtered[user.index()];
        if (read) filtered[i] = !seen;
    }
    layout::ViewState view = m_view;
    const bool any = std::find(filtered.begin(), filtered.end(), true) != filtered.end();
    view.filtered = any ? std::make_shared<const std::vector<bool>>(std::move(filtered)) : nullptr;
    Q_EMIT focusChanged();
    changeView(std::move(view));
}

// --- folding --------------------------------------------------------------------------------------------------------

void InspectorContext::setFolds(bool folds) {
    layout::ViewState view = m_view;
    view.foldFrom = folds ? kFoldFrom : 0;
    if (folds) view.unfolded.clear();
    changeView(std::move(view));
}

std::uint32_t InspectorContext::runOf(const Selection& selection) const {
    if (!m_outline) return layout::Outline::kNoRun;
    layout::GroupId at = selection.expr.valid()    ? m_outline->groupOf(selection.expr)
                         : selection.scope.valid() ? m_outline->groupOf(selection.scope)
                                                   : layout::GroupId();
    for (; at.valid(); at = m_outline->group(at).parent)
        if (const std::uint32_t run = m_outline->runOf(at);
            run != layout::Outline::kNoRun && m_outline->runs()[run].instances.size() >= kFoldFrom)
            return run;
    return layout::Outline::kNoRun;
}

void InspectorContext::setRunFolded(std::uint32_t run, bool folded) {
    if (!m_outline || run >= m_outline->runs().size()) return;
    layout::ViewState view = m_view;
    if (folded && view.foldFrom == 0) {
        // Only this one: the others stay as they are.
        view.foldFrom = kFoldFrom;
        for (std::uint32_t i = 0; i < m_outline->runs().size(); ++i) layout::setFolded(*m_outline, view, i, i == run);
    }
    layout::setFolded(*m_outline, view, run, folded);
    changeView(std::move(view));
}

void InspectorContext::showInstance(std::uint32_t run, std::uint32_t instance) {
    if (!m_outline || run >= m_outline->runs().size()) return;
    const std::uint32_t before = layout::shownInstance(*m_outline, m_view, run);
    layout::ViewState view = m_view;
    layout::showInstance(*m_outline, view, run, instance);
    // What is selected goes along: the same place in the other instance.
    Selection selection = m_selection;
    if (selection.node.valid() && before != instance) {
        const std::vector<NodeId> same = m_outline->counterparts(selection.node);
        if (same.size() == m_outline->runs()[run].instances.size()) selection = selectionOf(same[instance]);
    } else if (selection.kind == Selection::Kind::Scope) {
        selection = selectionOf(m_outline->group(m_outline->runs()[run].instances[instance]).scope);
    }
    changeView(std::move(view));
    if (selection != m_selection) select(selection);
}

void InspectorContext::stepInstance(int step) {
    const std::uint32_t run = runOf(m_selection);
    if (run == layout::Outline::kNoRun) return;
    const int count = static_cast<int>(m_outline->runs()[run].instances.size());
    const int shown = static_cast<int>(layout::shownInstance(*m_outline, m_view, run));
    showInstance(run, static_cast<std::uint32_t>(((shown + step) % count + count) % count));
}

// --- bookmarks ------------------------------------------------------------------------------------------------------

bool InspectorContext::isBookmarked(const Selection& selection) const {
    return std::find(m_bookmarks.begin(), m_bookmarks.end(), selection) != m_bookmarks.end();
}

void InspectorContext::toggleBookmark(const Selection& selection) {
    if (selection.isNone()) return;
    if (isBookmarked(selection)) std::erase(m_bookmarks, selection);
    else m_bookmarks.push_back(selection);
    keep();
    Q_EMIT bookmarksChanged();
}

void InspectorContext::goToBookmark(int index) {
    if (index >= 0 && index < static_cast<int>(m_bookmarks.size()))
        navigateTo(Selection(m_bookmarks[static_cast<std::size_t>(index)]));
}

void InspectorContext::goToNextBookmark() {
    if (m_bookmarks.empty()) return;
    const auto at = std::find(m_bookmarks.begin(), m_bookmarks.end(), m_selection);
    const std::size_t next =
        at == m_bookmarks.end() ? 0 : static_cast<std::size_t>(at - m_bookmarks.begin() + 1) % m_bookmarks.size();
    goToBookmark(static_cast<int>(next));
}

// --- colours --------------------------------------------------------------------------------------------------------

void InspectorContext::setColorBy(const QString& column) {
    if (column == m_colorBy) return;
    m_colorBy = column;
    Q_EMIT coloringChanged();
}

void InspectorContext::setEdgeWidths(bool bySize) {
    if (bySize == m_edgeWidths) return;
    m_edgeWidths = bySize;
    Q_EMIT coloringChanged();
}

}  // namespace sonde::context
