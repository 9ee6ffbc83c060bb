#include "ui/canvas/scene_painter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/node_measures.h"
#include "ui/canvas/edge_path.h"

namespace sonde::canvas {

using theme::ColorRole;

namespace {

constexpr double kEdgeWidth = 1.3;
constexpr double kArrow = 7;
constexpr double kMaxLabelWidth = 180;
constexpr double kLabelScale = 0.65;  ///< types are on edges from this zoom on
constexpr double kReach = 100;        ///< labels and marks stick out of what they belong to

/// The head of an arrow whose tip is the path's end.
QPolygonF arrowHead(const layout::Path& path, double size) {
    const QPointF tip = toQt(path.end());
    QPointF from = toQt(path.points[path.points.size() - 2]);
    if (std::hypot(tip.x() - from.x(), tip.y() - from.y()) < 0.5) from = toQt(path.at(path.segments() - 1, 0.5));
    QPointF along = tip - from;
    const double length = std::hypot(along.x(), along.y());
    if (length < 1e-6) return {};
    along /= length;
    const QPointF across(-along.y(), along.x());
    const QPointF foot = tip - size * along;
    return {tip, foot + 0.42 * size * across, foot - 0.42 * size * across};
}

/// 1 for a scalar to 5 for a hundred million elements; 1 if the size is not known.
double sizeWidth(const graph::InternalGraph& graph, const layout::SceneEdge& edge) {
    double elements = 0;
    for (const graph::NodeId value : edge.values)
        if (const auto count = analysis::elementCount(graph.node(value))) elements += static_cast<double>(*count);
    return 1 + 0.5 * std::log10(std::max(1.0, elements));
}

/// Lines never get thinner than what can be seen.
double seenWidth(double width, double scale) { return std::max(width, 0.7 / std::max(scale, 1e-6)); }

}  // namespace

ScenePainter::ScenePainter(std::shared_ptr<const SceneIndex> index, std::shared_ptr<const graph::InternalGraph> graph,
                           std::shared_ptr<const TextMeasure> measure, const CanvasStyle& style)
    : m_index(std::move(index)), m_items(std::move(graph), std::move(measure), style),
      m_labelFont(canvasFont(TextRole::Small, style.textScale)),
      m_nameFont(canvasFont(TextRole::Title, style.textScale)), m_labelState(m_index->scene().edges.size(), -1) {}

std::shared_ptr<ScenePainter> ScenePainter::again(const CanvasStyle& style) const {
    auto painter = std::make_shared<ScenePainter>(m_index, m_items.sharedGraph(), m_items.sharedMeasure(), style);
    painter->m_wholeView = m_wholeView;
    return painter;
}

void ScenePainter::paintEdge(QPainter& painter, std::uint32_t id, const QPen& pen, double arrow,
                             const QRectF& area) const {
    const layout::SceneEdge& edge = m_index->scene().edges[id];
    if (edge.path.empty()) return;
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(painterPath(edge.path, area));
    if (arrow <= 0 || (!area.isEmpty() && !area.contains(toQt(edge.path.end())))) return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(pen.color());
    painter.drawPolygon(arrowHead(edge.path, arrow));
}

void ScenePainter::paintEdges(QPainter& painter, const std::vector<std::uint32_t>& edges, double scale,
                              const QRectF& area) const {
    const QColor color = m_items.style().color(ColorRole::Edge);
    const Detail detail = detailAt(scale);
    if (detail == Detail::Block) {
        // Far out a curve is as good as its chords, and one pass over all of them is quickest.
        const bool smooth = painter.testRenderHint(QPainter::Antialiasing);
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(color, 0));
        QList<QLineF> lines;
        for (const std::uint32_t id : edges) {
            if (!m_steps.goOn()) break;
            const layout::Path& path = m_index->scene().edges[id].path;
            for (std::size_t i = 0; i + 3 < path.points.size(); i += 3)
                lines.emplaceBack(toQt(path.points[i]), toQt(path.points[i + 3]));
        }
        painter.drawLines(lines);
        painter.setRenderHint(QPainter::Antialiasing, smooth);
        return;
    }
    QPen pen(color, seenWidth(kEdgeWidth, scale), Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
    for (const std::uint32_t id : edges) {
        if (!m_steps.goOn()) return;
        const double width =
            m_items.style().edgeWidths ? sizeWidth(m_items.graph(), m_index->scene().edges[id]) : kEdgeWidth;
        pen.setWidthF(seenWidth(width, scale));
        paintEdge(painter, id, pen, kArrow + std::max(0.0, width - kEdgeWidth), area);
    }
}

QRectF ScenePainter::labelRect(std::uint32_t id) const {
    const layout::SceneEdge& edge = m_index->scene().edges[id];
    const QString text = edgeText(m_items.graph(), edge);
    if (text.isEmpty() || edge.fromStub) return {};
    const TextMeasure& measure = m_items.measure();
    const QSizeF size(std::min(measure.width(TextRole::Small, text), kMaxLabelWidth) + 6,
                      measure.height(TextRole::Small));
    const QPointF at = toQt(edge.labelAt);
    return {at - QPointF(size.width(), size.height()) / 2, size};
}

std::vector<std::uint32_t> ScenePainter::labelsNear(QPointF place) const {
    // A label is not wider than a cell nor higher, so that one which overlaps is in the same or in the next.
    constexpr double kCell = kMaxLabelWidth + 6;
    const auto cell = [](double x, double y) {
        const auto at = [](double v) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(v / kCell))) & 0xffffffffU;
        };
        return at(x) << 32 | at(y);
    };
    const std::vector<layout::SceneEdge>& edges = m_index->scene().edges;
    if (m_labelCells.empty()) {
        for (std::uint32_t i = 0; i < edges.size(); ++i)
            if (!edges[i].fromStub) m_labelCells[cell(edges[i].labelAt.x, edges[i].labelAt.y)].push_back(i);
    }
    std::vector<std::uint32_t> found;
    for (const double dx : {-kCell, 0.0, kCell}) {
        for (const double dy : {-kCell, 0.0, kCell}) {
            const auto here = m_labelCells.find(cell(place.x() + dx, place.y() + dy));
            if (here != m_labelCells.end()) found.insert(found.end(), here->second.begin(), here->second.end());
        }
    }
    return found;
}

