#include "ui/canvas/graph_canvas.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QResizeEvent>

#include <utility>

#include "ui/canvas/canvas_accessible.h"
#include "ui/canvas/export.h"
#include "ui/canvas/paging.h"
#include "ui/context/background.h"
#include "ui/context/precision.h"
#include "ui/context/profile.h"
#include "ui/context/weights.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using theme::ColorRole;
using theme::Theme;

namespace {

QAccessibleInterface* accessibleOf(const QString&, QObject* object) {
    auto* canvas = qobject_cast<GraphCanvas*>(object);
    return canvas ? makeAccessibleCanvas(*canvas, canvas->view(), canvas->text(), canvas->navigation()) : nullptr;
}

void installAccessibility() {
    static const bool isInstalled = (QAccessible::installFactory(accessibleOf), true);
    Q_UNUSED(isInstalled);
}

}  // namespace

GraphCanvas::GraphCanvas(context::InspectorContext& context, QWidget* parent, int number)
    : QWidget(parent), m_context(context), m_number(number), m_view(*this), m_marks(m_view, context),
      m_text(m_view, m_marks, context.model()), m_layouts(state(), m_marks, context),
      m_overlays(*this, m_view, m_marks, m_text, context, number), m_placement(m_view, m_overlays, state(), context),
      m_navigation(m_view, m_placement, context, number),
      m_interaction({*this, m_view, m_marks, m_navigation, m_overlays, state(), context}),
      m_renderer(*this, m_view, m_marks, m_interaction, context) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(number == 0 ? tr("Graph") : tr("Graph, second canvas"));
    installAccessibility();
    m_beginning.setSingleShot(true);
    m_beginning.setInterval(0);
    connect(&m_beginning, &QTimer::timeout, this, qOverload<>(&GraphCanvas::requestLayout));
    connectParts();
    connectContext();
    connectNavigation();
    connect(&Theme::instance(), &Theme::changed, this, &GraphCanvas::restyle);
    if (m_context.model().isOpen()) begin();
}

GraphCanvas::~GraphCanvas() = default;

void GraphCanvas::connectParts() {
    connect(&m_layouts, &LayoutRequests::arrived, this, &GraphCanvas::takeScene);
    connect(&m_layouts, &LayoutRequests::failed, this, qOverload<>(&QWidget::update));
    connect(&m_layouts, &LayoutRequests::becameLate, this, qOverload<>(&QWidget::update));
    connect(&m_marks, &CanvasMarks::changed, &m_overlays, &CanvasOverlays::refreshLegend);
    connect(&m_overlays, &CanvasOverlays::itemChosen, &m_navigation, &CanvasNavigation::goTo);
    connect(&m_navigation, &CanvasNavigation::itemSelected, this, [this] { announceCurrent(*this, m_view, m_text); });
    connect(&m_placement, &ScenePlacement::fitAsked, this, &GraphCanvas::layOutFitted);
    connect(&m_placement, &ScenePlacement::fitAsked, this, &GraphCanvas::tellWholeView);
    connect(&m_overlays, &CanvasOverlays::roomChanged, this, &GraphCanvas::tellWholeView);
    connect(this, &GraphCanvas::layoutFinished, &m_placement, &ScenePlacement::rememberSoon);
}

