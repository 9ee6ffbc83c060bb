#include <QPainter>
#include <QPainterPath>

#include <cmath>

#include "ui/models/operator_category.h"
#include "ui/panels/timeline/timeline_scene.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

using session::debug::Item;
using session::debug::Timeline;
using session::debug::TimelineBar;
using theme::ColorRole;

namespace {

/// Bars that would be narrower, and marks that would be nearer to each other, are one.
constexpr double kMinBar = 2, kMinMark = 4;
constexpr int kTextMargin = 4;

class Painter {
  public:
    Painter(QPainter& painter, const TimelineScene& scene, const TimelineWindow& window)
        : m_painter(painter), m_scene(scene), m_timeline(*scene.timeline), m_window(window) {}

    TimelinePainted paint(bool hasFocus) {
        const QRectF all(QPointF(0, 0), QSizeF(m_window.size));
        m_painter.fillRect(all, theme::color(ColorRole::PlotBackground));
        paintAhead();
        paintRows();
        m_painter.fillRect(QRectF(0, 0, m_window.size.width(), m_window.rowsTop()), theme::color(ColorRole::Panel));
        paintRuler();
        paintMarks();
        paintPlace(hasFocus);
        return m_painted;
    }

  private:
    // --- what is still to come ------------------------------------------------------------------------------------

    void paintAhead() {
        const double begin = m_window.xOf(m_timeline.length(m_window.scale));
        if (m_scene.isComplete || begin >= m_window.size.width()) return;
        m_painter.fillRect(QRectF(begin, m_window.rowsTop(), m_window.size.width() - begin, m_window.size.height()),
                           QBrush(theme::color(ColorRole::PlotGrid), Qt::BDiagPattern));
    }

    // --- bars -----------------------------------------------------------------------------------------------------

    void paintRows() {
        const auto last = static_cast<int>(m_timeline.rowCount()) - 1;
        for (int row = m_window.firstRow; row <= last; ++row) {
            if (m_window.rectOf(row, 0, 0).top() >= m_window.size.height()) break;
            const auto bars = m_timeline.bars(static_cast<std::size_t>(row), m_window.scale, m_window.from,
                                              m_window.to(), kMinBar * m_window.perPixel);
            for (const TimelineBar& bar : bars) paintBar(bar, row);
            m_painted.bars += bars.size();
        }
    }

    theme::CategoryColors colorsOf(const Item& item) const {
        const graph::Expr* const expr = item.kind == Item::Kind::Module ? nullptr : &m_scene.graph->expr(item.expr);
        const bool isCall =
            expr && item.kind == Item::Kind::Operation && !expr->bodies.empty() && expr->op.name.empty();
        if (!expr || isCall)
            return {theme::moduleFill(item.depth), theme::color(ColorRole::ModuleStroke),
                    theme::color(ColorRole::ModuleTitle)};
        if (item.kind == Item::Kind::Body) return theme::categoryColors(theme::OpCategory::Control);
        return theme::categoryColors(theme::categoryFromKey(models::categoryKey(*expr)));
    }

