// How a canvas comes to its picture: what it is told of the model, the layout that it asks for, and the next scene.

#include <QApplication>
#include <QVariantAnimation>

#include "ui/canvas/canvas_accessible.h"
#include "ui/canvas/canvas_interaction.h"
#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/card_labels.h"
#include "ui/canvas/export.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/layout_service.h"
#include "ui/context/comparison.h"
#include "ui/context/count_text.h"
#include "ui/context/problems.h"
#include "ui/context/value_measures.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::SceneLayout;
using theme::Theme;

struct GraphCanvas::Composed {
    std::shared_ptr<const SceneIndex> index;
    std::shared_ptr<const graph::InternalGraph> graph;
    CanvasStyle style;
    std::optional<base::Error> error;
};

GraphCanvas::GraphCanvas(context::InspectorContext& context, QWidget* parent, int number)
    : QWidget(parent), m_context(context), m_number(number),
      m_measure(std::make_shared<TextMeasure>(Theme::instance().textScale())),
      m_measures(context.model(), context.runs(), context.valueMeasures(), context.comparison()),
      m_interaction(std::make_unique<CanvasInteraction>(*this, context)) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(number == 0 ? tr("Graph") : tr("Graph, second canvas"));
    installCanvasAccessibility();
    m_overlays = new CanvasOverlays(*this, context.model(), context.navigation());
    connect(m_overlays, &CanvasOverlays::roomChanged, this, &GraphCanvas::placeAgain);

    m_noticeTimer.setSingleShot(true);
    m_noticeTimer.setInterval(1000);
    connect(&m_noticeTimer, &QTimer::timeout, this, [this] {
        m_noticeShown = true;
        update();
    });
    m_idleTimer.setSingleShot(true);
    m_idleTimer.setInterval(30);
    connect(&m_idleTimer, &QTimer::timeout, this, [this] {
        if (!m_painter || !m_tilesComplete || m_interaction->isDragging()) return;
        const auto render = [this](QPainter& p, const QRectF& area, double scale) {
            m_painter->paint(p, m_marks, area, scale);
        };
        if (m_tiles.prepareAround(m_camera, size(), devicePixelRatioF(), style().color(theme::ColorRole::Canvas),
                                  render))
            m_idleTimer.start();
    });
    m_keepInView.setSingleShot(true);
    m_keepInView.setInterval(60);
    connect(&m_keepInView, &QTimer::timeout, this, [this] {
        const ItemId current = currentItem();
        if (!current) return;
        bringIntoView(toQt(scene()->item(current).rect));
        m_tilesComplete = false;
        Q_EMIT cameraChanged();
        update();
    });
    connectContext();
    followPlace();
    connect(&Theme::instance(), &Theme::changed, this, &GraphCanvas::restyle);
    if (m_context.model().isOpen()) begin();
}

GraphCanvas::~GraphCanvas() {
    m_layoutJob.abandon();
    m_previewJob.abandon();
}

void GraphCanvas::connectContext() {
    connect(&m_context.model(), &context::OpenModel::documentLeft, this, [this] {
        keepPlace();
        clearScene();
    });
    connect(&m_context.model(), &context::OpenModel::documentOpened, this, &GraphCanvas::begin);
    connect(&m_context.model(), &context::OpenModel::documentClosed, this, [this] {
        m_keptPlace.reset();
        recolor();
        m_overlays->refresh();
        update();
    });
    connect(&m_context.navigation(), &context::Navigation::bookmarksChanged, this, &GraphCanvas::refreshMarks);
    connect(&m_context.settings(), &context::Settings::coloringChanged, this, [this] {
        recolor();
        restyle();
    });
    connect(&state(), &context::CanvasState::viewChanged, this, &GraphCanvas::requestLayout);
    connect(&m_context.canvases(), &context::Canvases::activeCanvasChanged, this, [this] {
        m_overlays->refreshPath();
        update();
    });
    connect(&m_context.settings(), &context::Settings::labelsChanged, this, [this] {
        m_labels = makeCardLabels(m_context.settings().labelRules(), &m_context);
        requestLayout();
    });
    connect(&m_context.points(), &context::Points::watchChanged, this, [this] {
        refreshMarks();
        refreshPreviews();
        requestLayout();  // a watched node's card has room for its value
    });
    connect(&m_context.points(), &context::Points::endChanged, this, &GraphCanvas::refreshMarks);
    connect(&m_context.navigation(), &context::Navigation::searchHitsChanged, this, &GraphCanvas::refreshMarks);
    for (const auto signal : {&context::Runs::runStarted, &context::Runs::runProgressed})
        connect(&m_context.runs(), signal, this, &GraphCanvas::refreshMarks);
    connect(&m_context.model(), &context::OpenModel::typesChanged, this, &GraphCanvas::restyle);
    connect(&m_context.runs(), &context::Runs::runFinished, this, [this] {
        refreshMarks();
        refreshPreviews();
        relabel();
        if (!m_marks.coloring) return;
        recolor();
        restyle();
    });
    const auto measured = [this] {
        refreshMarks();
        relabel();
        if (!m_marks.coloring) return;
        recolor();
        restyle();
    };
    connect(&m_context.valueMeasures(), &context::ValueMeasures::changed, this, measured);
    connect(&m_context.comparison(), &context::Comparison::changed, this, measured);
    connect(&m_context.problems(), &context::Problems::changed, this, &GraphCanvas::refreshMarks);
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, &GraphCanvas::refreshPreviews);
    connect(&m_context.runs(), &context::Runs::valueArrived, this, &GraphCanvas::refreshPreviews);
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this,
            [this](const context::Selection& selection) {
                const ItemId item = itemOf(selection);
                // A stub that was clicked keeps the keyboard's place although its value is made elsewhere.
                const ItemId current = currentItem();
                const bool stays = current && selectionOf(current) == selection;
                if (!stays) setCurrent(item);
                announce();
                m_overlays->refreshPath();
                update();
            });
    connect(&m_context.navigation(), &context::Navigation::revealRequested, this,
            [this](const context::Selection& selection) {
                if (m_context.canvases().activeNumber() != m_number) return;
                if (m_layoutJob.isActive()) m_wantedView = selection;
                else ensureVisible(selection);
            });
}

