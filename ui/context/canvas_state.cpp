#include "ui/context/canvas_state.h"

#include <algorithm>
#include <utility>

#include "ui/context/remembered.h"

namespace sonde::context {

CanvasState::CanvasState(OpenModel& model, Navigation& navigation, Messages& messages, int number)
    : m_model(model), m_navigation(navigation), m_messages(messages), m_number(number) {}

void CanvasState::reset(std::optional<layout::ViewState> view, const Place& place) {
    m_isFirst = !view;
    m_view = view ? *std::move(view) : layout::ViewState{};
    if (m_isFirst) m_view.foldFrom = kFoldFrom;
    m_place = place;
    m_focus = {};
    m_hidden.clear();
}

void CanvasState::takeOver(const CanvasState& other) {
    m_view = other.m_view;
    m_isFirst = other.m_isFirst;
    m_focus = other.m_focus;
    m_hidden = other.m_hidden;
}

void CanvasState::begin(layout::ViewState view) {
    m_view = std::move(view);
    m_isFirst = false;
}

void CanvasState::keepPlace(const Place& place) {
    if (!m_model.isOpen() || m_place == place) return;
    m_place = place;
    rememberPlace(m_model.document(), m_number, place);
}

bool CanvasState::isExpanded(ScopeId scope) const {
    return scope.valid() && m_model.isOpen() &&
           (scope == m_model.graph().rootScope() || m_view.openScopes.count(scope) > 0);
}

void CanvasState::changeView(layout::ViewState view) {
    if (view == m_view) return;
    m_view = std::move(view);
    m_isFirst = false;
    Q_EMIT viewChanged();
}

void CanvasState::setExpanded(ScopeId scope, bool expanded) {
    if (!m_model.outline() || !scope.valid()) return;
    const layout::GroupId group = m_model.outline()->groupOf(scope);
    if (!group.valid()) return;
    layout::ViewState view = m_view;
    layout::setOpen(*m_model.outline(), view, group, expanded);
    changeView(std::move(view));
}

void CanvasState::setExpanded(ExprId expr, bool expanded) {
    if (!m_model.outline() || !expr.valid()) return;
    const layout::GroupId group = m_model.outline()->operationGroup(expr);
    if (!group.valid()) return;
    layout::ViewState view = m_view;
    layout::setOpen(*m_model.outline(), view, group, expanded);
    changeView(std::move(view));
}

void CanvasState::setExpandedRecursively(ScopeId scope, bool expanded) {
    if (!m_model.outline() || !scope.valid()) return;
    layout::ViewState view = m_view;
    for (std::size_t i = 0; i < m_model.outline()->groupCount(); ++i) {
        const layout::Outline::Group& group = m_model.outline()->group(layout::GroupId(i));
        if (!group.scope.valid() || !m_model.graph().encloses(scope, group.scope)) continue;
        if (group.kind == layout::Outline::Kind::Body) continue;
        layout::setOpen(*m_model.outline(), view, layout::GroupId(i), expanded);
    }
    changeView(std::move(view));
}

void CanvasState::expandToDepth(int depth) {
    if (!m_model.outline()) return;
    layout::ViewState view = m_view;
    layout::openToDepth(*m_model.outline(), view, static_cast<std::size_t>(std::max(0, depth)));
    changeView(std::move(view));
}

void CanvasState::setDirection(layout::Direction direction) {
    layout::ViewState view = m_view;
    view.direction = direction;
    if (view.wrapping == layout::Wrapping::On) view.columnHeight = 0;  // the canvas is not as wide as it is high
    changeView(std::move(view));
}

void CanvasState::setShowsConstants(bool shown) {
    layout::ViewState view = m_view;
    view.hideConstants = !shown;
    changeView(std::move(view));
}

void CanvasState::setFoldsShapes(bool folded) {
    layout::ViewState view = m_view;
    view.foldShapes = folded;
    changeView(std::move(view));
}

// --- folding --------------------------------------------------------------------------------------------------------

void CanvasState::setFolds(bool folds) {
    layout::ViewState view = m_view;
    view.foldFrom = folds ? kFoldFrom : 0;
    if (folds) view.unfolded.clear();
    changeView(std::move(view));
}

std::uint32_t CanvasState::runOf(const Selection& selection) const {
    if (!m_model.outline()) return layout::Outline::kNoRun;
    layout::GroupId at = selection.expr.valid()    ? m_model.outline()->groupOf(selection.expr)
                         : selection.scope.valid() ? m_model.outline()->groupOf(selection.scope)
                                                   : layout::GroupId();
    for (; at.valid(); at = m_model.outline()->group(at).parent)
        if (const std::uint32_t run = m_model.outline()->runOf(at);
            run != layout::Outline::kNoRun && m_model.outline()->runs()[run].instances.size() >= kFoldFrom)
            return run;
    return layout::Outline::kNoRun;
}

void CanvasState::setRunFolded(std::uint32_t run, bool folded) {
    if (!m_model.outline() || run >= m_model.outline()->runs().size()) return;
    layout::ViewState view = m_view;
    if (folded && view.foldFrom == 0) {
        // Only this one: the others stay as they are.
        view.foldFrom = kFoldFrom;
        for (std::uint32_t i = 0; i < m_model.outline()->runs().size(); ++i)
            layout::setFolded(*m_model.outline(), view, i, i == run);
    }
    layout::setFolded(*m_model.outline(), view, run, folded);
    changeView(std::move(view));
}

void CanvasState::showInstance(std::uint32_t run, std::uint32_t instance) {
    if (!m_model.outline() || run >= m_model.outline()->runs().size()) return;
    const std::uint32_t before = layout::shownInstance(*m_model.outline(), m_view, run);
    layout::ViewState view = m_view;
    layout::showInstance(*m_model.outline(), view, run, instance);
    // What is selected goes along: the same place in the other instance.
    Selection selection = m_navigation.selection();
    if (selection.node.valid() && before != instance) {
        const std::vector<NodeId> same = m_model.outline()->counterparts(selection.node);
        if (same.size() == m_model.outline()->runs()[run].instances.size())
            selection = m_navigation.selectionOf(same[instance]);
    } else if (selection.kind == Selection::Kind::Scope) {
        selection = m_navigation.selectionOf(
            m_model.outline()->group(m_model.outline()->runs()[run].instances[instance]).scope);
    }
    changeView(std::move(view));
    if (selection != m_navigation.selection()) m_navigation.select(selection);
}

void CanvasState::stepInstance(int step) {
    const std::uint32_t run = runOf(m_navigation.selection());
    if (run == layout::Outline::kNoRun) return;
    const int count = static_cast<int>(m_model.outline()->runs()[run].instances.size());
    const int shown = static_cast<int>(layout::shownInstance(*m_model.outline(), m_view, run));
    showInstance(run, static_cast<std::uint32_t>(((shown + step) % count + count) % count));
}

}  // namespace sonde::context