bool ScenePainter::labelShown(std::uint32_t id) const {
    if (m_labelState[id] >= 0) return m_labelState[id] != 0;
    const QRectF rect = labelRect(id);
    bool shown = !rect.isEmpty();
    if (shown) {
        for (const std::uint32_t item : m_index->itemsWithin(rect)) {
            const layout::SceneItem& other = m_index->scene().items[item];
            if (!shown) break;
            const QRectF box = toQt(other.rect);
            // Not over a card, nor across the border or the title of an open box.
            shown = other.what.open ? !box.intersects(rect) || box.adjusted(0, other.titleHeight, 0, 0).contains(rect)
                                    : !box.intersects(rect);
        }
        // Of two labels that would overlap the first edge's stays, whatever part of the picture is painted.
        for (const std::uint32_t other : labelsNear(rect.center())) {
            if (!shown) break;
            shown = other >= id || !labelRect(other).intersects(rect);
        }
    }
    m_labelState[id] = shown ? 1 : 0;
    return shown;
}

bool ScenePainter::hasJumpNameIn(const QRectF& area, double scale) const {
    return !m_index->scene().jumps.empty() &&
           std::ranges::any_of(jumpNames(scale), [&area](const JumpName& name) { return name.rect.intersects(area); });
}

bool ScenePainter::hasTitleIn(const QRectF& area, double scale) const {
    if (hasJumpNameIn(area, scale)) return true;
    if (detailAt(scale) < Detail::Full) return !farTitles().within(area, scale).empty();
    const layout::SceneLayout& scene = m_index->scene();
    return std::ranges::any_of(m_index->itemsWithin(area), [&](std::uint32_t id) {
        return scene.items[id].what.open && m_items.openTitleRect(scene.items[id]).intersects(area);
    });
}

bool ScenePainter::hasTextIn(const QRectF& area, double scale) const {
    if (hasJumpNameIn(area, scale)) return true;
    if (scale < kLabelScale) return false;
    const SceneIndex::Found found = m_index->within(area.adjusted(-kReach, -20, kReach, 20));
    return std::ranges::any_of(found.edges,
                               [&](std::uint32_t id) { return labelRect(id).intersects(area) && labelShown(id); });
}

