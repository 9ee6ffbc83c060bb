#include "ui/window/presentation.h"

#include <QAction>
#include <QApplication>
#include <QKeyEvent>
#include <QMainWindow>
#include <QMenuBar>
#include <QResizeEvent>
#include <QStatusBar>
#include <QToolBar>

#include <algorithm>
#include <utility>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/outputs.h"
#include "ui/context/stored.h"
#include "ui/models/node_text.h"
#include "ui/panels/outputs/output_view.h"
#include "ui/panels/outputs/outputs_panel.h"
#include "ui/theme/theme.h"
#include "ui/window/presentation_bar.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

using canvas::Camera;
using canvas::GraphCanvas;
using theme::Theme;
using Tool = PresentationOverlay::Tool;

namespace {

constexpr double kPresentationText = 1.35, kMaxStopScale = 1.7, kPresentedShare = 0.42;
constexpr int kPresentationPollMs = 15;
const QString kPresentedPanel = QStringLiteral("tensor_viewer"), kOutputsPanel = QStringLiteral("outputs");

}  // namespace

/// How the window was.
struct Presentation::Before {
    double textScale = 1, presentedScale = 1;
    bool hasMenuBar = true, hasStatusBar = true;
    QByteArray split;
    std::vector<QPointer<QWidget>> hidden;  ///< pages of the other canvases
    Camera camera;
    bool wasFitted = false;
    layout::ViewState view;
    context::Selection selection;
    std::vector<graph::NodeId> selected;
    QPointer<QWidget> focus;
};

Presentation::Presentation(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions,
                           WindowCanvases& canvases, WindowDocks& docks)
    : m_window(window), m_context(context), m_actions(actions), m_canvases(canvases), m_docks(docks) {
    for (QTimer* timer : {&m_frameSoon, &m_restoring}) timer->setInterval(kPresentationPollMs);
    connect(&m_frameSoon, &QTimer::timeout, this, &Presentation::frame);
    connect(&m_restoring, &QTimer::timeout, this, &Presentation::putCameraBack);
    connect(&context.model(), &context::OpenModel::documentLeft, this, &Presentation::end);
    // The canvas that one presents may go with the model that it is of.
    connect(&canvases, &WindowCanvases::changed, this, [this] {
        if (isOn() && !m_canvas) end();
    });
    actions.bindToggle("present.toggle", this, [this](bool on) { setOn(on); });
    actions.bind("present.next", this, [this] { step(1); });
    actions.bind("present.previous", this, [this] { step(-1); });
    actions.bind("present.first", this, [this] { goToFirst(); });
    actions.bind("present.last", this, [this] { goToLast(); });
    actions.bindToggle("present.spotlight", this, [this](bool on) { setSpotlight(on); });
    actions.bindToggle("present.pointer", this, [this](bool on) { setTool(on ? Tool::Pointer : Tool::None); });
    actions.bindToggle("present.pen", this, [this](bool on) { setTool(on ? Tool::Pen : Tool::None); });
    actions.bind("present.erase", this, [this] { erase(); });
    actions.bindToggle("present.black", this, [this](bool on) { setBlack(on); });
}

Presentation::~Presentation() {
    if (isOn()) Theme::instance().setTextScale(m_before->textScale);
}

PresentationBar* Presentation::bar() const { return m_bar; }

void Presentation::refreshActions() {
    for (const char* id : {"next", "previous", "first", "last", "spotlight", "pointer", "pen", "erase", "black"})
        m_actions.action(QStringLiteral("present.") + QLatin1String(id))->setEnabled(isOn());
    const auto check = [this](const char* id, bool on) { m_actions.action(QLatin1String(id))->setChecked(on); };
    check("present.toggle", isOn());
    check("present.spotlight", isOn() && m_hasSpotlight);
    check("present.pointer", isOn() && m_overlay && m_overlay->tool() == Tool::Pointer);
    check("present.pen", isOn() && m_overlay && m_overlay->tool() == Tool::Pen);
    check("present.black", isOn() && m_overlay && m_overlay->isBlack());
}