void GraphCanvas::connectContext() {
    connect(&m_context.model(), &context::OpenModel::documentLeft, this, [this] {
        m_placement.keepForReload();
        clearScene();
    });
    connect(&m_context.model(), &context::OpenModel::documentOpened, this, &GraphCanvas::begin);
    connect(&m_context.model(), &context::OpenModel::documentClosed, this, [this] {
        m_placement.forgetReload();
        m_marks.recolor();
        m_overlays.refresh();
        update();
    });
    connect(&m_context.model(), &context::OpenModel::typesChanged, this, &GraphCanvas::restyle);
    connect(&m_context.settings(), &context::Settings::coloringChanged, this, [this] {
        m_marks.recolor();
        restyle();
    });
    connect(&m_context.settings(), &context::Settings::labelsChanged, this, [this] {
        m_layouts.rebuildLabels();
        requestLayout();
    });
    connect(&state(), &context::CanvasState::viewChanged, this, &GraphCanvas::layOutChanged);
    // A watched node's card has room for its value.
    connect(&m_context.points(), &context::Points::watchChanged, this, qOverload<>(&GraphCanvas::requestLayout));
    connect(&m_context.runs(), &context::Runs::runFinished, this, &GraphCanvas::valuesChanged);
    connect(&m_context.debugger(), &context::Debugger::changed, this, [this] {
        const graph::NodeId current = m_context.debugger().current();
        if (!current.valid() || current == std::exchange(m_followed, current)) return;
        if (m_context.canvases().activeNumber() == m_number && !m_layouts.isActive()) m_navigation.keepInView(current);
    });
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, [this] {
        if (m_marks.isColoringOutdated() || m_layouts.areLabelsOutdated()) valuesChanged();
    });
    connect(&m_context.valueMeasures(), &context::ValueMeasures::changed, this, &GraphCanvas::valuesChanged);
    connect(&m_context.model(), &context::OpenModel::summaryChanged, this, [this] {
        if (!m_marks.now().coloring) return;
        m_marks.recolor();
        restyle();
    });
    connect(&m_context.comparison(), &context::Comparison::changed, this, &GraphCanvas::valuesChanged);
    connect(&context::weightsOf(m_context), &context::Weights::layersChanged, this, &GraphCanvas::valuesChanged);
    connect(&m_context.precision(), &context::Precision::changed, this, &GraphCanvas::valuesChanged);
    connect(&context::profileOf(m_context), &context::Profile::changed, this, &GraphCanvas::valuesChanged);
}

void GraphCanvas::connectNavigation() {
    connect(&m_context.canvases(), &context::Canvases::activeCanvasChanged, this, [this] {
        m_overlays.refreshPath();
        update();
    });
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this, [this] {
        m_navigation.adoptSelection();
        announceCurrent(*this, m_view, m_text);
        m_overlays.refreshPath();
        update();
    });
    connect(&m_context.navigation(), &context::Navigation::revealRequested, this,
            [this](const context::Selection& selection) {
                if (m_context.canvases().activeNumber() != m_number) return;
                if (m_layouts.isActive()) m_wanted = selection;
                else m_navigation.ensureVisible(selection);
            });
}

/// With the document that is there now.
void GraphCanvas::begin() {
    m_marks.begin();
    m_layouts.rebuildLabels();
    // What is open at first depends on the size that the canvas gets once the panels have come.
    if (state().isFirst()) m_beginning.start();
    else requestLayout();
}

void GraphCanvas::requestLayout() {
    const bool wasFitted = m_placement.isFirst() && state().place().kind == context::Place::Kind::Fitted;
    requestLayout(wasFitted ? columnsOfWhole() : LayoutRequests::Columns::AsTheyAre);
}

void GraphCanvas::requestLayout(LayoutRequests::Columns columns) {
    m_beginning.stop();
    m_shape = {state().view().wrapping, state().view().direction};
    m_placement.layoutRequested();
    m_layouts.request(m_view.size(), columns);
}

/// Those that a picture has stay until it is read with ease without them.
LayoutRequests::Columns GraphCanvas::columnsOfWhole() const {
    return state().view().columnHeight > 0 ? LayoutRequests::Columns::IfEasier : LayoutRequests::Columns::IfNeeded;
}

/// Where something is opened or closed in place, columns stay what they are: nothing else is to move.
void GraphCanvas::layOutChanged() {
    const layout::ViewState& view = state().view();
    const bool isChosen = view.wrapping == layout::Wrapping::Automatic &&
                          m_shape != std::pair(view.wrapping, view.direction) && m_view.painter();
    requestLayout(isChosen                                             ? LayoutRequests::Columns::IfEasier
                  : m_placement.isFitted() && !m_placement.isHolding() ? LayoutRequests::Columns::IfNeeded
                                                                       : LayoutRequests::Columns::AsTheyAre);
}

/// A whole that could not be read may be drawn in columns, and one in columns may do without.
void GraphCanvas::layOutFitted() {
    if (state().view().wrapping != layout::Wrapping::Automatic || !m_view.painter()) return;
    if (m_view.scene()->jumps.empty() && m_placement.fittedScale() >= m_layouts.legibleScale()) return;
    requestLayout(columnsOfWhole());
}

