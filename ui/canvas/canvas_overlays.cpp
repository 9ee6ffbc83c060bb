#include "ui/canvas/canvas_overlays.h"

#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_text.h"
#include "ui/canvas/canvas_view.h"
#include "ui/canvas/legend.h"
#include "ui/canvas/overview_map.h"
#include "ui/canvas/shown_module.h"
#include "ui/models/node_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

namespace {

constexpr int kGap = 10;
constexpr int kPlatePad = 8;
constexpr int kSettledMs = 30;  ///< after the last step of a movement, path and map look for a place beside names

/// Looks like the legend: what it lies over looks covered and not cut off.
class Overlay : public QLabel {
  public:
    using QLabel::QLabel;

  protected:
    void paintEvent(QPaintEvent* event) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(theme::color(theme::ColorRole::Border));
        painter.setBrush(theme::color(theme::ColorRole::Panel));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme::kCornerRadius,
                                theme::kCornerRadius);
        painter.end();
        QLabel::paintEvent(event);
    }
};

QLabel* overlayLabel(QWidget* parent) {
    auto* label = new Overlay(parent);
    label->setContentsMargins(kPlatePad, 4, kPlatePad, 4);
    label->setTextFormat(Qt::RichText);
    label->hide();
    return label;
}

void restyle(QLabel* label) {
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, theme::color(theme::ColorRole::MutedText));
    palette.setColor(QPalette::Link, theme::color(theme::ColorRole::Link));
    label->setPalette(palette);
    label->setFont(theme::Theme::instance().smallFont());
}

/// What the map has to leave free.
struct MapNeighbours {
    const QWidget *path, *close, *legend, *hidden;
};

/// Where the map goes in a canvas of that size. It goes to another corner, or gets smaller, rather than cover nodes,
/// and stays where it is as long as it covers none. A new place is one without lines, too, if there is any. Empty: it
/// would cover some nodes wherever it were; in a small canvas all.
QRect mapPlace(const OverviewMap& map, QSize canvas, const MapNeighbours& beside,
               const std::function<bool(const QRectF&)>& isOverItems,
               const std::function<bool(const QRectF&)>& isOverLines) {
    if (map.isVisible() && map.underMouse() && QRect(QPoint(), canvas).contains(map.geometry()))
        return map.geometry();  // it is used
    std::vector<QRect> places;
    for (const double part : {1.0, 0.6}) {
        const QSize own = map.sizeHint() * part;
        if (canvas.width() <= 4 * own.width() || canvas.height() <= 2 * own.height()) continue;
        const int right = canvas.width() - own.width() - kGap, bottom = canvas.height() - own.height() - kGap;
        const auto below = [](const QWidget* widget) { return widget->isHidden() ? 0 : widget->geometry().bottom(); };
        const bool isPathRight = beside.path->x() > kGap;
        const int belowPath = (isPathRight ? 0 : below(beside.path)) + kGap,
                  belowClose = std::max(below(beside.close), isPathRight ? below(beside.path) : 0) + kGap;
        const int aboveLegend = !beside.legend->isHidden()   ? beside.legend->y() - own.height() - kGap
                                : !beside.hidden->isHidden() ? beside.hidden->y() - own.height() - kGap
                                                             : bottom;
        places.emplace_back(QPoint(right, bottom), own);
        if (aboveLegend > belowPath) places.emplace_back(QPoint(kGap, aboveLegend), own);
        places.emplace_back(QPoint(kGap, belowPath), own);
        places.emplace_back(QPoint(right, belowClose), own);
    }
    const auto around = [](const QRect& place) {
        return QRectF(place).adjusted(-kGap / 2.0, -kGap / 2.0, kGap / 2.0, kGap / 2.0);
    };
    const bool isPlaced = !map.isHidden() && std::ranges::find(places, map.geometry()) != places.end();
    if (isPlaced && !isOverItems(around(map.geometry()))) return map.geometry();
    std::erase_if(places, [&](const QRect& place) { return isOverItems(around(place)); });
    if (places.empty()) return {};
    const auto free = std::ranges::find_if(places, [&](const QRect& place) { return !isOverLines(place); });
    return free == places.end() ? places.front() : *free;
}

}  // namespace

