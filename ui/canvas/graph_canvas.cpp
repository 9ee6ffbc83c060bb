#include "ui/canvas/graph_canvas.h"

#include <QApplication>
#include <QVariantAnimation>

#include "ui/canvas/canvas_accessible.h"
#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/card_labels.h"
#include "ui/canvas/export.h"
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
      m_measure(std::make_shared<TextMeasure>(Theme::instance().textScale())), m_measures(context) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(number == 0 ? tr("Graph") : tr("Graph, second canvas"));
    installCanvasAccessibility();
    m_overlays = new CanvasOverlays(*this);

    m_noticeTimer.setSingleShot(true);
    m_noticeTimer.setInterval(1000);
    connect(&m_noticeTimer, &QTimer::timeout, this, [this] {
        m_noticeShown = true;
        update();
    });
    m_idleTimer.setSingleShot(true);
    m_idleTimer.setInterval(30);
    connect(&m_idleTimer, &QTimer::timeout, this, [this] {
        if (!m_painter || !m_tilesComplete || m_drag != Drag::None) return;
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
    if (m_context.hasModel()) begin();
}

GraphCanvas::~GraphCanvas() {
    m_layoutJob.abandon();
    m_previewJob.abandon();
}

void GraphCanvas::connectContext() {
    using Context = context::InspectorContext;
    connect(&m_context, &Context::documentLeft, this, [this] {
        keepPlace();
        clearScene();
    });
    connect(&m_context, &Context::documentOpened, this, &GraphCanvas::begin);
    connect(&m_context, &Context::documentClosed, this, [this] {
        m_keptPlace.reset();
        recolor();
        m_overlays->refresh();
        update();
    });
    connect(&m_context, &Context::bookmarksChanged, this, &GraphCanvas::refreshMarks);
    connect(&m_context, &Context::coloringChanged, this, [this] {
        recolor();
        restyle();
    });
    connect(&m_context, &Context::viewChanged, this, [this] {
        if (m_context.activeCanvas() == m_number) requestLayout();
    });
    connect(&m_context, &Context::activeCanvasChanged, this, [this] {
        m_overlays->refreshPath();
        update();
    });
    connect(&m_context, &Context::labelsChanged, this, [this] {
        m_labels = makeCardLabels(m_context.labelRules(), &m_context);
        requestLayout();
    });
    connect(&m_context, &Context::watchChanged, this, [this] {
        refreshMarks();
        refreshPreviews();
        requestLayout();  // a watched node's card has room for its value
    });
    connect(&m_context, &Context::endChanged, this, &GraphCanvas::refreshMarks);
    connect(&m_context, &Context::searchHitsChanged, this, &GraphCanvas::refreshMarks);
    for (const auto signal : {&Context::runStarted, &Context::runProgressed})
        connect(&m_context, signal, this, &GraphCanvas::refreshMarks);
    connect(&m_context, &Context::typesChanged, this, &GraphCanvas::restyle);
    connect(&m_context, &Context::runFinished, this, [this] {
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
    connect(&m_context, &Context::inputsChanged, this, &GraphCanvas::refreshPreviews);
    connect(&m_context, &Context::valueArrived, this, &GraphCanvas::refreshPreviews);
    connect(&m_context, &Context::selectionChanged, this, [this](const context::Selection& selection) {
        const ItemId item = itemOf(selection);
        // A stub that was clicked keeps the keyboard's place although its value is made elsewhere.
        const ItemId current = currentItem();
        const bool stays = current && selectionOf(current) == selection;
        if (!stays) setCurrent(item);
        announce();
        m_overlays->refreshPath();
        update();
    });
    connect(&m_context, &Context::revealRequested, this, [this](const context::Selection& selection) {
        if (m_context.activeCanvas() != m_number) return;
        if (m_layoutJob.isActive()) m_wantedView = selection;
        else ensureVisible(selection);
    });
}

/// With the document that is there now.
void GraphCanvas::begin() {
    findUntraced();
    findPassMarks();
    m_labels = makeCardLabels(m_context.labelRules(), &m_context);
    recolor();
    requestLayout();
}

CanvasStyle GraphCanvas::style() const {
    return {Theme::instance().scheme(),
            Theme::instance().textScale(),
            m_context.showsNames(),
            m_context.showsAttributes(),
            m_labels,
            m_context.edgeWidths()};
}

std::shared_ptr<const SceneLayout> GraphCanvas::scene() const {
    return m_painter ? m_painter->index().sharedScene() : nullptr;
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
    m_hoverItem = {};
    m_hoverEdge = -1;
    m_wantedAnchor.reset();
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
    if (m_context.hasModel() && m_context.colorBy() != QLatin1String("category"))
        m_marks.coloring =
            std::make_shared<const Coloring>(m_measures, m_context.colorBy(), Theme::instance().scheme());
}

void GraphCanvas::requestLayout() {
    if (!m_context.hasModel() || !m_context.outline()) return;
    const std::uint64_t number = ++m_layoutNumber;
    const CanvasStyle drawn = style();
    const std::shared_ptr<const layout::Outline> outline = m_context.outline();
    const std::shared_ptr<const graph::InternalGraph> graph = outline->sharedGraph();
    layout::SceneOptions options;
    options.metrics = itemMetrics(graph, drawn, m_measure, {m_context.watched().begin(), m_context.watched().end()},
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
        [outline, graph, drawn, view = m_context.view(m_number), options](const base::WorkContext& work) -> Composed {
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
        if (composed.error && composed.error->kind != base::ErrorKind::Cancelled) m_context.report(*composed.error);
        update();
        return;
    }
    const std::optional<Anchor> anchor = m_wantedAnchor ? m_wantedAnchor : chooseAnchor(&composed.index->scene());
    const std::shared_ptr<ScenePainter> before = m_painter;
    const Camera cameraBefore = m_camera;
    const bool fitted = m_home && m_home->fitted && m_home->camera == (m_flight ? m_flightTarget : m_camera);
    // Drawn with what is known by now; measured was what the file says, so that nothing moves because of a run.
    const bool isShown = m_context.hasModel() && m_context.document()->graph == composed.graph;
    const auto graph = isShown ? m_context.sharedGraph() : composed.graph;
    m_painter = std::make_shared<ScenePainter>(composed.index, graph, m_measure, composed.style);
    m_hoverItem = {};
    m_hoverEdge = -1;
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
    m_tiles.invalidate(false);
    m_tilesComplete = false;
    if (before && !m_firstLayout && final) startTransition(before, cameraBefore);
    if (before && !m_transition) context::freeLater(before);
    if (final) {
        m_firstLayout = false;
        m_keptPlace.reset();
        m_shownLocation = m_context.location();
        m_wantedAnchor.reset();
        m_refits = false;
        for (const std::string& note : composed.index->scene().notes)
            if (m_toldNotes.insert(note).second)
                m_context.report(context::Message{base::Severity::Info, QString::fromStdString(note), {}, {}, {}});
    }
    Q_EMIT sceneChanged();
    Q_EMIT cameraChanged();
    if (final && m_wantedView) ensureVisible(*std::exchange(m_wantedView, std::nullopt));
    update();
    if (final) Q_EMIT layoutFinished();
}

/// What stood for the selected node may be open now, or what showed it closed.
void GraphCanvas::followSelectionInside() {
    const context::Selection& selection = m_context.selection();
    if (selection.isNone()) return;
    const ItemId current = currentItem();
    if (current && (selectionOf(current) == selection || !scene()->item(current).what.open)) return;
    if (const ItemId item = itemOf(selection)) setCurrent(item);
}

std::optional<GraphCanvas::Anchor> GraphCanvas::anchorOf(ItemId id) const {
    if (!m_painter || !id) return std::nullopt;
    const layout::SceneItem& item = scene()->item(id);
    Anchor anchor;
    anchor.key = item.key;
    anchor.expr = item.what.expr;
    if (item.what.kind == layout::ItemKind::Module) anchor.scope = item.what.scope;
    anchor.corner = m_camera.toPixel(toQt(item.rect).topLeft(), size());
    anchor.scale = m_camera.scale;
    return anchor;
}

std::optional<GraphCanvas::Anchor> GraphCanvas::chooseAnchor(const SceneLayout* next) const {
    if (!m_painter) return std::nullopt;
    // What is selected is what one looks at, if it is on the screen; else what stands nearest to the middle.
    const QRectF view = m_camera.visible(size());
    const ItemId current = currentItem();
    if (current && view.intersects(toQt(scene()->item(current).rect))) return anchorOf(current);
    // A box that opens grows to both sides of its line, and constants stand where there is room: neither tells where
    // the line of operations goes on, so others come first, as long as there are any.
    const SceneIndex::Found found = m_painter->index().within(view);
    std::vector<bool> read(scene()->items.size(), false);
    for (const std::uint32_t edge : found.edges) read[scene()->edges[edge].to.index()] = true;
    const auto stays = [next](const layout::SceneItem& item) {
        if (!next) return true;
        const ItemId then = item.what.kind == layout::ItemKind::Module ? next->itemOf(item.what.scope)
                            : item.what.expr.valid()                   ? next->itemOf(item.what.expr)
                                                                       : ItemId();
        return then && next->item(then).key == item.key && !next->item(then).what.open;
    };
    ItemId best;
    std::pair<int, double> nearest{3, 0};
    for (const std::uint32_t id : found.items) {
        const layout::SceneItem& item = scene()->items[id];
        if (item.what.open || item.what.kind == layout::ItemKind::Stub) continue;
        const bool aside = item.what.kind != layout::ItemKind::Input && !read[id];
        const QPointF d = toQt(item.rect).center() - view.center();
        const std::pair<int, double> distance{!stays(item) ? 2 : aside ? 1 : 0, QPointF::dotProduct(d, d)};
        if (distance < nearest) {
            nearest = distance;
            best = ItemId(std::size_t{id});
        }
    }
    return anchorOf(best);
}

ItemId GraphCanvas::findAnchor(const Anchor& anchor) const {
    if (const ItemId same = scene()->find(anchor.key)) return same;
    if (anchor.scope.valid())
        if (const ItemId item = scene()->itemOf(anchor.scope)) return item;
    return anchor.expr.valid() ? scene()->itemOf(anchor.expr) : ItemId();
}

/// Cards that say what a run gave say something else now.
void GraphCanvas::relabel() {
    if (!m_labels || m_labels->facts.empty()) return;
    m_labels = makeCardLabels(m_context.labelRules(), &m_context);
    requestLayout();
}

void GraphCanvas::restyle() {
    const double textScale = Theme::instance().textScale();
    const bool resized = !m_painter || m_painter->items().style().textScale != textScale;
    if (resized) m_measure = std::make_shared<TextMeasure>(textScale);
    if (m_marks.coloring) recolor();  // colours are those of the scheme
    if (m_painter)
        m_painter =
            std::make_shared<ScenePainter>(m_painter->sharedIndex(), m_context.sharedGraph(), m_measure, style());
    m_tiles.invalidate(false);
    m_tilesComplete = false;
    if (resized) requestLayout();
    refreshPreviews();
    m_overlays->refresh();
    update();
}

bool GraphCanvas::isIdle() const {
    return !m_layoutJob.isActive() && !m_previewJob.isActive() && !m_transition && !m_flight &&
           !m_keepInView.isActive() && (m_tilesComplete || !m_painter || !isVisible());
}

QRectF GraphCanvas::itemRect(ItemId item) const {
    if (!m_painter || !item) return {};
    const QRectF rect = toQt(scene()->item(item).rect);
    return {m_camera.toPixel(rect.topLeft(), size()), rect.size() * m_camera.scale};
}

QRectF GraphCanvas::rectOf(graph::ExprId expr) const { return m_painter ? itemRect(scene()->itemOf(expr)) : QRectF(); }
QRectF GraphCanvas::rectOf(graph::ScopeId scope) const {
    return m_painter ? itemRect(this->scene()->itemOf(scope)) : QRectF();
}

void GraphCanvas::takeOver(const GraphCanvas& other) {
    m_overlays->setOverviewVisible(other.overviewVisible());
    m_overlays->setLegendVisible(other.legendVisible());
    m_wheelZooms = other.m_wheelZooms;
    if (!other.m_painter) return requestLayout();
    m_layoutJob.abandon();
    ++m_layoutNumber;
    m_transition.reset();
    if (m_flight) m_flight->stop();
    m_hoverItem = {};  // of the picture that goes
    m_hoverEdge = -1;
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

QString GraphCanvas::hiddenText() const {
    if (!m_painter) return {};
    QStringList parts;
    if (const auto n = scene()->filteredExprs) parts << tr("%1 filtered out").arg(context::countText(n));
    if (const auto n = scene()->foldedExprs)
        parts << tr("%1 in %2 repeated blocks").arg(context::countText(n), context::countText(scene()->foldedBlocks));
    if (const auto n = scene()->hiddenExprs) parts << tr("%1 in collapsed modules").arg(context::countText(n));
    if (const auto n = scene()->shapeExprs)
        parts << (n == 1 ? tr("1 shape computation") : tr("%1 shape computations").arg(context::countText(n)));
    if (const auto n = scene()->hiddenConstants)
        parts << (n == 1 ? tr("1 weight or constant") : tr("%1 weights and constants").arg(context::countText(n)));
    return parts.isEmpty() ? QString() : tr("Hidden: ") + parts.join(QStringLiteral(", "));
}

QString GraphCanvas::textTwin() const {
    return m_painter ? sceneAsText(m_painter->items().graph(), *scene()) : QString();
}

GraphCanvas::Snapshot GraphCanvas::snapshot() const {
    if (!m_painter) return {};
    return {m_painter->again(m_painter->items().style()), m_marks, pictureOf(*m_painter)};
}

GraphCanvas::Snapshot GraphCanvas::snapshotForPaper(bool whole) const {
    if (!m_painter) return {};
    CanvasStyle look = m_painter->items().style();
    SceneMarks marks = m_marks;
    if (marks.coloring && look.scheme != theme::Scheme::Light)
        marks.coloring = std::make_shared<const Coloring>(m_measures, m_context.colorBy(), theme::Scheme::Light);
    look.scheme = theme::Scheme::Light;
    const QRectF all = pictureOf(*m_painter);
    return {m_painter->again(look), std::move(marks), whole ? all : m_camera.visible(size()).intersected(all)};
}

QImage GraphCanvas::picture(double scale) const {
    if (!m_painter) return {};
    return sceneImage(*m_painter, m_marks,
                      m_camera.visible(size()).intersected(toQt(scene()->bounds).adjusted(-24, -24, 24, 24)),
                      scale * m_camera.scale);
}

}  // namespace sonde::canvas