void GraphCanvas::clearScene() {
    m_beginning.stop();
    m_layouts.reset();
    m_renderer.stopTransition();
    m_view.stopFlight();
    std::shared_ptr<ScenePainter> former = m_view.painter();
    m_view.setPainter(nullptr);
    context::freeLater(std::move(former));
    m_marks.clear();
    m_view.setCurrent({});
    m_interaction.forgetHover();
    m_placement.reset();
    m_wanted.reset();
    m_renderer.sceneChanged();
    m_overlays.refresh();
    Q_EMIT sceneChanged();
}

/// Cards and colours may tell something else of values now.
void GraphCanvas::valuesChanged() {
    if (m_layouts.labelsTellOfRuns()) {
        m_layouts.rebuildLabels();
        requestLayout();
    }
    if (!m_marks.now().coloring) return;
    m_marks.recolor();
    restyle();
}

void GraphCanvas::takeScene(const ComposedScene& composed, bool final) {
    const Camera seen = m_view.camera();
    m_view.endFlight();  // it leads to a place in the scene that goes: what is to be seen there stays
    const ScenePlacement::Before before = m_placement.before(composed.index->scene());
    std::shared_ptr<ScenePainter> former = m_view.painter();
    const bool isFirst = m_placement.isFirst() || !former;
    // Drawn with what is known by now; measured was what the file says, so that nothing moves because of a run.
    const bool isShown = m_context.model().isOpen() && m_context.model().document()->graph == composed.graph;
    const auto graph = isShown ? m_context.model().sharedGraph() : composed.graph;
    m_view.setPainter(std::make_shared<ScenePainter>(composed.index, graph, m_layouts.measure(), composed.style));
    m_interaction.forgetHover();
    m_marks.retake();
    m_navigation.followSelectionInside();
    m_overlays.refresh();
    m_placement.place(before, final, !m_wanted);
    tellWholeView();
    m_renderer.sceneChanged();
    const bool moves = final && !isFirst && m_renderer.startTransition(former, seen);
    if (former && !moves) context::freeLater(std::move(former));
    Q_EMIT sceneChanged();
    Q_EMIT m_view.cameraChanged();
    if (!final) return;
    if (m_wanted) m_navigation.ensureVisible(*std::exchange(m_wanted, std::nullopt));
    Q_EMIT layoutFinished();
}

void GraphCanvas::restyle() {
    const std::shared_ptr<ScenePainter> shown = m_view.painter();
    const bool isResized = !shown || shown->items().style().textScale != Theme::instance().textScale();
    if (isResized) m_layouts.remeasure();
    if (m_marks.now().coloring) m_marks.recolor();  // colours are those of the scheme
    if (shown)
        m_view.setPainter(std::make_shared<ScenePainter>(shown->sharedIndex(), m_context.model().sharedGraph(),
                                                         m_layouts.measure(), m_layouts.style()));
    m_renderer.sceneChanged();
    if (isResized) m_placement.isFitted() ? requestLayout(columnsOfWhole()) : requestLayout();
    m_marks.refreshPreviews();
    m_overlays.refresh();
    tellWholeView();
}

/// Names beside boxes at its edge are not to be cut.
void GraphCanvas::tellWholeView() {
    if (!m_view.painter()) return;
    const Camera whole = m_placement.fitted();
    const QRectF seen = whole.visible(m_view.size());
    if (m_view.painter()->setWholeView(seen, whole.scale, m_view.camera().scale)) m_renderer.invalidate({});
}

void GraphCanvas::takeOver(const GraphCanvas& other) {
    m_overlays.setOverviewVisible(other.m_overlays.overviewVisible());
    m_overlays.setLegendVisible(other.m_overlays.legendVisible());
    m_interaction.setWheelZooms(other.m_interaction.wheelZooms());
    if (!other.m_view.painter()) return requestLayout();
    m_layouts.abandon();
    m_layouts.takeOver(other.m_layouts);
    m_renderer.stopTransition();
    m_interaction.forgetHover();  // of the scene that goes
    m_view.takeOver(other.m_view);
    m_marks.takeOver(other.m_marks);
    m_placement.takeOver(other.m_placement);
    tellWholeView();
    m_renderer.sceneChanged();
    m_overlays.refresh();
    Q_EMIT sceneChanged();
    Q_EMIT m_view.cameraChanged();
    if (other.m_layouts.isActive()) requestLayout();  // its scene is of the view that it had before
}

void GraphCanvas::setBeside(bool beside) {
    m_isBeside = beside;
    m_overlays.setClosable(beside);
    update();
}