void ScenePainter::paintLabels(QPainter& painter, const std::vector<std::uint32_t>& edges) const {
    const CanvasStyle& style = m_items.style();
    const TextMeasure& measure = m_items.measure();
    for (const std::uint32_t id : edges) {
        if (!m_steps.goOn()) return;
        if (!labelShown(id)) continue;
        const QRectF rect = labelRect(id);
        const QString text =
            measure.elided(TextRole::Small, edgeText(m_items.graph(), m_index->scene().edges[id]), kMaxLabelWidth);
        painter.setPen(Qt::NoPen);
        painter.setBrush(style.color(ColorRole::EdgeLabelBackground));
        painter.drawRoundedRect(rect, 3, 3);
        painter.setPen(style.color(ColorRole::EdgeLabel));
        painter.setFont(m_labelFont);
        painter.drawText(rect.topLeft() + QPointF(3, measure.ascent(TextRole::Small)), text);
    }
}

const std::vector<JumpName>& ScenePainter::jumpNames(double scale) const {
    const double factor = jumpNameFactor(scale);
    // Of the zooms that were asked for last: close up, and how it is now.
    auto& [made, names] = factor == 1 ? m_jumpNames : m_farNames;
    if (made != factor) {
        made = factor;
        names = canvas::jumpNames(*m_index, m_items.graph(), m_items.measure(), factor);
    }
    return names;
}

const JumpName* ScenePainter::jumpNameAt(QPointF place, double scale) const {
    for (const JumpName& name : jumpNames(scale))
        if (name.rect.contains(place)) return &name;
    return nullptr;
}

/// An empty area is the whole picture.
void ScenePainter::paintJumpNames(QPainter& painter, const QRectF& area, double scale) const {
    if (m_index->scene().jumps.empty()) return;
    const CanvasStyle& style = m_items.style();
    const TextMeasure& measure = m_items.measure();
    painter.setFont(m_nameFont);
    for (const JumpName& name : jumpNames(scale)) {
        if (!area.isEmpty() && !area.intersects(name.rect)) continue;
        if (!m_steps.goOn()) return;
        const double factor = name.rect.height() / measure.height(TextRole::Title);
        painter.setPen(QPen(style.color(ColorRole::Edge), seenWidth(1, scale)));
        painter.setBrush(style.color(ColorRole::EdgeLabelBackground));
        painter.drawRoundedRect(name.rect, name.rect.height() / 2, name.rect.height() / 2);
        painter.save();
        painter.translate(name.rect.topLeft());
        painter.scale(factor, factor);
        painter.setPen(style.color(ColorRole::EdgeLabel));
        painter.drawText(QPointF(kNameSide, measure.ascent(TextRole::Title)), name.text);
        painter.restore();
    }
}

void ScenePainter::paint(QPainter& painter, const SceneMarks& marks, const QRectF& area, double scale) const {
    const QRectF around = area.adjusted(-kReach, -20, kReach, 20);
    const SceneIndex::Found found = m_index->within(around);
    const layout::SceneLayout& scene = m_index->scene();
    const Detail detail = detailAt(scale);
    painter.setRenderHint(QPainter::Antialiasing, detail != Detail::Block);
    painter.setRenderHint(QPainter::TextAntialiasing);
    for (const std::uint32_t id : found.items)
        if (scene.items[id].what.open && m_steps.goOn())
            m_items.paint(painter, *m_index, layout::ItemId(std::size_t{id}), marks, scale);
    paintEdges(painter, found.edges, scale, around);
    if (detail >= Detail::Full) {
        paintPorts(painter, found.edges, scale);
        paintOpenTitles(painter, found.items, marks);
    }
    for (const std::uint32_t id : found.items)
        if (!scene.items[id].what.open && m_steps.goOn())
            m_items.paint(painter, *m_index, layout::ItemId(std::size_t{id}), marks, scale);
    if (scale >= kLabelScale) paintLabels(painter, found.edges);
    paintJumpNames(painter, around, scale);
    if (detail < Detail::Full) paintFarTitles(painter, around, scale);
}

void ScenePainter::paintOpenTitles(QPainter& painter, const std::vector<std::uint32_t>& items,
                                   const SceneMarks& marks) const {
    for (const std::uint32_t item : items) {
        const layout::ItemId id(std::size_t{item});
        if (m_index->scene().item(id).what.open && m_steps.goOn())
            m_items.paintOpenTitle(painter, m_index->scene().item(id), m_index->depth(id), marks.of(id));
    }
}