CanvasOverlays::CanvasOverlays(QWidget& canvas, CanvasView& view, const CanvasMarks& marks, const CanvasText& text,
                               context::InspectorContext& context, int number)
    : m_canvas(canvas), m_view(view), m_marks(marks), m_text(text), m_context(context), m_number(number),
      m_map(new OverviewMap(canvas, view, marks, text)), m_legend(new Legend(&canvas)), m_path(overlayLabel(&canvas)),
      m_hidden(overlayLabel(&canvas)), m_close(new QToolButton(&canvas)) {
    addCloseButton();
    m_settled.setSingleShot(true);
    m_settled.setInterval(kSettledMs);
    connect(&m_settled, &QTimer::timeout, this, [this] {
        const bool isMoved = !m_path->isHidden() && pathCorner() != m_path->pos();
        const bool isLegendMoved = !m_legend->isHidden() && legendPlace() != m_legend->pos();
        if (isMoved || isLegendMoved || (m_map->isVisible() && isOverNames(m_map->geometry()))) arrange();
    });
    connect(&view, &CanvasView::cameraChanged, &m_settled, qOverload<>(&QTimer::start));
    m_roomChanges.setSingleShot(true);
    m_roomChanges.setInterval(0);
    connect(&m_roomChanges, &QTimer::timeout, this, &CanvasOverlays::roomChanged);
    // What is looked at changes the path, unless the selection says it.
    connect(&view, &CanvasView::cameraChanged, this, [this] {
        if (shownScope() != m_shownScope) refreshPath();
        else if (needsMap() == m_map->isHidden() || isOverItems(m_map->geometry(), m_view.camera()) ||
                 hiddenText() != m_hidden->text() ||
                 (hidesAny() && m_hidden->isHidden() != isOverAny(m_hidden->geometry(), m_view.camera())))
            arrange();
    });
    connect(m_map, &OverviewMap::itemChosen, this, &CanvasOverlays::itemChosen);
    m_path->setAccessibleName(tr("Path of modules"));
    m_hidden->setAccessibleName(tr("Hidden nodes"));
    m_map->hide();
    m_legend->hide();
    connect(m_path, &QLabel::linkActivated, this, [this](const QString& link) {
        bool ok = false;
        const uint scope = link.toUInt(&ok);
        context::Navigation& navigation = m_context.navigation();
        if (ok && m_context.model().isOpen() && scope < m_context.model().graph().scopeCount())
            navigation.navigateTo(navigation.selectionOf(graph::ScopeId(std::size_t{scope})));
    });
}

void CanvasOverlays::addCloseButton() {
    m_close->setObjectName(QStringLiteral("closeCanvas"));
    m_close->setIcon(theme::icon(QStringLiteral("close")));
    m_close->setAutoFillBackground(true);
    m_close->setToolTip(tr("Close this canvas"));
    m_close->setAccessibleName(tr("Close this canvas"));
    m_close->setFocusPolicy(Qt::NoFocus);
    m_close->hide();
    connect(m_close, &QToolButton::clicked, this, &CanvasOverlays::closeRequested);
}

graph::ScopeId CanvasOverlays::shownScope() const {
    return shownModule(m_view, m_context.navigation().selection(), m_context.canvases().activeNumber() == m_number);
}

QStringList CanvasOverlays::path() const {
    QStringList parts;
    if (!m_context.model().isOpen()) return parts;
    const graph::InternalGraph& graph = m_context.model().graph();
    for (graph::ScopeId scope = shownScope(); scope.valid(); scope = graph.scope(scope).parent)
        parts.prepend(QString::fromStdString(graph.scope(scope).qualname));
    return parts;
}

void CanvasOverlays::refresh() {
    const auto scene = m_view.scene();
    m_legend->setVisible(m_legendWanted && scene != nullptr);
    m_map->sceneChanged();
    m_legend->setScene(m_context.model().isOpen() ? &m_context.model().graph() : nullptr, scene.get(),
                       m_marks.now().coloring);
    refreshLegend();
    restyle(m_hidden);
    m_hidden->setVisible(hidesAny());
    refreshPath();
    arrange();
}

