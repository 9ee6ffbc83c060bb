#include "ui/widgets/histogram_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"

namespace sonde::widgets {

HistogramPlot::HistogramPlot(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Histogram"));
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { update(); });
}

void HistogramPlot::setData(HistogramData data) {
    m_data = std::move(data);
    m_most = m_data.counts.empty() ? 0 : *std::max_element(m_data.counts.begin(), m_data.counts.end());
    m_total = std::accumulate(m_data.counts.begin(), m_data.counts.end(), quint64{0});
    m_current = -1;
    setAccessibleDescription(
        tr("%1 bins from %2 to %3").arg(m_data.counts.size()).arg(numberText(m_data.low), numberText(m_data.high)));
    update();
}

void HistogramPlot::setLogarithmic(bool logarithmic) {
    m_logarithmic = logarithmic;
    update();
}

void HistogramPlot::setRange(std::optional<std::pair<double, double>> range) {
    m_range = range;
    update();
}

void HistogramPlot::setCurrentBin(int bin) {
    bin = std::clamp(bin, -1, static_cast<int>(m_data.counts.size()) - 1);
    if (bin == m_current) return;
    m_current = bin;
    if (bin >= 0) setAccessibleDescription(readOut());
    update();
    Q_EMIT currentBinChanged(bin);
}

QString HistogramPlot::readOut() const {
    if (m_current < 0) return {};
    const double step = (m_data.high - m_data.low) / static_cast<double>(m_data.counts.size());
    const quint64 count = m_data.counts[static_cast<std::size_t>(m_current)];
    const double share = m_total > 0 ? 100.0 * static_cast<double>(count) / static_cast<double>(m_total) : 0.0;
    return QStringLiteral("%1 … %2: %3 (%4 %)")
        .arg(numberText(m_data.low + m_current * step, 4), numberText(m_data.low + (m_current + 1) * step, 4),
             countText(static_cast<qint64>(count)), QString::number(share, 'f', 1));
}

QRectF HistogramPlot::plotRect() const {
    const int line = fontMetrics().height();
    return QRectF(rect()).adjusted(theme::kSmall, line + theme::kTight, -theme::kSmall, -line - theme::kTight);
}

double HistogramPlot::barHeight(quint64 count) const {
    if (m_most == 0 || count == 0) return 0.0;
    const double n = static_cast<double>(count), most = static_cast<double>(m_most);
    return m_logarithmic ? std::log1p(n) / std::log1p(most) : n / most;
}

void HistogramPlot::paintAxis(QPainter& painter, const QRectF& plot) const {
    painter.setPen(theme::color(theme::ColorRole::PlotAxis));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
    painter.setPen(theme::color(theme::ColorRole::PlotLabel));
    const QRectF labels(plot.left(), plot.bottom() + 2, plot.width(), fontMetrics().height());
    const QString low = numberText(m_data.low, 4), high = numberText(m_data.high, 4);
    painter.drawText(labels, Qt::AlignLeft, low);
    painter.drawText(labels, Qt::AlignRight, high);
    const double span = m_data.high - m_data.low;
    if (m_data.low < 0 && m_data.high > 0 && span > 0) {
        const double x = plot.left() - m_data.low / span * plot.width();
        painter.setPen(QPen(theme::color(theme::ColorRole::PlotAxis), 1, Qt::DotLine));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        const double room = fontMetrics().horizontalAdvance(QLatin1Char('0')) * 2;
        if (x - plot.left() > fontMetrics().horizontalAdvance(low) + room &&
            plot.right() - x > fontMetrics().horizontalAdvance(high) + room) {
            painter.setPen(theme::color(theme::ColorRole::PlotLabel));
            painter.drawText(QRectF(x - 20, labels.top(), 40, labels.height()), Qt::AlignHCenter, QStringLiteral("0"));
        }
    }
    const QString top = m_current >= 0 ? readOut() : tr("peak: %1").arg(countText(static_cast<qint64>(m_most)));
    painter.setPen(theme::color(m_current >= 0 ? theme::ColorRole::Text : theme::ColorRole::PlotLabel));
    painter.drawText(QRectF(plot.left(), 0, plot.width(), plot.top()), Qt::AlignLeft | Qt::AlignVCenter, top);
}

void HistogramPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme::color(theme::ColorRole::PlotBackground));
    const QRectF plot = plotRect();
    if (m_data.counts.empty()) {
        painter.setPen(theme::color(theme::ColorRole::PlotLabel));
        painter.drawText(rect(), Qt::AlignCenter, tr("no finite elements"));
        return;
    }
    painter.setPen(theme::color(theme::ColorRole::PlotGrid));
    for (double part : {0.25, 0.5, 0.75, 1.0})
        painter.drawLine(QPointF(plot.left(), plot.bottom() - part * plot.height()),
                         QPointF(plot.right(), plot.bottom() - part * plot.height()));
    const int bins = static_cast<int>(m_data.counts.size());
    for (int i = 0; i < bins; ++i) {
        const double height = barHeight(m_data.counts[static_cast<std::size_t>(i)]) * plot.height();
        if (height <= 0) continue;
        // Whole pixels: bars of one width would show the raster's beat as a pattern that the data does not have.
        const double left = std::round(plot.left() + plot.width() * i / bins);
        const double right = std::round(plot.left() + plot.width() * (i + 1) / bins);
        const double gap = right - left > 4 ? 1 : 0;
        painter.fillRect(QRectF(left, plot.bottom() - std::max(height, 1.0), std::max(1.0, right - left - gap),
                                std::max(height, 1.0)),
                         theme::color(i == m_current ? theme::ColorRole::PlotBarHover : theme::ColorRole::PlotBar));
    }
    const double span = m_data.high - m_data.low;
    if (m_range && span > 0) {
        painter.setPen(QPen(theme::color(theme::ColorRole::EdgeHighlight), 1, Qt::DashLine));
        for (double value : {m_range->first, m_range->second}) {
            const double x = plot.left() + (value - m_data.low) / span * plot.width();
            if (x >= plot.left() && x <= plot.right())
                painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        }
    }
    paintAxis(painter, plot);
    if (hasFocus()) {
        painter.setPen(theme::color(theme::ColorRole::FocusRing));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void HistogramPlot::mouseMoveEvent(QMouseEvent* event) {
    const QRectF plot = plotRect();
    const double at = (event->position().x() - plot.left()) / plot.width();
    const int bins = static_cast<int>(m_data.counts.size());
    setCurrentBin(at >= 0 && at < 1 ? static_cast<int>(at * bins) : -1);
}

void HistogramPlot::leaveEvent(QEvent*) { setCurrentBin(-1); }

void HistogramPlot::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_data.counts.size()) - 1;
    switch (event->key()) {
        case Qt::Key_Left: setCurrentBin(std::max(m_current - 1, 0)); break;
        case Qt::Key_Right: setCurrentBin(std::min(m_current + 1, last)); break;
        case Qt::Key_Home: setCurrentBin(std::min(0, last)); break;
        case Qt::Key_End: setCurrentBin(last); break;
        default: QWidget::keyPressEvent(event);
    }
}

}  // namespace sonde::widgets
