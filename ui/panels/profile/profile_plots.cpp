#include "ui/panels/profile/profile_plots.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/models/short_text.h"
#include "ui/panels/profile/profile_table_model.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

using analysis::MemoryPoint;
using theme::ColorRole;

ProfilePlot::ProfilePlot(const QString& name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(name);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, qOverload<>(&QWidget::update));
}

void ProfilePlot::setProfile(std::shared_ptr<const analysis::RunProfile> profile) {
    m_profile = std::move(profile);
    m_selected = {};
    update();
}

void ProfilePlot::setSelected(graph::ExprId expr) {
    m_selected = expr;
    update();
}

QRectF ProfilePlot::plotRect() const {
    const QFontMetricsF metrics(theme::Theme::instance().smallFont());
    const double left = metrics.horizontalAdvance(QStringLiteral("000.0 GFLOP/s")) + double(theme::kSmall);
    return QRectF(rect()).adjusted(left, theme::kSmall, -theme::kMedium, -metrics.height() - double(theme::kSmall));
}

/// Of the axis at the left the text ends at `at`; below it is in the middle.
void ProfilePlot::paintTick(QPainter& painter, QPointF at, const QString& text, bool isBelow) const {
    const QFontMetricsF metrics(painter.font());
    const double width = metrics.horizontalAdvance(text);
    painter.setPen(theme::color(ColorRole::PlotLabel));
    if (isBelow) {
        // Not below the texts at the left, where the axes meet; whole at the right.
        const double from = plotRect().left(), to = this->width() - width - double(theme::kTight);
        const double x = std::clamp(at.x() - width / 2, from, std::max(from, to));
        painter.drawText(QPointF(x, at.y() + metrics.ascent() + 3), text);
    } else {
        painter.drawText(QPointF(at.x() - width - double(theme::kTight), at.y() + metrics.ascent() / 2 - 1), text);
    }
}

bool ProfilePlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && m_profile) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString facts = factsAt(help->pos());
        if (facts.isEmpty()) QToolTip::hideText();
        else QToolTip::showText(help->globalPos(), facts, this);
        return true;
    }
    return QWidget::event(event);
}

void ProfilePlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_profile) return QWidget::mousePressEvent(event);
    if (const graph::ExprId expr = exprAt(event->position()); expr.valid()) Q_EMIT chosen(expr);
    else if (const graph::ScopeId call = scopeAt(event->position()); call.valid()) Q_EMIT moduleChosen(call);
}

void ProfilePlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(theme::Theme::instance().smallFont());
    painter.fillRect(rect(), theme::color(ColorRole::PlotBackground));
    if (m_profile) paint(painter);
}

// --- memory ---------------------------------------------------------------------------------------------------------

double MemoryPlot::xOf(std::int64_t ns) const {
    const QRectF plot = plotRect();
    return plot.left() + plot.width() * double(ns) / double(std::max<std::int64_t>(1, m_profile->totalNs));
}
std::int64_t MemoryPlot::nsOf(double x) const {
    const QRectF plot = plotRect();
    return static_cast<std::int64_t>((x - plot.left()) / std::max(1.0, plot.width()) * double(m_profile->totalNs));
}
double MemoryPlot::yOf(double bytes) const {
    const QRectF plot = plotRect();
    const double most = std::max<double>(1, double(m_profile->memory.peak.total())) * 1.08;
    return plot.bottom() - plot.height() * bytes / most;
}

QPointF MemoryPlot::positionOf(graph::ExprId expr) const {
    const analysis::ProfiledExpr* const entry = m_profile ? m_profile->of(expr) : nullptr;
    return entry ? QPointF(xOf((entry->startNs + entry->endNs) / 2), plotRect().center().y()) : QPointF();
}

/// The innermost operation that ran then, or the last one before.
graph::ExprId MemoryPlot::exprAt(QPointF pixel) const {
    graph::ExprId found;
    const std::int64_t ns = nsOf(pixel.x());
    for (const analysis::ProfileSpan& span : m_profile->spans) {
        if (span.beginNs > ns) break;
        if (span.expr.valid()) found = span.expr;
    }
    return found;
}