void CanvasOverlays::refreshLegend() {
    ItemFlags marks = 0;
    for (const ItemFlags flags : m_marks.now().flags) marks |= flags;
    m_legend->setMarks(marks);
    arrange();
}

void CanvasOverlays::refreshPath() {
    restyle(m_path);
    QStringList parts;
    if (m_context.model().isOpen()) {
        const graph::InternalGraph& graph = m_context.model().graph();
        graph::ScopeId scope = m_shownScope = shownScope();
        // A hostile file may nest modules thousands deep; the innermost ones tell where one is.
        constexpr qsizetype kMaxParts = 8;
        while (scope.valid() && parts.size() < kMaxParts) {
            const graph::Scope& at = graph.scope(scope);
            // What the module around does not say: "blocks.0" where no call of blocks is around it.
            const std::string outer = at.parent.valid() ? graph.scope(at.parent).qualname + '.' : std::string();
            const bool within = outer.size() > 1 && at.qualname.starts_with(outer);
            const QString tail = models::shown(at.qualname.empty() ? graph.name
                                               : within            ? at.qualname.substr(outer.size())
                                                                   : at.qualname);
            // The colour is in the text itself: a label keeps the link colour that it had when its text was set.
            parts.prepend(QStringLiteral("<a style='text-decoration:none; color:%3' href='%1'>%2</a>")
                              .arg(scope.value)
                              .arg(tail.left(40).toHtmlEscaped(), theme::color(theme::ColorRole::Link).name()));
            scope = at.parent;
        }
    }
    m_path->setText(parts.join(QStringLiteral(" › ")));
    m_path->setVisible(parts.size() > 1 && !m_isPresenting);
    arrange();
}

/// At the left, or at the right if it would cover nodes or names of boxes at the left but not there.
QPoint CanvasOverlays::pathCorner() const {
    const QPoint left(kGap, kGap);
    const int closeWidth = m_close->isHidden() ? 0 : m_close->width() + kGap / 2;
    const QPoint right(m_canvas.width() - m_path->width() - kGap - closeWidth, kGap);
    const auto isFree = [this](QPoint at) {
        const QRect place(at, m_path->size());
        return !isOverItems(place, m_view.camera()) && !isOverNames(place);
    };
    if (!m_view.painter() || right.x() <= left.x() || isFree(left) || !isFree(right)) return left;
    return right;
}

void CanvasOverlays::arrange() {
    const QSize size = m_canvas.size();
    m_close->adjustSize();
    m_close->move(size.width() - m_close->width() - kGap / 2, kGap / 2);
    m_path->adjustSize();
    m_path->move(m_path->isHidden() ? QPoint(kGap, kGap) : pathCorner());
    m_hidden->move(kGap, size.height() - m_hidden->height() - kGap);  // the map is above it
    const QRect map =
        needsMap() ? mapPlace(
                         *m_map, size, {m_path, m_close, m_legend, m_hidden},
                         [this](const QRectF& area) { return isOverItems(area, m_view.camera()) || isOverNames(area); },
                         [this](const QRectF& area) { return isOverLines(area); })
                   : QRect();
    if (!map.isEmpty()) m_map->setGeometry(map);
    m_map->setVisible(!map.isEmpty());
    const bool hides = hidesAny();
    m_hidden->setText(hiddenText());
    m_hidden->setToolTip(m_text.hidden());
    m_hidden->adjustSize();
    m_hidden->move(kGap, size.height() - m_hidden->height() - kGap);
    // Where even the count alone would cover nodes it is gone.
    m_hidden->setVisible(hides && !(m_view.painter() && isOverAny(m_hidden->geometry(), m_view.camera())));
    placeLegend();
}

/// Where a fitted picture leaves room for it.
QRect CanvasOverlays::legendHome() const {
    const int below = hidesAny() ? m_hidden->height() + kGap : 0;
    return {QPoint(kGap, m_canvas.height() - m_legend->height() - kGap - below), m_legend->size()};
}