    void paintBar(const TimelineBar& bar, int row) {
        const QRectF exact = m_window.rectOf(row, bar.begin, bar.end);
        const double left = std::round(std::max(exact.left(), -2.0));
        const double right = std::round(std::min(exact.right(), m_window.size.width() + 2.0));
        const QRectF rect(left, exact.top() + 1, std::max(1.0, right - left - (right - left > 3 ? 1 : 0)),
                          exact.height() - 2);
        const Item& item = m_timeline[bar.first];
        const theme::CategoryColors colors = colorsOf(item);
        const bool isOne = bar.first == bar.last;
        m_painter.fillRect(rect, rect.width() < 4 ? colors.stroke : colors.fill);
        if (rect.width() >= 4) {
            m_painter.setPen(colors.stroke);
            m_painter.setBrush(Qt::NoBrush);
            m_painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        if (isOne && item.kind == Item::Kind::Operation && item.expr == m_scene.selected && item.expr.valid())
            paintOutline(rect, ColorRole::SelectionOutline);
        if (isOne && bar.first == m_scene.current()) paintOutline(rect, ColorRole::CurrentMark);
        if (!isOne) return;
        const QRectF inside = rect.intersected(QRectF(0, 0, m_window.size.width(), m_window.size.height()))
                                  .adjusted(kTextMargin, 0, -kTextMargin, 0);
        const QFontMetricsF metrics(m_painter.font(), m_painter.device());
        if (inside.width() < 3 * metrics.averageCharWidth()) return;
        const QString name = metrics.elidedText(barText(*m_scene.graph, item), Qt::ElideMiddle, inside.width());
        m_painter.setPen(colors.text);
        m_painter.drawText(inside, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, name);
    }

    void paintOutline(const QRectF& rect, ColorRole role) {
        m_painter.setPen(QPen(theme::color(role), 2));
        m_painter.setBrush(Qt::NoBrush);
        m_painter.drawRect(rect.adjusted(1, 1, -1, -1));
    }

    // --- ruler ----------------------------------------------------------------------------------------------------

    /// The distance of ticks that leaves room for their texts: 1, 2 or 5 times a power of ten.
    double tickStep(double room) const {
        const double minStep = std::max(room * m_window.perPixel, 1.0);
        const double power = std::pow(10.0, std::floor(std::log10(minStep)));
        for (const double factor : {1.0, 2.0, 5.0})
            if (factor * power >= minStep) return factor * power;
        return 10 * power;
    }

    void paintRuler() {
        const QFontMetricsF metrics(m_painter.font(), m_painter.device());
        const double step = tickStep(metrics.averageCharWidth() * 14);
        m_painter.setPen(theme::color(ColorRole::Border));
        const double bottom = m_window.rulerHeight - 0.5;
        m_painter.drawLine(QPointF(0, bottom), QPointF(m_window.size.width(), bottom));
        const double first = std::max(0.0, std::ceil(m_window.from / step) * step);
        for (double at = first; at < m_window.to(); at += step) {
            const double x = std::round(m_window.xOf(at)) + 0.5;
            m_painter.setPen(theme::color(ColorRole::PlotAxis));
            m_painter.drawLine(QPointF(x, bottom - 4), QPointF(x, bottom));
            m_painter.setPen(theme::color(ColorRole::PlotLabel));
            m_painter.drawText(QPointF(x + 3, metrics.ascent() + 1), positionText(at, m_window.scale));
        }
        paintDots(m_scene.points, false);
        paintDots(m_scene.hits, true);
    }

    /// Breakpoints: hollow where a step has one, filled where it has stopped.
    void paintDots(const std::vector<ItemId>& items, bool isFilled) {
        const double size = 6;
        for (const ItemId item : shownOf(items)) {
            const QPointF centre(m_window.xOf(m_timeline.begin(item, m_window.scale)), m_window.rulerHeight - 5);
            m_painter.setRenderHint(QPainter::Antialiasing, true);
            m_painter.setPen(QPen(theme::color(ColorRole::ErrorMark), 1.5));
            m_painter.setBrush(isFilled ? QBrush(theme::color(ColorRole::ErrorMark)) : QBrush(Qt::NoBrush));
            m_painter.drawEllipse(centre, size / 2, size / 2);
            m_painter.setRenderHint(QPainter::Antialiasing, false);
        }
    }

    // --- marks ----------------------------------------------------------------------------------------------------

    std::vector<ItemId> shownOf(const std::vector<ItemId>& items) {
        auto shown = m_timeline.thinned(items, m_window.scale, m_window.from - 6 * m_window.perPixel, m_window.to(),
                                        kMinMark * m_window.perPixel);
        m_painted.marks += shown.size();
        return shown;
    }

    /// Within a square of side 2 around the origin. Reads point up, at their bar's left edge; writes point down.
    static QPainterPath triangle(bool isUp) {
        const double tip = isUp ? -0.9 : 0.9;
        QPainterPath path;
        path.moveTo(0, tip);
        path.lineTo(0.9, -tip);
        path.lineTo(-0.9, -tip);
        path.closeSubpath();
        return path;
    }
    static QPainterPath shapeOf(std::size_t event) {
        QPainterPath path;
        switch (event) {
            case 0:  // NaN: a diamond
                path.moveTo(0, -1);
                path.lineTo(1, 0);
                path.lineTo(0, 1);
                path.lineTo(-1, 0);
                path.closeSubpath();
                break;
            case 1: path.addRect(-0.8, -0.8, 1.6, 1.6); break;
            case 2:  // overflow: a cross
                path.addRect(-0.9, -0.3, 1.8, 0.6);
                path.addRect(-0.3, -0.9, 0.6, 1.8);
                path.setFillRule(Qt::WindingFill);
                break;
            default:  // zero: a ring
                path.addEllipse(QPointF(0, 0), 0.9, 0.9);
                path.addEllipse(QPointF(0, 0), 0.5, 0.5);
        }
        return path;
    }

    void paintShapes(const std::vector<ItemId>& items, const QPainterPath& shape, ColorRole role, double middle) {
        const double size = std::max(3.0, m_window.marksHeight / 4.0 - 0.5);
        m_painter.setRenderHint(QPainter::Antialiasing, true);
        for (const ItemId item : shownOf(items)) {
            const double width =
                (m_timeline.end(item, m_window.scale) - m_timeline.begin(item, m_window.scale)) / m_window.perPixel;
            const double x = m_window.xOf(m_timeline.begin(item, m_window.scale)) + std::min(width / 2, 8.0);
            m_painter.save();
            m_painter.translate(x, middle);
            m_painter.scale(size, size);
            m_painter.setPen(Qt::NoPen);
            m_painter.setBrush(theme::color(role));
            m_painter.drawPath(shape);
            m_painter.restore();
        }
        m_painter.setRenderHint(QPainter::Antialiasing, false);
    }

    /// Above accesses of the selected value, below what came up.
    void paintMarks() {
        const double top = m_window.rulerHeight;
        const double upper = top + m_window.marksHeight / 4.0, lower = top + m_window.marksHeight * 3.0 / 4.0;
        paintShapes(m_scene.accesses.reads, triangle(true), ColorRole::ReadMark, upper);
        paintShapes(m_scene.accesses.writes, triangle(false), ColorRole::WriteMark, upper);
        constexpr std::array<ColorRole, Timeline::kEvents> kRoles{ColorRole::NanMark, ColorRole::InfMark,
                                                                  ColorRole::InfMark, ColorRole::MutedText};
        for (std::size_t bit = Timeline::kEvents; bit-- > 0;)
            paintShapes(m_timeline.withEvent(bit), shapeOf(bit), kRoles[bit], lower);
    }

    // --- place ----------------------------------------------------------------------------------------------------

    void paintPlace(bool hasFocus) {
        const double at = m_scene.isEnd                  ? m_timeline.length(m_window.scale)
                          : m_scene.current() == kNoItem ? 0
                                                         : m_timeline.begin(m_scene.current(), m_window.scale);
        const double x = std::round(m_window.xOf(at)) + 0.5;
        const QColor color = theme::color(ColorRole::CurrentMark);
        m_painter.setPen(QPen(color, 1));
        m_painter.drawLine(QPointF(x, m_window.rulerHeight), QPointF(x, m_window.size.height()));
        QPainterPath handle;
        handle.moveTo(x, m_window.rulerHeight + 1);
        handle.lineTo(x - 5, m_window.rulerHeight - 6);
        handle.lineTo(x - 5, m_window.rulerHeight - 11);
        handle.lineTo(x + 5, m_window.rulerHeight - 11);
        handle.lineTo(x + 5, m_window.rulerHeight - 6);
        handle.closeSubpath();
        m_painter.setRenderHint(QPainter::Antialiasing, true);
        m_painter.fillPath(handle, color);
        m_painter.setRenderHint(QPainter::Antialiasing, false);
        if (!hasFocus) return;
        m_painter.setPen(theme::color(ColorRole::FocusRing));
        m_painter.setBrush(Qt::NoBrush);
        m_painter.drawRect(QRectF(0.5, 0.5, m_window.size.width() - 1, m_window.size.height() - 1));
    }

    QPainter& m_painter;
    const TimelineScene& m_scene;
    const Timeline& m_timeline;
    const TimelineWindow& m_window;
    TimelinePainted m_painted;
};

}  // namespace

TimelinePainted paintTimeline(QPainter& painter, const TimelineScene& scene, const TimelineWindow& window,
                              bool hasFocus) {
    return Painter(painter, scene, window).paint(hasFocus);
}

}  // namespace sonde::panels