QString MemoryPlot::factsAt(QPointF pixel) const {
    const auto& curve = m_profile->memory.curve;
    const std::int64_t ns = nsOf(pixel.x());
    auto at = std::upper_bound(curve.begin(), curve.end(), ns,
                               [](std::int64_t time, const MemoryPoint& point) { return time < point.atNs; });
    if (at == curve.begin()) return {};
    const MemoryPoint& point = *--at;
    using base::MemoryKind;
    const auto line = [](const QString& what, std::int64_t bytes) {
        return bytes > 0 ? QStringLiteral("\n%1  %2").arg(profileBytesText(double(bytes)), what) : QString();
    };
    return tr("%1 at %2").arg(profileBytesText(double(point.total())), profileTimeText(double(point.atNs))) +
           tr(" = Σ of:") + line(tr("values"), point.of(MemoryKind::Value) + point.of(MemoryKind::Lease)) +
           line(tr("free blocks, kept for values to come"), point.unused()) +
           line(tr("packed weights"), point.of(MemoryKind::Packed)) +
           line(tr("working memory of kernels"), point.of(MemoryKind::Scratch)) +
           line(tr("stored weights read"), point.of(MemoryKind::Weights)) + QLatin1Char('\n') +
           models::shown(m_profile->nameOf(exprAt(pixel)));
}

