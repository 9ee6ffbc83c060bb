#include "ui/widgets/scatter_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"

namespace sonde::widgets {

namespace {

constexpr std::size_t kMaxNamed = 32;
constexpr double kReach = 24;  ///< pixels from the pointer to a point

}  // namespace

ScatterPlot::ScatterPlot(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Scatter plot"));
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { update(); });
}

void ScatterPlot::setPoints(std::vector<QPointF> points, std::vector<QString> names) {
    m_points = std::move(points);
    m_names = std::move(names);
    m_message.clear();
    m_current = -1;
    double left = 0, right = 0, low = 0, high = 0;
    for (const QPointF& point : m_points) {
        left = std::min(left, point.x()), right = std::max(right, point.x());
        low = std::min(low, point.y()), high = std::max(high, point.y());
    }
    if (right <= left) left -= 1, right += 1;
    if (high <= low) low -= 1, high += 1;
    m_bounds = QRectF(left, low, right - left, high - low);
    setAccessibleDescription(tr("%1 points").arg(countText(static_cast<qint64>(m_points.size()))));
    update();
}

void ScatterPlot::setAxes(const QString& x, const QString& y) {
    m_x = x;
    m_y = y;
    update();
}

void ScatterPlot::setMessage(const QString& text) {
    setPoints({}, {});
    m_message = text;
    setAccessibleDescription(text);
}

void ScatterPlot::setCurrent(int index) {
    index = index >= 0 && index < static_cast<int>(m_points.size()) ? index : -1;
    if (index == m_current) return;
    m_current = index;
    if (index >= 0 && static_cast<std::size_t>(index) < m_names.size())
        setAccessibleDescription(m_names[static_cast<std::size_t>(index)]);
    update();
    Q_EMIT currentChanged(index);
}

QRectF ScatterPlot::plotRect() const {
    const QFontMetrics metrics(theme::Theme::instance().smallFont());
    const int line = metrics.height();
    return QRectF(rect()).adjusted(line + theme::kTight, theme::kSmall, -theme::kSmall, -line - theme::kTight);
}

QPointF ScatterPlot::mapped(QPointF point) const {
    // Points at the border are whole.
    const QRectF plot = plotRect().adjusted(6, 6, -6, -6);
    return {plot.left() + (point.x() - m_bounds.left()) / m_bounds.width() * plot.width(),
            plot.bottom() - (point.y() - m_bounds.top()) / m_bounds.height() * plot.height()};
}

QPointF ScatterPlot::placeOf(int index) const { return mapped(m_points[static_cast<std::size_t>(index)]); }

void ScatterPlot::paintAxes(QPainter& painter, const QRectF& plot) const {
    const QFontMetrics metrics(painter.font());
    const int line = metrics.height();
    const QPointF zero = mapped({0, 0});
    painter.setPen(theme::color(theme::ColorRole::PlotGrid));
    painter.drawRect(plot);
    painter.setPen(theme::color(theme::ColorRole::PlotAxis));
    painter.drawLine(QPointF(zero.x(), plot.top()), QPointF(zero.x(), plot.bottom()));
    painter.drawLine(QPointF(plot.left(), zero.y()), QPointF(plot.right(), zero.y()));
    painter.setPen(theme::color(theme::ColorRole::PlotLabel));
    painter.drawText(QRectF(plot.left(), plot.bottom() + 2, plot.width(), line), Qt::AlignCenter,
                     metrics.elidedText(m_x, Qt::ElideRight, static_cast<int>(plot.width())));
    painter.save();
    painter.translate(0, plot.bottom());
    painter.rotate(-90);
    painter.drawText(QRectF(0, 0, plot.height(), line), Qt::AlignCenter,
                     metrics.elidedText(m_y, Qt::ElideRight, static_cast<int>(plot.height())));
    painter.restore();
}

/// Names that would cover others, or leave the plot, are left out.
void ScatterPlot::paintNames(QPainter& painter, const QRectF& plot) const {
    const QFontMetrics metrics(painter.font());
    std::vector<QRectF> taken;
    const auto draw = [&](int index, bool always) {
        const QString text = metrics.elidedText(m_names[static_cast<std::size_t>(index)], Qt::ElideRight, 120);
        QRectF box(placeOf(index) + QPointF(6, -metrics.height() - 1),
                   QSizeF(metrics.horizontalAdvance(text) + 4, metrics.height()));
        if (box.right() > plot.right()) box.moveRight(placeOf(index).x() - 6);
        if (box.top() < plot.top()) box.moveTop(plot.top());
        const bool isFree = std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(box); });
        if (!isFree && !always) return;
        taken.push_back(box);
        if (always) painter.fillRect(box, theme::color(theme::ColorRole::ToolTip));
        painter.setPen(theme::color(always ? theme::ColorRole::ToolTipText : theme::ColorRole::PlotLabel));
        painter.drawText(box, Qt::AlignCenter, text);
    };
    if (m_current >= 0) draw(m_current, true);
    if (m_points.size() <= kMaxNamed)
        for (int i = 0; i < static_cast<int>(m_points.size()); ++i)
            if (i != m_current) draw(i, false);
}

void ScatterPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme::color(theme::ColorRole::PlotBackground));
    painter.setFont(theme::Theme::instance().smallFont());
    const QRectF plot = plotRect();
    if (!m_message.isEmpty()) {
        painter.setPen(theme::color(theme::ColorRole::PlotLabel));
        painter.drawText(rect().adjusted(theme::kSmall, theme::kSmall, -theme::kSmall, -theme::kSmall),
                         Qt::AlignCenter | Qt::TextWordWrap, m_message);
    } else if (!m_points.empty()) {
        paintAxes(painter, plot);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme::color(theme::ColorRole::PlotBackground), 0.8));
        painter.setBrush(theme::color(theme::ColorRole::PlotBar));
        const double radius = m_points.size() > 300 ? 2.5 : 3.5;
        for (int i = 0; i < static_cast<int>(m_points.size()); ++i)
            if (i != m_current) painter.drawEllipse(placeOf(i), radius, radius);
        if (m_current >= 0) {
            painter.setPen(QPen(theme::color(theme::ColorRole::Canvas), 1.5));
            painter.setBrush(theme::color(theme::ColorRole::SelectionOutline));
            painter.drawEllipse(placeOf(m_current), radius + 2, radius + 2);
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
        if (m_names.size() == m_points.size()) paintNames(painter, plot);
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(theme::color(theme::ColorRole::FocusRing));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void ScatterPlot::mouseMoveEvent(QMouseEvent* event) {
    int nearest = -1;
    double distance = kReach;
    for (int i = 0; i < static_cast<int>(m_points.size()); ++i) {
        const QPointF apart = placeOf(i) - event->position();
        if (const double length = std::hypot(apart.x(), apart.y()); length < distance) {
            distance = length;
            nearest = i;
        }
    }
    setCurrent(nearest);
}

void ScatterPlot::leaveEvent(QEvent*) { setCurrent(-1); }

void ScatterPlot::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_points.size()) - 1;
    switch (event->key()) {
        case Qt::Key_Left: setCurrent(m_current > 0 ? m_current - 1 : last); break;
        case Qt::Key_Right: setCurrent(m_current < last ? m_current + 1 : 0); break;
        case Qt::Key_Home: setCurrent(0); break;
        case Qt::Key_End: setCurrent(last); break;
        default: QWidget::keyPressEvent(event);
    }
}

}  // namespace sonde::widgets