/// With the document that is there now.
void GraphCanvas::begin() {
    findUntraced();
    findPassMarks();
    m_labels = makeCardLabels(m_context.settings().labelRules(), &m_context);
    recolor();
    requestLayout();
}

void GraphCanvas::clearScene() {
    m_layoutJob.abandon();
    m_previewJob.abandon();
    ++m_layoutNumber;
    context::freeLater(std::move(m_painter));
    m_transition.reset();
    if (m_flight) m_flight->stop();
    m_marks.flags.clear();
    m_marks.previews.reset();
    m_current.reset();
    m_interaction->forgetHover();
    m_wantedAnchor.reset();
    m_beforePartial.reset();
    m_wantedView.reset();
    m_refits = false;
    m_moduleOutputs.clear();
    m_marks.moduleValues.clear();
    m_toldNotes.clear();
    m_firstLayout = true;
    m_noticeTimer.stop();
    m_noticeShown = false;
    m_tiles.invalidate(false);
    m_overlays->refresh();
    Q_EMIT sceneChanged();
    update();
}

/// The colours of the column that the user chose; none if they are those of the categories.
void GraphCanvas::recolor() {
    m_measures.reset();
    m_marks.coloring.reset();
    if (m_context.model().isOpen() && m_context.settings().colorBy() != QLatin1String("category"))
        m_marks.coloring =
            std::make_shared<const Coloring>(m_measures, m_context.settings().colorBy(), Theme::instance().scheme());
}

void GraphCanvas::requestLayout() {
    if (!m_context.model().isOpen() || !m_context.model().outline()) return;
    const std::uint64_t number = ++m_layoutNumber;
    m_beforePartial.reset();
    const CanvasStyle drawn = style();
    const std::shared_ptr<const layout::Outline> outline = m_context.model().outline();
    const std::shared_ptr<const graph::InternalGraph> graph = outline->sharedGraph();
    layout::SceneOptions options;
    options.metrics =
        itemMetrics(graph, drawn, m_measure, {m_context.points().watched().begin(), m_context.points().watched().end()},
                    watchedModules());
    const QPointer<GraphCanvas> self(this);
    options.onPartial = [self, number, graph, drawn](std::shared_ptr<const SceneLayout> scene) {
        auto index = std::make_shared<const SceneIndex>(std::move(scene));
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [self, number, graph, drawn, index] {
                if (self && self->m_layoutNumber == number) self->takeScene({index, graph, drawn, {}}, false);
            },
            Qt::QueuedConnection);
    };
    if (!m_noticeTimer.isActive() && !m_noticeShown) m_noticeTimer.start();
    m_layoutJob.start(
        [outline, graph, drawn, view = state().view(), options](const base::WorkContext& work) -> Composed {
            auto scene = layOut(*outline, view, options, work);
            if (!scene) return {nullptr, graph, drawn, std::move(scene).error()};
            return {std::make_shared<const SceneIndex>(std::move(scene).value()), graph, drawn, {}};
        },
        [this](Composed composed) { takeScene(std::move(composed), true); });
}