void ScenePainter::paintTitles(QPainter& painter, const SceneMarks& marks, const QRectF& area, double scale) const {
    if (detailAt(scale) < Detail::Full) paintFarTitles(painter, area, scale);
    else paintOpenTitles(painter, m_index->itemsWithin(area), marks);
}

bool ScenePainter::setWholeView(const QRectF& area, double scale, double shown) {
    const auto [areaBefore, scaleBefore] = std::exchange(m_wholeView, {area, scale});
    if (areaBefore == area && scaleBefore == scale) return false;
    if (m_farTitles) m_farTitles->setWholeView(area, scale);
    return shown <= 1.001 * std::max(scaleBefore, scale);
}

FarTitles& ScenePainter::farTitles() const {
    if (m_farTitles) return *m_farTitles;
    FarTitles::JumpNames names;
    if (!m_index->scene().jumps.empty())
        names = [this](double at) -> const std::vector<JumpName>& { return jumpNames(at); };
    m_farTitles.emplace(*m_index, m_items, std::move(names));
    m_farTitles->setWholeView(m_wholeView.first, m_wholeView.second);
    return *m_farTitles;
}

void ScenePainter::paintFarTitles(QPainter& painter, const QRectF& area, double scale) const {
    painter.setRenderHint(QPainter::Antialiasing);
    const TextMeasure& measure = m_items.measure();
    const CanvasStyle& style = m_items.style();
    for (const FarTitle& title : farTitles().within(area, scale)) {
        if (!m_steps.goOn()) return;
        painter.save();
        painter.translate(title.rect.topLeft());
        painter.scale(1 / scale, 1 / scale);
        painter.setPen(Qt::NoPen);
        painter.setBrush(style.color(ColorRole::EdgeLabelBackground));
        painter.drawRoundedRect(QRectF(QPointF(), title.rect.size() * scale), 3, 3);
        painter.setFont(m_nameFont);
        painter.setPen(style.color(ColorRole::ModuleTitle));
        painter.translate(4, 0);
        painter.scale(title.factor, title.factor);
        painter.drawText(QPointF(0, 1 + measure.ascent(TextRole::Title)), title.text);
        painter.restore();
    }
}

void ScenePainter::paintWithin(QPainter& painter, const SceneMarks& marks, layout::ItemId top, double scale,
                               const Groups& groups) const {
    struct Step {
        layout::ItemId item;
        bool leaving;
    };
    // An explicit stack: boxes of a hostile file may be thousands deep.
    std::vector<Step> stack{{top, false}};
    while (!stack.empty()) {
        const Step step = stack.back();
        stack.pop_back();
        if (step.leaving) {
            groups.leave();
            continue;
        }
        const layout::SceneItem& item = m_index->scene().item(step.item);
        if (!m_steps.goOn()) return;
        groups.enter(spokenText(m_items.graph(), item));
        m_items.paint(painter, *m_index, step.item, marks, scale);
        stack.push_back({step.item, true});
        for (auto it = item.children.rbegin(); it != item.children.rend(); ++it) stack.push_back({*it, false});
    }
}

void ScenePainter::paintNested(QPainter& painter, const SceneMarks& marks, double scale, const Groups& groups) const {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setRenderHint(QPainter::TextAntialiasing);
    for (const layout::ItemId id : m_index->scene().top) paintWithin(painter, marks, id, scale, groups);
    std::vector<std::uint32_t> edges(m_index->scene().edges.size());
    for (std::uint32_t i = 0; i < edges.size(); ++i) edges[i] = i;
    groups.enter(QStringLiteral("edges"));
    paintEdges(painter, edges, scale, {});
    paintPorts(painter, edges, scale);
    groups.leave();
    // Lines come after the boxes that they pass: titles that they cross are written again.
    std::vector<std::uint32_t> crossed;
    const std::vector<layout::SceneItem>& items = m_index->scene().items;
    for (std::uint32_t i = 0; i < items.size(); ++i)
        if (items[i].what.open && m_index->hasEdgeIn(m_items.openTitleRect(items[i]))) crossed.push_back(i);
    groups.enter(QStringLiteral("names over edges"));
    paintOpenTitles(painter, crossed, marks);
    paintLabels(painter, edges);
    paintJumpNames(painter, {}, scale);
    groups.leave();
}