/// In another corner where it would cover nodes in its own but not there.
QPoint CanvasOverlays::legendPlace() const {
    const QRect home = legendHome();
    if (!m_view.painter()) return home.topLeft();
    const int right = m_canvas.width() - m_legend->width() - kGap,
              bottom = m_canvas.height() - m_legend->height() - kGap;
    const int top =
        kGap + std::max(m_path->isHidden() ? 0 : m_path->height() + kGap, m_close->isHidden() ? 0 : m_close->height());
    for (const QPoint at : {home.topLeft(), QPoint(right, bottom), QPoint(right, top), QPoint(kGap, top)}) {
        const QRect place(at, m_legend->size());
        const bool isTaken = std::ranges::any_of(
            std::initializer_list<const QWidget*>{m_map, m_hidden, m_path, m_close},
            [&](const QWidget* other) { return !other->isHidden() && other->geometry().intersects(place); });
        if (!isTaken && place.left() >= kGap && place.top() >= kGap && !isOverItems(place, m_view.camera())) return at;
    }
    return home.topLeft();
}

void CanvasOverlays::placeLegend() {
    constexpr int kRoomy = 480;
    constexpr QSize kMin(480, 340);  // in a smaller canvas it would cover the nodes that it is about
    const QSize size = m_canvas.size();
    m_legend->setVisible(m_legendWanted && m_view.scene() && size.width() >= kMin.width() &&
                         size.height() >= kMin.height());
    m_legend->setCompact(size.height() < kRoomy);
    m_legend->resize(m_legend->sizeHint());
    m_legend->move(legendPlace());
    // Other colours have another legend. Told later: the canvas may just be getting another size, too.
    const QSize taken = m_legend->isHidden() ? QSize() : m_legend->size();
    if (std::exchange(m_legendSize, taken) != taken) m_roomChanges.start();
}

QRect CanvasOverlays::pathPlace() const { return m_path->isHidden() ? QRect() : m_path->geometry(); }

Camera CanvasOverlays::fitted(const QRectF& bounds) const {
    const QRectF all(QPointF(), QSizeF(m_canvas.size()));
    // Without a selection the path says what the middle shows, which the camera is about to change. The map is hidden
    // when all is in view.
    const QWidget* path = m_context.navigation().selection().isNone() || m_path->isHidden() ? nullptr : m_path;
    // What gives way to nodes now has room again beside them.
    const bool hides = hidesAny();
    std::vector<QRectF> overlays;
    const auto add = [&overlays](const QRectF& place) {
        overlays.push_back(place.adjusted(-kGap / 2.0, -kGap / 2.0, kGap / 2.0, kGap / 2.0));
    };
    const QRect legend = m_legend->isHidden() ? QRect() : legendHome();
    if (!legend.isNull()) add(legend);
    for (const QWidget* widget : std::initializer_list<const QWidget*>{m_hidden, m_close, path})
        if (widget && (widget == m_hidden ? hides : !widget->isHidden())) add(widget->geometry());
    const auto isFree = [&](const Camera& camera) {
        return std::ranges::none_of(overlays, [&](const QRectF& overlay) { return isOverItems(overlay, camera); });
    };
    const Camera whole = Camera::fitting(bounds, all.size(), kFitMargin, 1.0);
    if (isFree(whole)) return whole;
    // Above what is at the bottom, right of what is at the left, below what is at the top, or some of these. Beside all
    // of them nothing is covered, however small it gets.
    const double left = hides ? m_hidden->geometry().right() : 0, bottom = hides ? all.height() - m_hidden->y() : 0;
    const double top =
        std::max(path ? path->geometry().bottom() : 0, m_close->isHidden() ? 0 : m_close->geometry().bottom());
    const double leftOfLegend = legend.isNull() ? left : legend.right() + kGap / 2.0,
                 belowLegend = legend.isNull() ? bottom : all.height() - legend.y() + kGap / 2.0;
    std::vector<std::pair<double, Camera>> others;  // how much is lost: size, and the middle of the canvas
    for (const double fromLeft : {0.0, left, leftOfLegend})
        for (const double fromTop : {0.0, top})
            for (const double fromBottom : {0.0, bottom, belowLegend}) {
                const QRectF free = all.marginsRemoved(QMarginsF(fromLeft, fromTop, 0, fromBottom));
                if (free.width() <= 4 * kFitMargin || free.height() <= 4 * kFitMargin) continue;
                Camera camera = Camera::fitting(bounds, free.size(), kFitMargin, 1.0);
                const QPointF aside = free.center() - all.center();
                camera.centre -= aside / camera.scale;
                others.emplace_back(1 - camera.scale / whole.scale + std::abs(aside.x()) / all.width() +
                                        std::abs(aside.y()) / all.height(),
                                    camera);
            }
    std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto found =
        std::find_if(others.begin(), others.end(), [&](const auto& other) { return isFree(other.second); });
    return found == others.end() ? whole : found->second;
}