void MemoryPlot::paint(QPainter& painter) {
    const QRectF plot = plotRect();
    const auto& memory = m_profile->memory;
    for (int i = 0; i <= 2; ++i) {
        const double bytes = double(memory.peak.total()) * i / 2;
        painter.setPen(theme::color(ColorRole::PlotGrid));
        painter.drawLine(QPointF(plot.left(), yOf(bytes)), QPointF(plot.right(), yOf(bytes)));
        paintTick(painter, QPointF(plot.left(), yOf(bytes)), profileBytesText(bytes), false);
        const double ns = double(m_profile->totalNs) * i / 2;
        paintTick(painter, QPointF(xOf(std::int64_t(ns)), plot.bottom()), profileTimeText(ns), true);
    }
    const auto area = [&](const auto& bytesOf, ColorRole role) {
        QPolygonF line{QPointF(plot.left(), plot.bottom())};
        double last = plot.bottom();
        for (const MemoryPoint& point : memory.curve) {
            line << QPointF(xOf(point.atNs), last);
            last = yOf(double(bytesOf(point)));
            line << QPointF(xOf(point.atNs), last);
        }
        line << QPointF(plot.right(), last) << QPointF(plot.right(), plot.bottom());
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme::color(role));
        painter.drawPolygon(line);
    };
    area([](const MemoryPoint& point) { return point.total(); }, ColorRole::PlotGrid);
    area([](const MemoryPoint& point) { return point.of(base::MemoryKind::Value) + point.of(base::MemoryKind::Lease); },
         ColorRole::PlotBar);
    const QPointF peak(xOf(memory.peak.atNs), yOf(double(memory.peak.total())));
    painter.setPen(QPen(theme::color(ColorRole::CurrentMark), 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawLine(QPointF(peak.x(), plot.bottom()), peak);
    painter.drawEllipse(peak, 3.5, 3.5);
    if (const analysis::ProfiledExpr* const entry = m_profile->of(m_selected)) {
        painter.setPen(QPen(theme::color(ColorRole::SelectionOutline), 2));
        const double left = xOf(entry->startNs), right = std::max(left + 2, xOf(entry->endNs));
        painter.drawRect(QRectF(QPointF(left, plot.top()), QPointF(right, plot.bottom())));
    }
}

// --- roofline -------------------------------------------------------------------------------------------------------

void RooflinePlot::setProfile(std::shared_ptr<const analysis::RunProfile> profile) {
    ProfilePlot::setProfile(std::move(profile));
    m_points.clear();
    if (!m_profile) return;
    double lowX = 1e9, highX = 0.1, lowY = 1e15, highY = 1e6;
    for (const analysis::ProfiledExpr& entry : m_profile->exprs) {
        const auto intensity = entry.cost.intensity();
        const auto rate = entry.cost.flopRate(entry.selfNs);
        const bool isOwner = !m_profile->graph->expr(entry.expr).bodies.empty();
        if (isOwner || !intensity || !rate || *intensity <= 0 || *rate <= 0) continue;
        m_points.push_back({entry.expr, *intensity, *rate,
                            double(entry.selfNs) / double(std::max<std::int64_t>(1, m_profile->totalNs))});
        lowX = std::min(lowX, *intensity), highX = std::max(highX, *intensity);
        lowY = std::min(lowY, *rate), highY = std::max(highY, *rate);
    }
    // The heavy ones above the others.
    std::ranges::stable_sort(m_points, {}, &Point::share);
    if (m_profile->limits) {
        highX = std::max(highX, m_profile->limits->ridge());
        highY = std::max(highY, m_profile->limits->flopsPerSecond);
    }
    m_fromX = std::floor(std::log10(std::min(lowX, highX))), m_toX = std::ceil(std::log10(highX) + 0.2);
    m_fromY = std::floor(std::log10(std::min(lowY, highY))), m_toY = std::ceil(std::log10(highY) + 0.1);
}

QPointF RooflinePlot::pixelOf(double intensity, double flopRate) const {
    const QRectF plot = plotRect();
    return {plot.left() + plot.width() * (std::log10(intensity) - m_fromX) / std::max(1e-9, m_toX - m_fromX),
            plot.bottom() - plot.height() * (std::log10(flopRate) - m_fromY) / std::max(1e-9, m_toY - m_fromY)};
}

QPointF RooflinePlot::positionOf(graph::ExprId expr) const {
    const auto found = std::ranges::find(m_points, expr, &Point::expr);
    return found == m_points.end() ? QPointF() : pixelOf(found->intensity, found->flopRate);
}

graph::ExprId RooflinePlot::exprAt(QPointF pixel) const {
    graph::ExprId nearest;
    double least = 12;  // pixels: no farther
    for (const Point& point : m_points) {
        const QPointF away = pixelOf(point.intensity, point.flopRate) - pixel;
        const double distance = std::hypot(away.x(), away.y());
        if (distance > least) continue;
        least = distance;
        nearest = point.expr;
    }
    return nearest;
}

QString RooflinePlot::factsAt(QPointF pixel) const {
    const graph::ExprId expr = exprAt(pixel);
    const auto found = std::ranges::find(m_points, expr, &Point::expr);
    if (found == m_points.end()) {
        if (!m_profile->limits) return {};
        return tr("This machine reaches %1 (a matrix product) and %2 (reading and writing)")
            .arg(profileRateText(m_profile->limits->flopsPerSecond, QStringLiteral("FLOP")),
                 profileRateText(m_profile->limits->bytesPerSecond, QStringLiteral("B")));
    }
    QString text =
        tr("%1\n%2 = FLOPs / time\n%3 FLOPs by byte = FLOPs / (bytes read + bytes written)\n%4 % of the run")
            .arg(models::shown(m_profile->nameOf(expr)), profileRateText(found->flopRate, QStringLiteral("FLOP")))
            .arg(found->intensity, 0, 'f', 2)
            .arg(100 * found->share, 0, 'f', 1);
    if (m_profile->limits && m_profile->limits->at(found->intensity) > 0)
        text += tr("\n%1 % of what this machine reaches there")
                    .arg(100 * found->flopRate / m_profile->limits->at(found->intensity), 0, 'f', 0);
    return text;
}

/// A power of ten of FLOPs by second: "100 MFLOP/s".
static QString powerRateText(int power) {
    constexpr std::array kUnits{"", "k", "M", "G", "T"};
    const int unit = std::clamp(power / 3, 0, static_cast<int>(kUnits.size()) - 1);
    return QStringLiteral("%1 %2FLOP/s")
        .arg(QString::number(std::pow(10, power - 3 * unit), 'g', 6),
             QLatin1String(kUnits[static_cast<std::size_t>(unit)]));
}

void RooflinePlot::paint(QPainter& painter) {
    const QRectF plot = plotRect();
    painter.setRenderHint(QPainter::Antialiasing, true);
    const int everyX = std::max(1, int(std::ceil((m_toX - m_fromX) / 8)));
    for (double power = m_fromX; power <= m_toX; power += everyX) {
        const double x = pixelOf(std::pow(10, power), std::pow(10, m_fromY)).x();
        painter.setPen(theme::color(ColorRole::PlotGrid));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        const QString unit = power == m_fromX ? tr(" FLOPs/byte") : QString();
        paintTick(painter, QPointF(x, plot.bottom()), QString::number(std::pow(10, power), 'g', 6) + unit, true);
    }
    const int everyY = std::max(1, int(std::ceil((m_toY - m_fromY) / 5)));
    for (double power = m_fromY; power <= m_toY; power += everyY) {
        const double y = pixelOf(std::pow(10, m_fromX), std::pow(10, power)).y();
        painter.setPen(theme::color(ColorRole::PlotGrid));
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        paintTick(painter, QPointF(plot.left(), y), powerRateText(static_cast<int>(power)), false);
    }
    painter.setClipRect(plot.adjusted(-6, -6, 6, 6));
    if (m_profile->limits && m_profile->limits->bytesPerSecond > 0) {
        const analysis::MachineLimits& limits = *m_profile->limits;
        const double from = std::pow(10, m_fromX), to = std::pow(10, m_toX);
        painter.setPen(QPen(theme::color(ColorRole::PlotAxis), 2));
        painter.drawPolyline(QPolygonF{pixelOf(from, limits.at(from)), pixelOf(limits.ridge(), limits.flopsPerSecond),
                                       pixelOf(std::max(to, limits.ridge()), limits.flopsPerSecond)});
    }
    for (const Point& point : m_points) {
        const bool isSelected = point.expr == m_selected;
        const double radius = 2.5 + 8 * std::sqrt(point.share);
        painter.setPen(QPen(theme::color(isSelected ? ColorRole::SelectionOutline : ColorRole::PlotBackground),
                            isSelected ? 2.5 : 1));
        painter.setBrush(theme::color(ColorRole::PlotBar));
        painter.drawEllipse(pixelOf(point.intensity, point.flopRate), radius, radius);
    }
}

// --- spans ----------------------------------------------------------------------------------------------------------

void SpanPlot::setProfile(std::shared_ptr<const analysis::RunProfile> profile) {
    ProfilePlot::setProfile(std::move(profile));
    m_rows = 1;
    if (!m_profile) return;
    for (const analysis::ProfileSpan& span : m_profile->spans) m_rows = std::max(m_rows, span.depth + 1);
    m_fromNs = 0;
    m_toNs = double(std::max<std::int64_t>(1, m_profile->totalNs));
}

QRectF SpanPlot::plotRect() const {
    const QFontMetricsF metrics(theme::Theme::instance().smallFont());
    return QRectF(rect()).adjusted(0, 0, 0, -metrics.height() - double(theme::kTight));
}

QRectF SpanPlot::rectOf(const analysis::ProfileSpan& span) const {
    const double height = plotRect().height() / m_rows;
    const auto x = [this](double ns) { return (ns - m_fromNs) / (m_toNs - m_fromNs) * width(); };
    const double left = x(double(span.beginNs));
    return {left, span.depth * std::min(height, 22.0), std::max(1.0, x(double(span.endNs)) - left),
            std::min(height, 22.0)};
}

const analysis::ProfileSpan* SpanPlot::spanAt(QPointF pixel) const {
    const analysis::ProfileSpan* found = nullptr;
    for (const analysis::ProfileSpan& span : m_profile->spans) {
        const QRectF rect = rectOf(span);
        if (rect.left() > pixel.x()) break;
        if (rect.contains(pixel)) found = &span;
    }
    return found;
}

QPointF SpanPlot::positionOf(graph::ExprId expr) const {
    if (!m_profile) return {};
    const auto found = std::ranges::find(m_profile->spans, expr, &analysis::ProfileSpan::expr);
    return found == m_profile->spans.end() ? QPointF() : rectOf(*found).center();
}

graph::ExprId SpanPlot::exprAt(QPointF pixel) const {
    const analysis::ProfileSpan* const span = spanAt(pixel);
    return span ? span->expr : graph::ExprId();
}

graph::ScopeId SpanPlot::scopeAt(QPointF pixel) const {
    const analysis::ProfileSpan* const span = spanAt(pixel);
    return span && !span->expr.valid() ? span->scope : graph::ScopeId();
}

QString SpanPlot::factsAt(QPointF pixel) const {
    const analysis::ProfileSpan* const span = spanAt(pixel);
    if (!span) return {};
    const QString name = span->expr.valid() ? models::shown(m_profile->nameOf(span->expr))
                                            : models::shown(m_profile->graph->scope(span->scope).qualname);
    return tr("%1\n%2 = end %3 − begin %4\nClick to select it, double-click to zoom")
        .arg(name, profileTimeText(double(span->endNs - span->beginNs)), profileTimeText(double(span->endNs)),
             profileTimeText(double(span->beginNs)));
}

void SpanPlot::paint(QPainter& painter) {
    const QFontMetricsF metrics(painter.font());
    std::vector<double> drawnTo(m_rows, -1);  // bars that would fall together are one
    for (const analysis::ProfileSpan& span : m_profile->spans) {
        const QRectF rect = rectOf(span);
        if (rect.left() > width()) break;
        if (rect.right() < 0 || rect.right() <= drawnTo[span.depth] + 0.5) continue;
        drawnTo[span.depth] = rect.right();
        const bool isModule = !span.expr.valid();
        const bool isSelected = span.expr.valid() && span.expr == m_selected;
        painter.fillRect(rect.adjusted(0, 1, rect.width() > 3 ? -1 : 0, -1),
                         isModule ? theme::moduleFill(int(span.depth)) : theme::color(ColorRole::PlotBar));
        if (isSelected) {
            painter.setPen(QPen(theme::color(ColorRole::SelectionOutline), 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(rect.adjusted(1, 1, -1, -1));
        }
        const QRectF inside = rect.intersected(QRectF(this->rect())).adjusted(3, 0, -3, 0);
        if (!isModule || inside.width() < 40) continue;
        painter.setPen(theme::color(ColorRole::ModuleTitle));
        const QString name = models::shown(m_profile->graph->scope(span.scope).qualname);
        painter.drawText(inside, Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(name, Qt::ElideMiddle, inside.width()));
    }
    const QRectF plot = plotRect();
    paintTick(painter, plot.bottomLeft(), profileTimeText(m_fromNs), true);
    paintTick(painter, plot.bottomRight(), profileTimeText(m_toNs), true);
}

void SpanPlot::wheelEvent(QWheelEvent* event) {
    if (!m_profile) return;
    const double all = double(std::max<std::int64_t>(1, m_profile->totalNs));
    const double at = m_fromNs + (m_toNs - m_fromNs) * event->position().x() / std::max(1, width());
    const double factor = std::pow(0.9985, event->angleDelta().y());
    const double length = std::clamp((m_toNs - m_fromNs) * factor, 1000.0, all);
    m_fromNs = std::clamp(at - length * event->position().x() / std::max(1, width()), 0.0, all - length);
    m_toNs = m_fromNs + length;
    event->accept();
    update();
}

/// Zooms to the bar, or to the whole run where there is none.
void SpanPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (!m_profile) return;
    const analysis::ProfileSpan* const span = spanAt(event->position());
    m_fromNs = span ? double(span->beginNs) : 0;
    m_toNs = span ? double(std::max(span->endNs, span->beginNs + 1000)) : double(m_profile->totalNs);
    update();
}

}  // namespace sonde::panels
