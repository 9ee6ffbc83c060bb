#include "ui/window/window_links.h"

#include <QApplication>
#include <QScopedValueRollback>
#include <QWidget>

#include "core/analysis/match.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/window/window_canvases.h"

namespace sonde::window {

using context::Selection;

WindowLinks::WindowLinks(QWidget& window, context::InspectorContext& context, const WindowCanvases& canvases)
    : QObject(&window), m_context(context), m_canvases(canvases) {
    connect(&context.navigation(), &context::Navigation::selectionChanged, this, &WindowLinks::followSelection);
}

void WindowLinks::setLinked(bool linked) {
    m_isLinked = linked;
    Q_EMIT linkedChanged(linked);
}

/// What is selected here is selected in every linked window: the counterpart in its graph (see analysis::matchNodes),
/// else the module of that name, so that two models can be compared. The second canvas of this window shows it as well.
void WindowLinks::followSelection() {
    const Selection& here = m_context.navigation().selection();
    if (m_isLinked && m_canvases.isSplit())
        m_canvases.at(1 - m_context.canvases().activeNumber())->navigation().ensureVisible(here);
    if (!m_isLinked || m_isFollowing || !m_context.model().isOpen()) return;
    for (const QWidget* widget : QApplication::topLevelWidgets()) {
        auto* other = widget->findChild<WindowLinks*>(QString(), Qt::FindDirectChildrenOnly);
        if (!other || other == this || !other->m_isLinked || !other->m_context.model().isOpen()) continue;
        const QScopedValueRollback guard(other->m_isFollowing, true);
        context::Navigation& there = other->m_context.navigation();
        Selection same;
        if (here.node.valid()) same = there.selectionOf(counterpart(other->m_context.model()));
        if (same.isNone() && !here.qualname.isEmpty()) same = there.selectionOf(here.qualname);
        if (same.kind == Selection::Kind::Module) same = {};
        same.isNone() ? there.clearSelection() : there.navigateTo(same);
    }
}

/// What stands for the selected node in another window's graph. Pairs are found once for two graphs.
graph::NodeId WindowLinks::counterpart(const context::OpenModel& there) {
    const auto& here = m_context.model().document()->graph;
    const auto& other = there.document()->graph;
    if (here == other) return m_context.navigation().selection().node;
    if (m_matched.first.lock() != here || m_matched.second.lock() != other) {
        m_matched = {here, other};
        m_match = analysis::matchNodes(*here, *other);
    }
    return m_match[m_context.navigation().selection().node.index()];
}

}  // namespace sonde::window