// --- begin and end ---------------------------------------------------------------------------------------------------

void Presentation::begin() {
    if (isOn() || !m_context.model().isOpen()) return refreshActions();
    m_restoring.stop();
    m_canvas = m_canvases.active();
    m_before = std::make_unique<Before>();
    m_before->textScale = Theme::instance().textScale();
    m_before->hasMenuBar = !m_window.menuBar()->isHidden();
    m_before->hasStatusBar = !m_window.statusBar()->isHidden();
    m_before->split = m_canvases.state();
    m_before->camera = m_canvas->view().camera();
    m_before->wasFitted = m_canvas->state().place().kind == context::Place::Kind::Fitted;
    m_before->view = m_canvas->state().view();
    m_before->selection = m_context.navigation().selection();
    m_before->selected = m_context.navigation().selectedNodes();
    m_before->focus = m_window.focusWidget();
    m_hasSpotlight = true;
    m_lines.clear();
    showParts();
    const context::Navigation& navigation = m_context.navigation();
    m_following = {
        connect(&navigation, &context::Navigation::selectionChanged, this, &Presentation::followSelection),
        connect(&m_canvas->state(), &context::CanvasState::viewChanged, this, &Presentation::refreshWalk),
        connect(&m_canvas->view(), &canvas::CanvasView::cameraChanged, this, &Presentation::refreshSpotlight),
        connect(m_canvas, &GraphCanvas::sceneChanged, this, &Presentation::refreshSpotlight),
        connect(m_canvas, &GraphCanvas::layoutFinished, &m_frameSoon, qOverload<>(&QTimer::start)),
        connect(&m_context.runs(), &context::Runs::runFinished, this, &Presentation::followRun),
        connect(&m_context.runs(), &context::Runs::valueArrived, this, &Presentation::showStop),
        connect(&context::outputsOf(m_context), &context::Outputs::changed, this, &Presentation::showStop)};
    qApp->installEventFilter(this);
    refreshWalk();
    if (m_stop) showStop();
    else goToFirst();
    m_canvas->setFocus();
    refreshActions();
}

/// One graph, one value, one bar.
void Presentation::showParts() {
    m_docks.showAlone(kPresentedPanel, kPresentedShare);
    for (QToolBar* bar : m_window.findChildren<QToolBar*>(Qt::FindDirectChildrenOnly)) bar->hide();
    m_window.menuBar()->hide();
    m_window.statusBar()->hide();
    for (GraphCanvas* other : m_canvases.all()) {
        if (other == m_canvas) continue;
        m_before->hidden.emplace_back(other->parentWidget());
        other->parentWidget()->hide();
    }
    m_canvas->overlays().setPresenting(true);
    // Larger than anybody chose for work at a desk; not kept for the next session.
    Theme::instance().setTextScale(std::min(3.0, m_before->textScale * kPresentationText));
    m_before->presentedScale = Theme::instance().textScale();
    m_bar = new PresentationBar(m_actions, &m_window);
    m_window.addToolBar(Qt::BottomToolBarArea, m_bar);
    m_overlay = new PresentationOverlay(&m_window);
    connect(m_overlay, &PresentationOverlay::blackDismissed, this, [this] { setBlack(false); });
    connect(m_overlay, &PresentationOverlay::drawn, this, [this] {
        if (m_stop) m_lines[{m_walk[*m_stop].expr, m_walk[*m_stop].scope}] = m_overlay->lines();
    });
    m_overlay->show();
    placeOverlay();
}

void Presentation::end() {
    if (!isOn()) return refreshActions();
    qApp->removeEventFilter(this);
    for (const QMetaObject::Connection& each : std::exchange(m_following, {})) disconnect(each);
    m_frameSoon.stop();
    delete m_overlay;
    if (m_bar) m_window.removeToolBar(m_bar);
    delete m_bar;
    m_walk.clear();
    m_stop.reset();
    const std::unique_ptr<Before> before = std::move(m_before);
    putBack(*before);
    refreshActions();
}

