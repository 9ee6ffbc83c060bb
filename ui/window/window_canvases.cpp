#include "ui/window/window_canvases.h"

#include <QEvent>
#include <QSplitter>
#include <QVBoxLayout>

#include <utility>

#include "ui/canvas/graph_canvas.h"
#include "ui/window/focus_bar.h"

namespace sonde::window {

using canvas::GraphCanvas;

namespace {
const QString kStackedSplit = QStringLiteral("stacked");
}

WindowCanvases::WindowCanvases(QWidget& page, context::InspectorContext& context, actions::ActionRegistry& actions)
    : m_context(context), m_actions(actions), m_splitter(new QSplitter(&page)), m_first(add(0)),
      m_focusBar(new FocusBar(context.model(), context.canvases(), m_first->parentWidget())) {
    moveFocusBar();
    auto* column = new QVBoxLayout(&page);
    column->setContentsMargins(0, 0, 0, 0);
    m_splitter->setObjectName(QStringLiteral("canvases"));
    m_splitter->setChildrenCollapsible(false);
    column->addWidget(m_splitter);
    connect(m_splitter, &QSplitter::splitterMoved, this, &WindowCanvases::resized);
    connect(&context.canvases(), &context::Canvases::activeCanvasChanged, this, &WindowCanvases::follow);
    connect(&context.canvases(), &context::Canvases::splitRequested, this, &WindowCanvases::restoreSplit);
    connect(this, &WindowCanvases::changed, this, [this] { m_context.canvases().setSplit(splitText()); });
}

GraphCanvas* WindowCanvases::add(int number) {
    auto* made = new GraphCanvas(m_context, nullptr, number);
    made->setObjectName(number == 0 ? QStringLiteral("canvas") : QStringLiteral("secondCanvas"));
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(made, 1);
    m_splitter->addWidget(page);
    m_actions.addTo(made, actions::Scope::Canvas);
    made->installEventFilter(this);
    connect(made, &GraphCanvas::layoutFinished, this, &WindowCanvases::layoutFinished);
    connect(made, &GraphCanvas::sceneChanged, this, [this, made] {
        if (const auto scene = made->view().scene(); scene && made == active())
            m_focusBar->setLeftOut(scene->filteredExprs);
    });
    connect(
        &made->overlays(), &canvas::CanvasOverlays::closeRequested, this, [this, number] { close(number); },
        Qt::QueuedConnection);
    return made;
}

bool WindowCanvases::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress) Q_EMIT pressed();
    return QObject::eventFilter(watched, event);
}

GraphCanvas* WindowCanvases::active() const {
    return m_second && m_context.canvases().activeNumber() == 1 ? m_second : m_first;
}

std::vector<GraphCanvas*> WindowCanvases::all() const {
    return m_second ? std::vector{m_first, m_second} : std::vector{m_first};
}

bool WindowCanvases::isSplit(Qt::Orientation direction) const {
    return isSplit() && m_splitter->orientation() == direction;
}

bool WindowCanvases::isIdle() const { return m_first->isIdle() && (!m_second || m_second->isIdle()); }

void WindowCanvases::addSecond(Qt::Orientation direction) {
    m_splitter->setOrientation(direction);
    if (m_second) return;
    m_second = add(1);
    m_splitter->setSizes({1000, 1000});
    m_first->setBeside(true);
    m_second->setBeside(true);
}

/// What each shows is there already.
void WindowCanvases::restoreSplit(const QString& text) {
    addSecond(text == kStackedSplit ? Qt::Vertical : Qt::Horizontal);
    m_second->interaction().setWheelZooms(m_first->interaction().wheelZooms());
    m_second->overlays().setOverviewVisible(m_first->overlays().overviewVisible());
    Q_EMIT changed();
}

QString WindowCanvases::splitText() const {
    if (!m_second) return {};
    return orientation() == Qt::Vertical ? kStackedSplit : QStringLiteral("beside");
}

void WindowCanvases::split(Qt::Orientation direction) {
    const bool isNew = !m_second;
    addSecond(direction);
    if (isNew) {
        // With a model both begin with the same view; before one, each comes back as it was left.
        if (m_context.model().isOpen()) {
            m_context.canvases().copyToOther();
            m_second->takeOver(*m_first);
        } else {
            m_second->interaction().setWheelZooms(m_first->interaction().wheelZooms());
            m_second->overlays().setOverviewVisible(m_first->overlays().overviewVisible());
        }
        if (m_context.model().isOpen()) m_second->setFocus();
    }
    Q_EMIT changed();
}

void WindowCanvases::toggleSplit(Qt::Orientation direction) {
    isSplit(direction) ? close(1) : split(direction);
    Q_EMIT changed();
}

void WindowCanvases::close(int number) {
    if (!m_second) return;
    if (number == 0) {
        // The second's view and place become the first's.
        m_context.canvases().setActive(1);
        m_context.canvases().copyToOther();
    }
    m_context.canvases().setActive(0);
    if (number == 0) m_first->takeOver(*m_second);
    GraphCanvas* closed = std::exchange(m_second, nullptr);
    moveFocusBar();
    closed->parentWidget()->hide();
    closed->parentWidget()->deleteLater();
    m_first->setBeside(false);
    m_first->setFocus();
    Q_EMIT changed();
}

void WindowCanvases::focusNext() {
    const bool isThere = active()->hasFocus();
    GraphCanvas* next = isThere && isSplit() ? at(1 - m_context.canvases().activeNumber()) : active();
    next->setFocus(Qt::ShortcutFocusReason);
}

void WindowCanvases::moveFocusBar() {
    auto* column = static_cast<QVBoxLayout*>(active()->parentWidget()->layout());
    if (column->indexOf(m_focusBar) < 0) column->insertWidget(0, m_focusBar);
    m_focusBar->refresh();
}

/// The bar is about the canvas in use.
void WindowCanvases::follow() {
    moveFocusBar();
    if (const auto scene = active()->view().scene()) m_focusBar->setLeftOut(scene->filteredExprs);
    Q_EMIT changed();
}

QByteArray WindowCanvases::state() const { return m_splitter->saveState(); }
Qt::Orientation WindowCanvases::orientation() const { return m_splitter->orientation(); }
void WindowCanvases::restore(const QByteArray& state) { m_splitter->restoreState(state); }

}  // namespace sonde::window