void GraphCanvas::setInUse(bool isInUse) {
    if (std::exchange(m_isInUse, isInUse) != isInUse) update();
}

bool GraphCanvas::isIdle() const {
    return !m_beginning.isActive() && !m_layouts.isActive() && !m_marks.isActive() && !m_renderer.isChanging() &&
           !m_view.isFlying() && !m_placement.isActive() && m_overlays.isIdle() &&
           (m_renderer.isComplete() || !m_view.painter() || !isVisible());
}

// --- what leaves the canvas ------------------------------------------------------------------------------------------

CanvasSnapshot GraphCanvas::snapshot() const {
    const auto& painter = m_view.painter();
    if (!painter) return {};
    return {painter->again(painter->items().style()),
            m_marks.now(),
            pictureOf(*painter),
            true,
            m_context.model().outline(),
            state().view(),
            m_layouts.options(painter->items().style())};
}

CanvasSnapshot GraphCanvas::snapshotForPaper(bool whole) const {
    const auto& painter = m_view.painter();
    if (!painter) return {};
    CanvasStyle look = painter->items().style();
    SceneMarks marks = m_marks.inScheme(look, theme::Scheme::Light);
    look.scheme = theme::Scheme::Light;
    const QRectF all = pictureOf(*painter);
    return {painter->again(look),
            std::move(marks),
            whole ? all : m_view.visible().intersected(all),
            whole,
            m_context.model().outline(),
            state().view(),
            m_layouts.options(look)};
}

QImage GraphCanvas::picture(double scale) const {
    if (!m_view.painter()) return {};
    const QRectF area = m_view.visible().intersected(toQt(m_view.scene()->bounds).adjusted(-24, -24, 24, 24));
    return sceneImage(*m_view.painter(), m_marks.now(), area, scale * m_view.camera().scale);
}

// --- events ----------------------------------------------------------------------------------------------------------

void GraphCanvas::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    m_renderer.paint(painter, event->region());
    if (m_layouts.isLate()) paintNotice(painter);
    if (m_isBeside && m_isInUse && m_context.canvases().activeNumber() == m_number) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(theme::color(ColorRole::Accent), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void GraphCanvas::paintNotice(QPainter& painter) {
    const QString text =
        m_view.painter() ? tr("Computing layout… the previous one stays visible") : tr("Computing layout…");
    const QFont font = Theme::instance().uiFont();
    painter.setFont(font);
    const QFontMetrics metrics(font);
    QRect notice(width() / 2 - metrics.horizontalAdvance(text) / 2 - 12, 12, metrics.horizontalAdvance(text) + 24,
                 metrics.height() + 12);
    // In a narrow canvas below the path of modules.
    if (const QRect path = m_overlays.pathPlace(); notice.intersects(path)) notice.moveTop(path.bottom() + 8);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme::color(ColorRole::Border));
    painter.setBrush(theme::color(ColorRole::Raised));
    painter.drawRoundedRect(notice, theme::kCornerRadius, theme::kCornerRadius);
    painter.setPen(theme::color(ColorRole::Text));
    painter.drawText(notice, Qt::AlignCenter, text);
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_renderer.cameraMoved();
    m_overlays.arrange();
    const QPoint place = mapTo(window(), QPoint());
    const bool isWindow = window()->size() != std::exchange(m_windowSize, window()->size());
    const QPoint moved = place - std::exchange(m_placeInWindow, place);
    isWindow ? m_placement.windowResized(event->oldSize()) : m_placement.neighboursResized(event->oldSize(), moved);
    tellWholeView();
}

bool GraphCanvas::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !m_view.painter()) return QWidget::event(event);
    m_interaction.showToolTip(static_cast<QHelpEvent*>(event));
    return true;
}

void GraphCanvas::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    m_navigation.activate();
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
    m_navigation.activate();
    m_interaction.press(event);
}

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    if (!m_interaction.key(event)) QWidget::keyPressEvent(event);
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) { m_interaction.move(event); }
void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) { m_interaction.release(event); }
void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) { m_interaction.doubleClick(event); }
void GraphCanvas::wheelEvent(QWheelEvent* event) { m_interaction.wheel(event); }
void GraphCanvas::leaveEvent(QEvent*) { m_interaction.leave(); }
void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) { m_interaction.openMenu(event); }

}  // namespace sonde::canvas