void Presentation::putBack(const Before& before) {
    // If its keys changed it meanwhile, that was for the talk.
    if (Theme::instance().textScale() != before.presentedScale)
        context::store(QStringLiteral("theme/textScale"), before.textScale);
    if (Theme::instance().textScale() != before.textScale) Theme::instance().setTextScale(before.textScale);
    m_window.menuBar()->setVisible(before.hasMenuBar);
    m_window.statusBar()->setVisible(before.hasStatusBar);
    m_docks.setShown(true);
    if (auto* const outputs = qobject_cast<panels::OutputsPanel*>(m_docks.panel(kOutputsPanel)))
        outputs->setLarge(false);
    for (const QPointer<QWidget>& page : before.hidden)
        if (page) page->show();
    if (!before.hidden.empty()) m_canvases.restore(before.split);
    if (m_canvas) m_canvas->overlays().setPresenting(false);
    if (m_canvas && m_context.model().isOpen()) {
        if (m_canvas->state().view() != before.view) m_canvas->state().setView(before.view);
        if (before.selected.empty()) m_context.navigation().select(before.selection);
        else m_context.navigation().selectMany(before.selected);
        m_restored = m_canvas;
        m_cameraBefore = before.camera;
        m_wasFitted = before.wasFitted;
        m_restoring.start();
    }
    if (before.focus && before.focus->isVisible()) before.focus->setFocus();
    else if (m_canvas) m_canvas->setFocus();
    m_canvas.clear();
}

/// The text has its size again, so the graph is laid out as it was; the camera waits for that.
void Presentation::putCameraBack() {
    if (m_restored && !m_restored->isIdle()) return;
    m_restoring.stop();
    if (!m_restored || !m_context.model().isOpen()) return;
    if (m_wasFitted) m_restored->navigation().fit();
    else m_restored->view().setCamera(m_cameraBefore);
    m_restored.clear();
}

// --- the walk --------------------------------------------------------------------------------------------------------

/// Without the branches that the last run has not taken.
std::vector<session::WalkStop> Presentation::walkNow() const {
    return session::flowWalk(*m_context.model().outline(), m_canvas->state().view(),
                             [this](graph::NodeId value) { return m_context.runs().isInOtherBranch(value); });
}

/// The camera stays, unless the run went another way.
void Presentation::followRun() {
    const bool isPresented = isOn() && m_canvas && m_context.model().outline();
    if (isPresented && walkNow() != m_walk) refreshWalk();
    else showStop();
}

void Presentation::refreshWalk() {
    if (!isOn() || !m_canvas || !m_context.model().outline()) return;
    const graph::ScopeId module = m_stop ? m_walk[*m_stop].scope : graph::ScopeId();
    m_walk = walkNow();
    m_stop.reset();
    // The module that was presented was opened: one goes in where its inside begins.
    if (const auto inside = session::stopOf(m_walk, m_context.model().graph(), module);
        inside && m_walk[*inside].scope != module)
        goTo(*inside);
    followSelection();
}

/// What is selected in any way is where the walk goes on from.
void Presentation::followSelection() {
    const context::Selection& selection = m_context.navigation().selection();
    const graph::InternalGraph& graph = m_context.model().graph();
    std::optional<std::size_t> stop;
    if (selection.expr.valid()) stop = session::stopOf(m_walk, graph, selection.expr);
    else if (selection.scope.valid()) stop = session::stopOf(m_walk, graph, selection.scope);
    if (!stop && m_stop && *m_stop < m_walk.size() && selection.isNone()) stop = m_stop;
    if (m_overlay && stop != m_stop)
        m_overlay->setLines(stop ? m_lines[{m_walk[*stop].expr, m_walk[*stop].scope}]
                                 : std::vector<PresentationOverlay::Line>());
    m_stop = stop;
    showStop();
    m_frameSoon.start();
}