void ScenePainter::paintHighlight(QPainter& painter, layout::ItemId item, const QRectF& area, double scale,
                                  bool selected) const {
    const layout::SceneLayout& scene = m_index->scene();
    const CanvasStyle& style = m_items.style();
    const double width = seenWidth(selected ? 2.4 : 2.0, scale);
    // A hub may have thousands of edges; what cannot be told apart need not be drawn.
    constexpr std::size_t kMaxEdges = 2000;
    const std::vector<std::size_t> edges = layout::edgesAt(scene, item);
    for (std::size_t i = 0; i < std::min(edges.size(), kMaxEdges); ++i) {
        // Of an open box by where the edge comes from: it ends at something inside.
        const bool incoming = !scene.item(item).rect.contains(scene.item(scene.edges[edges[i]].from).rect);
        const ColorRole role = incoming ? ColorRole::EdgeOfInput : ColorRole::EdgeOfOutput;
        paintEdge(painter, static_cast<std::uint32_t>(edges[i]),
                  QPen(style.color(role), width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin), kArrow + 1.5, area);
    }
    paintLinks(painter, item, scale);
    if (scale >= kLabelScale && edges.size() <= kMaxEdges)
        paintLabels(painter, std::vector<std::uint32_t>(edges.begin(), edges.end()));
    paintJumpNames(painter, area, scale);
    paintOutline(painter, item, scale, selected);
}

void ScenePainter::paintOutline(QPainter& painter, layout::ItemId item, double scale, bool selected) const {
    const CanvasStyle& style = m_items.style();
    const double gap = selected ? 2.5 : 1.5;
    const QRectF box = toQt(m_index->scene().item(item).rect).adjusted(-gap, -gap, gap, gap);
    painter.setPen(QPen(style.color(selected ? ColorRole::SelectionOutline : ColorRole::HoverOutline),
                        std::max(selected ? 2.5 : 1.8, (selected ? 2.0 : 1.4) / scale)));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box, Card::kRadius + gap, Card::kRadius + gap);
}

/// A stub and where its value is made, joined by a dashed line; or an item and all stubs that stand for what it makes,
/// set off only: a fan of lines would cover what is between.
void ScenePainter::paintLinks(QPainter& painter, layout::ItemId item, double scale) const {
    constexpr std::size_t kMaxLines = 400;
    const layout::SceneLayout& scene = m_index->scene();
    const bool isStub = scene.item(item).what.kind == layout::ItemKind::Stub;
    if (!isStub && scene.item(item).stubs == 0) return;
    painter.setPen(QPen(m_items.style().color(isStub ? ColorRole::EdgeOfInput : ColorRole::EdgeOfOutput),
                        seenWidth(1.4, scale), Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    const auto link = [&](const layout::SceneItem& source, const layout::SceneItem& stub) {
        const bool across = scene.direction == layout::Direction::LeftRight;
        const QRectF from = toQt(source.rect), to = toQt(stub.rect);
        if (isStub)
            painter.drawLine(
                across ? QPointF(from.right(), from.center().y()) : QPointF(from.center().x(), from.bottom()),
                across ? QPointF(to.left(), to.center().y()) : QPointF(to.center().x(), to.top()));
        const QRectF other = isStub ? from : to;
        painter.drawRoundedRect(other.adjusted(-2, -2, 2, 2), Card::kRadius + 2, Card::kRadius + 2);
    };
    if (isStub) {
        if (scene.item(item).source.valid()) link(scene.item(scene.item(item).source), scene.item(item));
        return;
    }
    std::size_t drawn = 0;
    for (std::size_t i = scene.items.size();
         i-- > 0 && scene.items[i].what.kind == layout::ItemKind::Stub && drawn < kMaxLines;)
        if (scene.items[i].source == item) link(scene.item(item), scene.items[i]), ++drawn;
}

void ScenePainter::paintEdgeHighlight(QPainter& painter, int edge, const QRectF& area, double scale) const {
    paintEdge(painter, static_cast<std::uint32_t>(edge),
              QPen(m_items.style().color(ColorRole::EdgeHighlight), seenWidth(2.2, scale), Qt::SolidLine, Qt::FlatCap,
                   Qt::RoundJoin),
              kArrow + 1.5, area);
    if (scale >= kLabelScale) paintLabels(painter, {static_cast<std::uint32_t>(edge)});
    paintJumpNames(painter, area, scale);
}

}  // namespace sonde::canvas
