// The part of CanvasState that leaves operations out of the graph view.

#include <algorithm>
#include <utility>

#include "core/analysis/reach.h"
#include "ui/context/canvas_state.h"
#include "ui/context/messages.h"

namespace sonde::context {

using analysis::Flow;

bool CanvasState::hidesAny() const { return std::find(m_hidden.begin(), m_hidden.end(), true) != m_hidden.end(); }

void CanvasState::focusCone(bool upstream, bool downstream, int depth) {
    Focus focus;
    focus.kind = Focus::Kind::Cone;
    focus.upstream = upstream;
    focus.downstream = downstream;
    focus.depth = depth;
    // A cone that is there keeps its middle; what is selected in it may be anything by now.
    focus.seeds = m_focus.kind == Focus::Kind::Cone ? m_focus.seeds : m_navigation.exprsOf(m_navigation.selection());
    if (!focus.seeds.empty() && (upstream || downstream)) setFocus(std::move(focus));
}

void CanvasState::focusConeOfSelection(bool upstream, bool downstream) {
    Focus focus;
    focus.kind = Focus::Kind::Cone;
    focus.upstream = upstream;
    focus.downstream = downstream;
    focus.seeds = m_navigation.exprsOf(m_navigation.selection());
    if (!focus.seeds.empty() && (upstream || downstream)) setFocus(std::move(focus));
}

bool CanvasState::focusPaths() {
    if (m_navigation.selectedNodes().size() < 2) return false;
    Focus focus;
    focus.kind = Focus::Kind::Paths;
    focus.seeds = {m_model.graph().node(m_navigation.selectedNodes().front()).producer};
    for (std::size_t i = 1; i < m_navigation.selectedNodes().size(); ++i)
        focus.targets.push_back(m_model.graph().node(m_navigation.selectedNodes()[i]).producer);
    if (analysis::between(m_model.graph(), focus.seeds, focus.targets).empty()) {
        m_messages.report(Message{base::Severity::Info, tr("No data flows between the selected nodes"), {}, {}, {}});
        return false;
    }
    setFocus(std::move(focus));
    return true;
}

void CanvasState::isolateSelection() {
    Focus focus;
    focus.kind = Focus::Kind::Only;
    focus.seeds = m_navigation.exprsOf(m_navigation.selection());
    if (!focus.seeds.empty()) setFocus(std::move(focus));
}

void CanvasState::hideSelection() {
    const std::vector<ExprId> exprs = m_navigation.exprsOf(m_navigation.selection());
    if (exprs.empty()) return;
    m_hidden.resize(m_model.graph().exprCount(), false);
    for (const ExprId id : exprs) m_hidden[id.index()] = true;
    m_navigation.clearSelection();
    applyFocus();
}

void CanvasState::hideOperator() {
    if (!m_model.isOpen() || !m_navigation.selection().expr.valid()) return;
    const graph::OpKey op = m_model.graph().expr(m_navigation.selection().expr).op;
    if (op.name.empty()) return hideSelection();
    m_hidden.resize(m_model.graph().exprCount(), false);
    for (std::size_t i = 0; i < m_model.graph().exprCount(); ++i) {
        const graph::Expr& expr = m_model.graph().expr(ExprId(i));
        if (!m_model.graph().isErased(ExprId(i)) && expr.op.name == op.name && expr.op.domain == op.domain)
            m_hidden[i] = true;
    }
    m_navigation.clearSelection();
    applyFocus();
}

void CanvasState::open(const Selection& selection) {
    // What one is led to is to be seen, whatever was hidden.
    if (selection.expr.valid() && layout::isFiltered(m_view, selection.expr)) showEverything();
    if (!m_model.outline()) return;
    layout::ViewState view = m_view;
    if (selection.expr.valid()) layout::reveal(*m_model.outline(), view, selection.expr);
    else if (selection.scope.valid()) layout::reveal(*m_model.outline(), view, selection.scope);
    changeView(std::move(view));
}

void CanvasState::showEverything() {
    m_hidden.clear();
    setFocus({});
}

void CanvasState::setFocus(Focus focus) {
    m_focus = std::move(focus);
    applyFocus();
}

/// By ExprId, whether the focus leaves it in.
std::vector<bool> CanvasState::focused() {
    std::vector<bool> in(m_model.graph().exprCount(), m_focus.kind == Focus::Kind::None);
    const auto take = [&](Flow flow) {
        const auto distance = analysis::distances(m_model.graph(), m_focus.seeds, flow);
        for (std::size_t i = 0; i < distance.size(); ++i) {
            if (distance[i] == analysis::kUnreached) continue;
            // Weights are at the end of every way up: they do not make it longer.
            if (!layout::Outline::isConstant(m_model.graph().expr(ExprId(i))))
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
            for (const ExprId id : analysis::between(m_model.graph(), m_focus.seeds, m_focus.targets))
                in[id.index()] = true;
            break;
        case Focus::Kind::Only:
            for (const ExprId id : m_focus.seeds) in[id.index()] = true;
            break;
    }
    return in;
}

void CanvasState::applyFocus() {
    if (!m_model.isOpen()) return;
    std::vector<bool> filtered = focused();
    filtered.flip();
    for (std::size_t i = 0; i < m_hidden.size() && i < filtered.size(); ++i)
        if (m_hidden[i]) filtered[i] = true;
    // An operation with something inside that is to be seen is seen; a weight goes with its consumers.
    for (std::size_t i = m_model.graph().exprCount(); i-- > 0;) {
        const ExprId id(i);
        if (m_model.graph().isErased(id)) continue;
        const graph::Expr& expr = m_model.graph().expr(id);
        if (!filtered[i] && expr.body != m_model.graph().mainId() && m_model.graph().body(expr.body).owner.valid())
            for (graph::BodyId body = expr.body; body != m_model.graph().mainId();
                 body = m_model.graph().expr(m_model.graph().body(body).owner).body)
                filtered[m_model.graph().body(body).owner.index()] = false;
    }
    for (std::size_t i = 0; i < m_model.graph().exprCount(); ++i) {
        const ExprId id(i);
        if (m_model.graph().isErased(id) || !layout::Outline::isConstant(m_model.graph().expr(id))) continue;
        bool read = false, seen = false;
        for (const NodeId output : m_model.graph().expr(id).outputs)
            for (const ExprId user : m_model.graph().node(output).users)
                read = true, seen = seen || !filtered[user.index()];
        if (read) filtered[i] = !seen;
    }
    layout::ViewState view = m_view;
    const bool any = std::find(filtered.begin(), filtered.end(), true) != filtered.end();
    view.filtered = any ? std::make_shared<const std::vector<bool>>(std::move(filtered)) : nullptr;
    Q_EMIT focusChanged();
    changeView(std::move(view));
}

}  // namespace sonde::context