void Presentation::step(int by) {
    if (!isOn() || m_walk.empty()) return;
    setBlack(false);
    const auto last = static_cast<std::ptrdiff_t>(m_walk.size()) - 1;
    const std::ptrdiff_t at = m_stop ? static_cast<std::ptrdiff_t>(*m_stop) + by : by > 0 ? 0 : last;
    goTo(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, last)));
}

void Presentation::goToLast() {
    if (!m_walk.empty()) goTo(m_walk.size() - 1);
}

/// Selected without a place in the history: the way back is that of the walk.
void Presentation::goTo(std::size_t stop) {
    if (!isOn() || stop >= m_walk.size()) return;
    setBlack(false);
    const session::WalkStop to = m_walk[stop];
    context::Navigation& navigation = m_context.navigation();
    if (to.expr.valid() && navigation.selectionOf(to.expr).node.valid())
        navigation.selectMany({navigation.selectionOf(to.expr).node});
    else if (to.expr.valid()) navigation.select(to.expr);
    else if (to.value.valid()) navigation.selectMany({to.value});
    else navigation.select(to.scope);
}

void Presentation::showStop() {
    if (!m_bar) return;
    if (!m_stop) m_bar->show(tr("– of %1").arg(m_walk.size()), tr("Nothing of the walk is selected"), {});
    else
        m_bar->show(tr("%1 of %2").arg(*m_stop + 1).arg(m_walk.size()), titleOf(m_walk[*m_stop]),
                    factsOf(m_walk[*m_stop]));
    showPane();
    refreshSpotlight();
}

/// The value of the stop, or what it comes to where it is an output: classes with their names rather than numbers.
void Presentation::showPane() {
    namespace shown = session::outputs;
    const auto& outputs = context::outputsOf(m_context).all();
    const graph::NodeId value = m_stop ? m_walk[*m_stop].value : graph::NodeId();
    const auto output = std::ranges::find_if(outputs, [value](const shown::ShownOutput& each) {
        const bool hasNumbersOnly =
            std::holds_alternative<std::monostate>(each.content) || std::holds_alternative<shown::Table>(each.content);
        return value.valid() && each.node == value && !hasNumbersOnly;
    });
    const bool isOutput = output != outputs.end();
    m_docks.showAlone(isOutput ? kOutputsPanel : kPresentedPanel, kPresentedShare);
    auto* const panel = qobject_cast<panels::OutputsPanel*>(m_docks.panel(kOutputsPanel));
    if (!panel) return;
    panel->setLarge(isOutput);
    if (isOutput) panel->showOutput(output->name);
}

QString Presentation::titleOf(const session::WalkStop& stop) const {
    const graph::InternalGraph& graph = m_context.model().graph();
    if (stop.scope.valid()) return models::qualnameText(QString::fromStdString(graph.scope(stop.scope).qualname));
    const graph::Expr& expr = graph.expr(stop.expr);
    if (expr.kind == graph::ExprKind::Input && stop.value.valid())
        return tr("Input %1").arg(models::shown(graph.node(stop.value).name));
    if (expr.kind == graph::ExprKind::Output) return tr("Output");
    const QString module = expr.qualname && !expr.qualname->empty() ? models::moduleText(expr) : QString();
    return module.isEmpty() ? models::operatorText(expr)
                            : QStringLiteral("%1 — %2").arg(models::operatorText(expr), module);
}

/// "ResNetLayer · float32 1×64×56×56".
QString Presentation::factsOf(const session::WalkStop& stop) const {
    QStringList facts;
    const graph::InternalGraph& graph = m_context.model().graph();
    if (stop.scope.valid() && !graph.scope(stop.scope).moduleClass.empty())
        facts << models::shortClass(graph.scope(stop.scope).moduleClass);
    if (stop.value.valid()) {
        const tensor::Value* const value = m_context.runs().value(stop.value);
        const graph::Node& node = graph.node(stop.value);
        const QString type = models::dtypeText(node, value), shape = models::shapeText(node, value);
        if (const QString text = (type + u' ' + shape).trimmed(); !text.isEmpty()) facts << text;
    }
    return facts.join(QStringLiteral(" · "));
}