QRectF CanvasOverlays::sceneArea(const QRectF& pixels, const Camera& camera) const {
    return {camera.toScene(pixels.topLeft(), m_canvas.size()), pixels.size() / camera.scale};
}

bool CanvasOverlays::isOverItems(const QRectF& pixels, const Camera& camera) const {
    const auto under = m_view.painter()->index().itemsWithin(sceneArea(pixels, camera));
    return std::ranges::any_of(under, [&](std::uint32_t id) { return !m_view.scene()->items[id].what.open; });
}

bool CanvasOverlays::isOverLines(const QRectF& pixels) const {
    return m_view.painter()->index().hasEdgeIn(sceneArea(pixels, m_view.camera()));
}

bool CanvasOverlays::isOverNames(const QRectF& pixels) const {
    return m_view.painter() && m_view.painter()->hasTitleIn(sceneArea(pixels, m_view.camera()), m_view.camera().scale);
}

bool CanvasOverlays::isOverAny(const QRectF& pixels, const Camera& camera) const {
    return isOverItems(pixels, camera) || m_view.painter()->hasTextIn(sceneArea(pixels, camera), camera.scale);
}

bool CanvasOverlays::hidesAny() const { return !m_isPresenting && !m_text.hidden().isEmpty(); }

/// The counts one by one, or only the whole one where these would cover nodes.
QString CanvasOverlays::hiddenText() const {
    const QString text = m_text.hidden();
    if (text.isEmpty()) return text;
    const int most = m_canvas.width() - 2 * kGap - 2 * kPlatePad - (m_map->isVisible() ? m_map->width() + kGap : 0);
    const QFontMetrics metrics = m_hidden->fontMetrics();
    const int width = std::min(metrics.horizontalAdvance(text), std::max(most, 0));
    const QRectF place(kGap, m_canvas.height() - m_hidden->height() - kGap, width + 2 * kPlatePad, m_hidden->height());
    const bool isShort = m_view.painter() && isOverAny(place, m_view.camera());
    return metrics.elidedText(isShort ? m_text.hiddenCount() : text, Qt::ElideRight, std::max(most, 0)).toHtmlEscaped();
}

/// Where all is in view there is nothing to find on a map.
bool CanvasOverlays::needsMap() const {
    const auto scene = m_view.scene();
    return m_overviewWanted && !m_isPresenting && scene && m_view.painter() &&
           !m_view.visible().contains(toQt(scene->bounds));
}

void CanvasOverlays::setOverviewVisible(bool visible) {
    m_overviewWanted = visible;
    arrange();
}

void CanvasOverlays::setClosable(bool closable) {
    m_close->setVisible(closable);
    arrange();
}

void CanvasOverlays::setPresenting(bool presenting) {
    m_isPresenting = presenting;
    refreshPath();  // arranges the others, too
}

void CanvasOverlays::setLegendVisible(bool visible) {
    const bool isNew = visible != m_legendWanted;
    m_legendWanted = visible;
    arrange();
    // It takes a place of its own in a picture that was fitted.
    m_roomChanges.stop();
    if (isNew) Q_EMIT roomChanged();
}

}  // namespace sonde::canvas