void GraphCanvas::takeScene(Composed composed, bool final) {
    if (final) {
        m_noticeTimer.stop();
        m_noticeShown = false;
    }
    if (!composed.index) {
        if (composed.error && composed.error->kind != base::ErrorKind::Cancelled)
            m_context.messages().report(*composed.error);
        update();
        return;
    }
    const std::optional<Anchor> anchor = m_wantedAnchor ? m_wantedAnchor : chooseAnchor(&composed.index->scene());
    const std::shared_ptr<ScenePainter> before = m_painter;
    const Camera cameraBefore = m_camera;
    const bool fitted = m_home && m_home->fitted && m_home->camera == (m_flight ? m_flightTarget : m_camera);
    // Drawn with what is known by now; measured was what the file says, so that nothing moves because of a run.
    const bool isShown = m_context.model().isOpen() && m_context.model().document()->graph == composed.graph;
    const auto graph = isShown ? m_context.model().sharedGraph() : composed.graph;
    m_painter = std::make_shared<ScenePainter>(composed.index, graph, m_measure, composed.style);
    m_interaction->forgetHover();
    m_marks.flags = computeFlags();
    followSelectionInside();
    m_overlays->refresh();
    if (m_firstLayout || !before) {
        placeNew();
    } else if (anchor) {
        if (const ItemId item = findAnchor(*anchor))
            putAt(item, anchor->corner - QPointF(width(), height()) / 2.0, m_camera.scale);
    }
    if (fitted && before && !m_firstLayout && !m_wantedAnchor && !m_wantedView) fitWhatOpened(before->index().scene());
    if (before && !m_firstLayout) keepPicture({before->sharedIndex(), cameraBefore}, final);
    m_tiles.invalidate(false);
    m_tilesComplete = false;
    if (before && !m_firstLayout && final) startTransition(before, cameraBefore);
    if (before && !m_transition) context::freeLater(before);
    if (final) {
        m_firstLayout = false;
        m_keptPlace.reset();
        m_shownLocation = m_context.loader().location();
        m_wantedAnchor.reset();
        m_refits = false;
        for (const std::string& note : composed.index->scene().notes)
            if (m_toldNotes.insert(note).second)
                m_context.messages().report(
                    context::Message{base::Severity::Info, QString::fromStdString(note), {}, {}, {}});
    }
    Q_EMIT sceneChanged();
    Q_EMIT cameraChanged();
    if (final && m_wantedView) ensureVisible(*std::exchange(m_wantedView, std::nullopt));
    update();
    if (final) Q_EMIT layoutFinished();
}

/// What stood for the selected node may be open now, or what showed it closed.
void GraphCanvas::followSelectionInside() {
    const context::Selection& selection = m_context.navigation().selection();
    if (selection.isNone()) return;
    const ItemId current = currentItem();
    if (current && (selectionOf(current) == selection || !scene()->item(current).what.open)) return;
    if (const ItemId item = itemOf(selection)) setCurrent(item);
}

/// Cards that say what a run gave say something else now.
void GraphCanvas::relabel() {
    if (!m_labels || m_labels->facts.empty()) return;
    m_labels = makeCardLabels(m_context.settings().labelRules(), &m_context);
    requestLayout();
}

void GraphCanvas::restyle() {
    const double textScale = Theme::instance().textScale();
    const bool resized = !m_painter || m_painter->items().style().textScale != textScale;
    if (resized) m_measure = std::make_shared<TextMeasure>(textScale);
    if (m_marks.coloring) recolor();  // colours are those of the scheme
    if (m_painter)
        m_painter = std::make_shared<ScenePainter>(m_painter->sharedIndex(), m_context.model().sharedGraph(), m_measure,
                                                   style());
    m_tiles.invalidate(false);
    m_tilesComplete = false;
    if (resized) requestLayout();
    refreshPreviews();
    m_overlays->refresh();
    update();
}

void GraphCanvas::takeOver(const GraphCanvas& other) {
    m_overlays->setOverviewVisible(other.overviewVisible());
    m_overlays->setLegendVisible(other.legendVisible());
    m_interaction->setWheelZooms(other.wheelZooms());
    if (!other.m_painter) return requestLayout();
    m_layoutJob.abandon();
    ++m_layoutNumber;
    m_transition.reset();
    if (m_flight) m_flight->stop();
    m_interaction->forgetHover();  // of the picture that goes
    m_wantedAnchor.reset();
    m_painter = other.m_painter;
    m_measure = other.m_measure;
    m_marks = other.m_marks;
    m_untraced = other.m_untraced;
    m_passFlags = other.m_passFlags;
    m_current = other.m_current;
    m_shownLocation = other.m_shownLocation;
    m_firstLayout = false;
    m_noticeTimer.stop();
    m_noticeShown = false;
    m_camera = other.m_camera;
    m_home = other.m_home;
    m_tiles.invalidate(false);
    m_tilesComplete = false;
    m_overlays->refresh();
    Q_EMIT sceneChanged();
    Q_EMIT cameraChanged();
    update();
    if (other.m_layoutJob.isActive()) requestLayout();  // its picture is of the view that it had before
}

void GraphCanvas::setBeside(bool beside) {
    m_beside = beside;
    m_overlays->setClosable(beside);
    update();
}

}  // namespace sonde::canvas
