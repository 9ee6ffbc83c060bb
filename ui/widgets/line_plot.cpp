#include "ui/widgets/line_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/widgets/color_bar.h"
#include "ui/widgets/number_text.h"

namespace sonde::widgets {
namespace {

constexpr qint64 kMaxRows = 32;
constexpr qint64 kMaxLongRows = 8;  ///< where each pixel has several numbers
/// Numbers read for one pixel of one line; of more, every n-th is read.
constexpr qint64 kMaxPerPixel = 64;
/// Lines of more points are drawn a pixel wide, without smoothing: to smooth steep lines takes Qt the square of their
/// count.
constexpr qint64 kMaxSmooth = 256;

constexpr float kFaint = 0.35F;  ///< how much rows that are not current are seen

QColor mixed(const QColor& a, const QColor& b, float part) {
    const auto mix = [part](float x, float y) { return x * part + y * (1 - part); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

}  // namespace

LinePlot::LinePlot(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Line plot"));
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { update(); });
}

void LinePlot::setField(qint64 rows, qint64 columns, Field at) {
    m_rows = std::max<qint64>(rows, 0);
    m_columns = std::max<qint64>(columns, 0);
    m_at = std::move(at);
    m_row = std::clamp<qint64>(m_row, 0, std::max<qint64>(m_rows - 1, 0));
    if (m_column >= m_columns) m_column = -1;
    setAccessibleDescription(tr("%1 rows, %2 columns").arg(countText(m_rows), countText(m_columns)));
    update();
}

void LinePlot::setScale(const ValueScale& scale) {
    m_scale = scale;
    update();
}

void LinePlot::setCursorCell(qint64 row, qint64 column) {
    if (m_rows == 0 || m_columns == 0) return;
    m_row = std::clamp<qint64>(row, 0, m_rows - 1);
    m_column = std::clamp<qint64>(column, -1, m_columns - 1);
    const double value = m_column >= 0 ? m_at(m_row, m_column) : std::nan("");
    if (m_column >= 0)
        setAccessibleDescription(tr("row %1, column %2: %3").arg(m_row).arg(m_column).arg(numberText(value)));
    update();
    Q_EMIT cellHovered(m_column >= 0 ? m_row : -1, m_column, value);
}

QRectF LinePlot::plotRect() const {
    const int line = fontMetrics().height();
    const int labels = fontMetrics().horizontalAdvance(QStringLiteral("-0.000e-00"));
    return QRectF(rect()).adjusted(labels + theme::kSmall, line / 2.0 + 2, -theme::kSmall, -line - theme::kTight);
}

double LinePlot::yOf(double value) const {
    const QRectF plot = plotRect();
    return plot.bottom() - std::clamp(m_scale.toUnit(value), -0.02, 1.02) * plot.height();
}

QPolygonF LinePlot::lineOf(qint64 row, const QRectF& plot) const {
    QPolygonF line;
    const auto x = [&](double column) {
        return m_columns < 2 ? plot.center().x()
                             : plot.left() + column / static_cast<double>(m_columns - 1) * plot.width();
    };
    const auto pixels = static_cast<qint64>(std::max(1.0, plot.width()));
    if (m_columns <= 2 * pixels) {
        for (qint64 column = 0; column < m_columns; ++column) {
            const double value = m_at(row, column);
            // A gap is drawn as such by the caller: the polygon is cut at numbers that are none.
            line << QPointF(x(static_cast<double>(column)), std::isfinite(value) ? yOf(value) : std::nan(""));
        }
        return line;
    }
    // Smallest and largest of what falls on a pixel: peaks stay.
    for (qint64 pixel = 0; pixel < pixels; ++pixel) {
        const qint64 from = pixel * m_columns / pixels, to = std::max(from + 1, (pixel + 1) * m_columns / pixels);
        const qint64 step = std::max<qint64>(1, (to - from) / kMaxPerPixel);
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (qint64 column = from; column < to; column += step) {
            const double value = m_at(row, column);
            if (!std::isfinite(value)) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        const double at = plot.left() + static_cast<double>(pixel);
        if (low > high) line << QPointF(at, std::nan(""));
        else line << QPointF(at, yOf(low)) << QPointF(at, yOf(high));
    }
    return line;
}

void LinePlot::paintAxes(QPainter& painter, const QRectF& plot) const {
    const int line = fontMetrics().height();
    for (double value : ColorBar::ticks(m_scale, static_cast<int>(plot.height()), line)) {
        const double y = yOf(value);
        painter.setPen(theme::color(value == 0.0 ? theme::ColorRole::PlotAxis : theme::ColorRole::PlotGrid));
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        painter.setPen(theme::color(theme::ColorRole::PlotLabel));
        painter.drawText(QRectF(0, y - line / 2.0, plot.left() - int{theme::kTight}, line),
                         Qt::AlignRight | Qt::AlignVCenter, numberText(value, 4));
    }
    const QRectF labels(plot.left(), plot.bottom() + 2, plot.width(), line);
    const QString last = QString::number(std::max<qint64>(m_columns - 1, 0));
    painter.drawText(labels, Qt::AlignLeft, QStringLiteral("0"));
    painter.drawText(labels, Qt::AlignRight, last);
    if (m_rows < 2) return;
    // In the middle, if it does not run into the last column.
    const double free = labels.width() - 2.0 * (fontMetrics().horizontalAdvance(last) + int{theme::kSmall});
    for (const QString& row : {tr("row %1 of %2").arg(m_row).arg(countText(m_rows)), tr("row %1").arg(m_row)}) {
        if (fontMetrics().horizontalAdvance(row) > free) continue;
        painter.drawText(labels, Qt::AlignHCenter, row);
        return;
    }
}

bool LinePlot::hasFinite(qint64 row) const {
    // Of very many every n-th is looked at, as they are drawn.
    const qint64 step = std::max<qint64>(1, m_columns / (kMaxPerPixel * std::max(1, width())));
    for (qint64 column = 0; column < m_columns; column += step)
        if (std::isfinite(m_at(row, column))) return true;
    return false;
}

void LinePlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme::color(theme::ColorRole::PlotBackground));
    const QRectF plot = plotRect();
    if (m_rows > 0 && m_columns > 0 && m_at) {
        paintAxes(painter, plot);
        const bool isSmooth = m_columns <= kMaxSmooth;
        const auto draw = [&](qint64 row, QPen pen) {
            if (!isSmooth) pen.setWidthF(1);
            painter.setRenderHint(QPainter::Antialiasing, isSmooth);
            painter.setPen(pen);
            QPolygonF piece;
            const auto flush = [&] {
                if (piece.size() == 1) painter.drawEllipse(piece.first(), 1.5, 1.5);
                if (piece.size() > 1) painter.drawPolyline(piece);
                piece.clear();
            };
            for (const QPointF& point : lineOf(row, plot)) {
                if (std::isnan(point.y())) flush();
                else piece << point;
            }
            flush();
        };
        QColor faint = theme::color(theme::ColorRole::PlotBar);
        if (isSmooth) faint.setAlphaF(kFaint);
        else faint = mixed(faint, theme::color(theme::ColorRole::PlotBackground), kFaint);  // opaque: 10 times as quick
        const qint64 most = static_cast<double>(m_columns) > 2 * plot.width() ? kMaxLongRows : kMaxRows;
        const qint64 first = std::clamp<qint64>(m_row - most / 2, 0, std::max<qint64>(0, m_rows - most));
        for (qint64 row = first; row < std::min(m_rows, first + most); ++row)
            if (row != m_row) draw(row, QPen(faint, 1));
        draw(m_row, QPen(theme::color(theme::ColorRole::PlotBarHover), 1.4));
        if (!hasFinite(m_row)) {
            painter.setPen(theme::color(theme::ColorRole::PlotLabel));
            painter.drawText(plot, Qt::AlignCenter | Qt::TextWordWrap,
                             m_rows > 1 ? tr("no finite elements in row %1").arg(m_row) : tr("no finite elements"));
        }
        painter.setRenderHint(QPainter::Antialiasing);
        if (m_column >= 0) {
            const double value = m_at(m_row, m_column);
            const double x = m_columns < 2 ? plot.center().x()
                                           : plot.left() + static_cast<double>(m_column) /
                                                               static_cast<double>(m_columns - 1) * plot.width();
            painter.setPen(QPen(theme::color(theme::ColorRole::PlotAxis), 1, Qt::DotLine));
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
            painter.setPen(QPen(theme::color(theme::ColorRole::Canvas), 1.5));
            painter.setBrush(theme::color(theme::ColorRole::SelectionOutline));
            if (std::isfinite(value)) painter.drawEllipse(QPointF(x, yOf(value)), 4, 4);
        }
    }
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(theme::color(theme::ColorRole::FocusRing));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void LinePlot::mouseMoveEvent(QMouseEvent* event) {
    const QRectF plot = plotRect();
    const double at = (event->position().x() - plot.left()) / std::max(1.0, plot.width());
    if (at < -0.01 || at > 1.01) return setCursorCell(m_row, -1);
    setCursorCell(m_row, static_cast<qint64>(std::lround(std::clamp(at, 0.0, 1.0) *
                                                         static_cast<double>(std::max<qint64>(m_columns - 1, 0)))));
}

void LinePlot::leaveEvent(QEvent*) { setCursorCell(m_row, -1); }

void LinePlot::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left: setCursorCell(m_row, std::max<qint64>(m_column - 1, 0)); break;
        case Qt::Key_Right: setCursorCell(m_row, m_column + 1); break;
        case Qt::Key_Up: setCursorCell(m_row - 1, m_column); break;
        case Qt::Key_Down: setCursorCell(m_row + 1, m_column); break;
        case Qt::Key_Home: setCursorCell(m_row, 0); break;
        case Qt::Key_End: setCursorCell(m_row, m_columns - 1); break;
        default: QWidget::keyPressEvent(event);
    }
}

}  // namespace sonde::widgets
