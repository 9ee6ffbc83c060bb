#include "ui/window/window_canvases.h"

#include <QEvent>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/second_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/window/focus_bar.h"
#include "ui/window/linked_cameras.h"

namespace sonde::window {

using canvas::GraphCanvas;

namespace {
const QString kStackedSplit = QStringLiteral("stacked");
}

WindowCanvases::WindowCanvases(QWidget& page, context::InspectorContext& context, actions::ActionRegistry& actions)
    : m_context(context), m_actions(actions), m_splitter(new QSplitter(&page)), m_first(add(context, 0)),
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
    connect(&context.second(), &context::SecondModel::opened, this, &WindowCanvases::addCompared);
    connect(&context.second(), &context::SecondModel::closing, this, &WindowCanvases::removeCompared);
    connect(&context.model(), &context::OpenModel::documentOpened, this, &WindowCanvases::refreshTitles);
}

WindowCanvases::~WindowCanvases() = default;

GraphCanvas* WindowCanvases::add(context::InspectorContext& context, int number) {
    const bool isOther = &context != &m_context;
    auto* made = new GraphCanvas(context, nullptr, number);
    made->setObjectName(isOther       ? QStringLiteral("comparedCanvas")
                        : number == 0 ? QStringLiteral("canvas")
                                      : QStringLiteral("secondCanvas"));
    if (isOther) made->setAccessibleName(tr("Graph of the compared model"));
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* title = new widgets::ElidedLabel({}, page);
    title->setObjectName(QStringLiteral("canvasTitle"));
    title->hide();
    auto* heading = new QHBoxLayout;
    heading->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    heading->addWidget(title);
    column->addLayout(heading);
    column->addWidget(made, 1);
    m_splitter->addWidget(page);
    m_actions.addTo(made, actions::Scope::Canvas);
    made->installEventFilter(this);
    connect(made, &GraphCanvas::layoutFinished, this, &WindowCanvases::layoutFinished);
    connect(made, &GraphCanvas::sceneChanged, this, [this, made] {
        if (const auto scene = made->view().scene(); scene && made == activeOwn())
            m_focusBar->setLeftOut(scene->filteredExprs);
    });
    connect(
        &made->overlays(), &canvas::CanvasOverlays::closeRequested, this,
        [this, number, isOther] { isOther ? m_context.second().close() : close(number); }, Qt::QueuedConnection);
    return made;
}

bool WindowCanvases::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress) Q_EMIT pressed();
    if (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::FocusIn)
        setInUse(m_compared && watched == m_compared);
    return QObject::eventFilter(watched, event);
}

GraphCanvas* WindowCanvases::active() const { return m_isComparedInUse && m_compared ? m_compared : activeOwn(); }

GraphCanvas* WindowCanvases::activeOwn() const {
    return m_second && m_context.canvases().activeNumber() == 1 ? m_second : m_first;
}

std::vector<GraphCanvas*> WindowCanvases::all() const {
    std::vector<GraphCanvas*> all{m_first};
    if (m_second) all.push_back(m_second);
    if (m_compared) all.push_back(m_compared);
    return all;
}

bool WindowCanvases::isSplit(Qt::Orientation direction) const {
    return isSplit() && m_splitter->orientation() == direction;
}

bool WindowCanvases::isIdle() const {
    const std::vector<GraphCanvas*> shown = all();
    return std::ranges::all_of(shown, &GraphCanvas::isIdle);
}

void WindowCanvases::addSecond(Qt::Orientation direction) {
    m_splitter->setOrientation(direction);
    if (m_second) return;
    m_second = add(m_context, 1);
    if (m_compared) m_splitter->insertWidget(1, m_second->parentWidget());
    m_splitter->setSizes(QList<int>(m_splitter->count(), 1000));
    refreshBeside();
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
    refreshBeside();
    m_first->setFocus();
    Q_EMIT changed();
}

// --- another model ---------------------------------------------------------------------------------------------------