// --- what is seen ----------------------------------------------------------------------------------------------------

/// The camera on the stop; waits until it is in the scene.
void Presentation::frame() {
    if (!m_canvas || !m_stop || m_canvas->view().isChanging()) {
        if (!m_canvas || !m_stop) m_frameSoon.stop();
        return;
    }
    m_frameSoon.stop();
    const auto scene = m_canvas->view().scene();
    if (!scene) return;
    const session::WalkStop& stop = m_walk[*m_stop];
    const layout::ItemId item = stop.expr.valid() ? scene->itemOf(stop.expr) : scene->itemOf(stop.scope);
    if (!item) return;
    const QSizeF size = m_canvas->view().size();
    const layout::Rect& box = scene->item(item).rect;
    const QRectF rect(box.x, box.y, box.width, box.height);
    m_canvas->view().flyTo(Camera::fitting(rect, size, 0.14 * std::min(size.width(), size.height()), kMaxStopScale));
    refreshSpotlight();
}

void Presentation::placeOverlay() {
    if (!m_overlay || !m_bar) return;
    m_overlay->setGeometry(m_window.rect());
    m_overlay->setFree(m_bar->geometry());
    m_overlay->raise();
    refreshSpotlight();
}

/// The pane of values grows and shrinks with the window, as the graph does.
void Presentation::keepPaneShare(int widthBefore) {
    if (m_paneShare > 0) return;
    m_paneShare = m_docks.aloneShare(widthBefore);
    QTimer::singleShot(0, this, [this] {
        const double share = std::exchange(m_paneShare, 0);
        if (isOn()) m_docks.setAloneShare(share);
    });
}

void Presentation::refreshSpotlight() {
    if (!m_overlay || !m_canvas) return;
    QRectF spot;
    if (m_hasSpotlight && m_stop) {
        const session::WalkStop& stop = m_walk[*m_stop];
        const canvas::CanvasView& view = m_canvas->view();
        spot = stop.expr.valid() ? view.rectOf(stop.expr) : view.rectOf(stop.scope);
    }
    const QPointF corner = m_canvas->mapTo(&m_window, QPoint());
    m_overlay->setSpotlight(QRectF(corner, QSizeF(m_canvas->size())),
                            spot.isEmpty() ? QRectF() : spot.translated(corner));
}

void Presentation::setSpotlight(bool on) {
    m_hasSpotlight = on;
    refreshSpotlight();
    refreshActions();
}

void Presentation::setTool(Tool tool) {
    if (m_overlay) m_overlay->setTool(tool);
    refreshActions();
}

void Presentation::erase() {
    m_lines.clear();
    if (m_overlay) m_overlay->setLines({});
}

void Presentation::setBlack(bool black) {
    if (m_overlay) m_overlay->setBlack(black);
    refreshActions();
}

/// Escape ends it wherever the keyboard is; on the graph it is a key of the menu (WindowActions).
bool Presentation::eventFilter(QObject* watched, QEvent* event) {
    if (!isOn()) return false;
    if (event->type() == QEvent::Resize && (watched == &m_window || watched == m_bar || watched == m_canvas)) {
        if (watched == &m_window) keepPaneShare(static_cast<const QResizeEvent*>(event)->oldSize().width());
        QTimer::singleShot(0, this, &Presentation::placeOverlay);
        m_frameSoon.start();
    }
    if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return false;
    const auto* const widget = qobject_cast<const QWidget*>(watched);
    if (!widget || widget->window() != &m_window || widget->inherits("QLineEdit")) return false;
    if (m_overlay && m_overlay->isBlack()) setBlack(false);
    else end();
    return true;
}

}  // namespace sonde::window