/// Where the second canvas would be: there is room for two.
void WindowCanvases::addCompared() {
    if (m_compared || !m_context.second().context()) return;
    if (m_second) close(1);
    m_first->placement().roomIsShared();
    m_splitter->setOrientation(Qt::Horizontal);
    m_compared = add(*m_context.second().context(), 0);
    m_compared->interaction().setWheelZooms(m_first->interaction().wheelZooms());
    m_compared->overlays().setOverviewVisible(m_first->overlays().overviewVisible());
    m_compared->overlays().setLegendVisible(m_first->overlays().legendVisible());
    m_splitter->setSizes(QList<int>(m_splitter->count(), 1000));
    connect(&m_context.second().context()->model(), &context::OpenModel::documentOpened, m_compared,
            [this] { refreshTitles(); });
    m_cameras = std::make_unique<LinkedCameras>(m_context, *m_first, *m_compared);
    refreshBeside();
    refreshTitles();
    Q_EMIT changed();
}

void WindowCanvases::removeCompared() {
    if (!m_compared) return;
    m_cameras.reset();
    m_isComparedInUse = false;
    m_first->placement().roomIsShared();
    // Now: its context goes.
    delete std::exchange(m_compared, nullptr)->parentWidget();
    refreshBeside();
    refreshTitles();
    m_first->setInUse(true);
    m_first->setFocus();
    Q_EMIT changed();
}

void WindowCanvases::setInUse(bool isCompared) {
    if (std::exchange(m_isComparedInUse, isCompared) == isCompared || !m_compared) return;
    for (GraphCanvas* canvas : all()) canvas->setInUse((canvas == m_compared) == isCompared);
    Q_EMIT changed();
}

/// The only canvas has no button that closes it; nor has that of the window's own model beside another model's.
void WindowCanvases::refreshBeside() {
    const std::vector<GraphCanvas*> shown = all();
    for (GraphCanvas* canvas : shown) canvas->setBeside(shown.size() > 1);
    if (m_compared && !m_second) m_first->overlays().setClosable(false);
    for (GraphCanvas* canvas : shown) canvas->setInUse(!m_compared || (canvas == m_compared) == m_isComparedInUse);
}

/// Which model is where.
void WindowCanvases::refreshTitles() {
    const auto show = [this](GraphCanvas* canvas, const context::InspectorContext& context, const QString& text) {
        auto* title = canvas->parentWidget()->findChild<widgets::ElidedLabel*>(QStringLiteral("canvasTitle"));
        title->setVisible(m_compared != nullptr);
        if (!m_compared || !context.model().isOpen()) return;
        const document::Document& document = *context.model().document();
        title->setText(text.arg(QString::fromStdString(document.title)));
        title->setToolTip(QString::fromStdString(document.location));
    };
    show(m_first, m_context, tr("First: %1"));
    if (m_compared) show(m_compared, *m_context.second().context(), tr("Second: %1"));
}

void WindowCanvases::focusNext() {
    const bool isThere = active()->hasFocus();
    GraphCanvas* next = active();
    if (isThere) {
        const std::vector<GraphCanvas*> shown = all();
        const auto now = std::ranges::find(shown, next);
        next = now == shown.end() || now + 1 == shown.end() ? shown.front() : *(now + 1);
    }
    next->setFocus(Qt::ShortcutFocusReason);
}

void WindowCanvases::moveFocusBar() {
    auto* column = static_cast<QVBoxLayout*>(activeOwn()->parentWidget()->layout());
    if (column->indexOf(m_focusBar) < 0) column->insertWidget(0, m_focusBar);
    m_focusBar->refresh();
}

/// The bar is about the canvas in use.
void WindowCanvases::follow() {
    moveFocusBar();
    if (const auto scene = activeOwn()->view().scene()) m_focusBar->setLeftOut(scene->filteredExprs);
    Q_EMIT changed();
}

QByteArray WindowCanvases::state() const { return m_splitter->saveState(); }
Qt::Orientation WindowCanvases::orientation() const { return m_splitter->orientation(); }
void WindowCanvases::restore(const QByteArray& state) { m_splitter->restoreState(state); }

}  // namespace sonde::window
