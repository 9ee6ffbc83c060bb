#include "ui/panels/weights/layer_histograms_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/models/short_text.h"
#include "ui/theme/elided_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {

using theme::ColorRole;

LayerHistogramsView::LayerHistogramsView(QWidget* parent) : QAbstractScrollArea(parent) {
    setObjectName(QStringLiteral("layerHistograms"));
    setAccessibleName(tr("Histograms of the layers"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { viewport()->update(); });
}

void LayerHistogramsView::setLayers(session::LayerHistograms layers) {
    m_layers = std::move(layers);
    m_current = -1;
    measureLabels();
    verticalScrollBar()->setValue(0);
    fitScrollBar();
    viewport()->update();
}

int LayerHistogramsView::rowHeight() const { return fontMetrics().height() + 2 * theme::kTight; }
int LayerHistogramsView::headHeight() const { return fontMetrics().height() + theme::kSmall; }
int LayerHistogramsView::labelWidth() const {
    // Without a name a histogram says nothing.
    const int least = 16 * fontMetrics().averageCharWidth();
    return std::min(m_labelWidth, std::max(least, viewport()->width() / 3));
}

void LayerHistogramsView::measureLabels() {
    m_labelWidth = 0;
    for (const session::LayerHistogram& layer : m_layers.layers)
        m_labelWidth = std::max(m_labelWidth, fontMetrics().horizontalAdvance(models::shown(layer.qualname)));
}

/// Text of another size, of a presentation or the settings.
void LayerHistogramsView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() != QEvent::FontChange && event->type() != QEvent::StyleChange) return;
    measureLabels();
    fitScrollBar();
    viewport()->update();
}

void LayerHistogramsView::fitScrollBar() {
    const int room = viewport()->height() - headHeight();
    verticalScrollBar()->setPageStep(std::max(room, 1));
    verticalScrollBar()->setSingleStep(rowHeight());
    verticalScrollBar()->setRange(0, std::max(0, count() * rowHeight() - room));
}

void LayerHistogramsView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    fitScrollBar();
}

int LayerHistogramsView::rowAt(int y) const {
    if (y < headHeight()) return -1;
    const int row = (y - headHeight() + verticalScrollBar()->value()) / rowHeight();
    return row < count() ? row : -1;
}

QRectF LayerHistogramsView::barsOf(int row) const {
    const double left = labelWidth() + 2 * theme::kSmall;
    const double top = headHeight() + row * rowHeight() - verticalScrollBar()->value() + 2.0;
    return {left, top, std::max(viewport()->width() - theme::kSmall - left, 1.0), rowHeight() - 4.0};
}

void LayerHistogramsView::setCurrentRow(int row) {
    row = count() == 0 ? -1 : std::clamp(row, 0, count() - 1);
    if (row < 0) return;
    m_current = row;
    setAccessibleDescription(rowText(row));
    QScrollBar& bar = *verticalScrollBar();
    const int top = row * rowHeight();
    bar.setValue(std::clamp(bar.value(), top + rowHeight() - bar.pageStep(), top));
    viewport()->update();
}

QString LayerHistogramsView::rowText(int row) const {
    if (row < 0 || row >= count()) return {};
    const session::LayerHistogram& layer = m_layers.layers[static_cast<std::size_t>(row)];
    const auto& counts = layer.bins.counts;
    const std::int64_t inside = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    QString text =
        tr("%1: %2 weights")
            .arg(models::shown(layer.qualname), widgets::countText(inside + layer.bins.below + layer.bins.above));
    if (layer.bins.below > 0) text += tr(", %1 below").arg(widgets::countText(layer.bins.below));
    if (layer.bins.above > 0) text += tr(", %1 above").arg(widgets::countText(layer.bins.above));
    return text;
}

void LayerHistogramsView::paintHead(QPainter& painter) const {
    const QRectF bars = barsOf(0);
    painter.fillRect(QRectF(0, 0, viewport()->width(), headHeight()), theme::color(ColorRole::PlotBackground));
    painter.setPen(theme::color(ColorRole::PlotLabel));
    const QRectF labels(bars.left(), 0, bars.width(), headHeight());
    painter.drawText(labels, Qt::AlignLeft | Qt::AlignVCenter, widgets::numberText(m_layers.low, 4));
    painter.drawText(labels, Qt::AlignRight | Qt::AlignVCenter, widgets::numberText(m_layers.high, 4));
    const QString rule = tr("each row by its own peak");
    const int room = fontMetrics().horizontalAdvance(rule) + 14 * fontMetrics().averageCharWidth();
    if (room < bars.width()) painter.drawText(labels, Qt::AlignHCenter | Qt::AlignVCenter, rule);
}

void LayerHistogramsView::paintRow(QPainter& painter, int row) const {
    const session::LayerHistogram& layer = m_layers.layers[static_cast<std::size_t>(row)];
    const QRectF bars = barsOf(row);
    const QRectF whole(0, bars.top() - 2, viewport()->width(), rowHeight());
    const bool isCurrent = row == m_current;
    if (isCurrent) painter.fillRect(whole, theme::color(ColorRole::AccentSoft));
    painter.setPen(theme::color(isCurrent ? ColorRole::AccentSoftText : ColorRole::Text));
    const QRectF label(theme::kSmall, whole.top(), labelWidth(), whole.height());
    // Names of layers begin alike, in the number of a block, and end with what the layer is for.
    painter.drawText(
        label, Qt::AlignLeft | Qt::AlignVCenter,
        theme::elidedText(models::shown(layer.qualname), Qt::ElideMiddle, labelWidth(), painter.fontMetrics()));
    const QColor ink = theme::color(isCurrent ? ColorRole::AccentSoftText : ColorRole::PlotBar);
    const auto& counts = layer.bins.counts;
    const std::int64_t most = std::max<std::int64_t>(1, *std::ranges::max_element(counts));
    const auto bins = static_cast<double>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        const double height =
            std::max(1.0, std::round(bars.height() * static_cast<double>(counts[i]) / static_cast<double>(most)));
        const double left = std::round(bars.left() + bars.width() * static_cast<double>(i) / bins);
        const double right = std::round(bars.left() + bars.width() * static_cast<double>(i + 1) / bins);
        painter.fillRect(QRectF(left, bars.bottom() - height, std::max(1.0, right - left), height), ink);
    }
    // What is outside of the range: a mark at that end.
    const QColor outside = theme::color(ColorRole::Warning);
    if (layer.bins.below > 0) painter.fillRect(QRectF(bars.left() - 3, bars.top(), 2, bars.height()), outside);
    if (layer.bins.above > 0) painter.fillRect(QRectF(bars.right() + 1, bars.top(), 2, bars.height()), outside);
}

void LayerHistogramsView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme::color(ColorRole::PlotBackground));
    const int first = std::max(0, verticalScrollBar()->value() / rowHeight());
    const int last = std::min(count() - 1, (verticalScrollBar()->value() + viewport()->height()) / rowHeight());
    for (int row = first; row <= last; ++row) paintRow(painter, row);
    const double span = m_layers.high - m_layers.low;
    const QRectF bars = barsOf(0);
    if (count() > 0 && m_layers.low < 0 && m_layers.high > 0) {
        const double x = bars.left() - m_layers.low / span * bars.width();
        painter.setPen(QPen(theme::color(ColorRole::PlotAxis), 1, Qt::DotLine));
        painter.drawLine(QPointF(x, headHeight()), QPointF(x, viewport()->height()));
    }
    if (count() > 0) paintHead(painter);
    if (hasFocus()) {
        painter.setPen(theme::color(ColorRole::FocusRing));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

void LayerHistogramsView::keyPressEvent(QKeyEvent* event) {
    const int page = std::max(1, verticalScrollBar()->pageStep() / rowHeight());
    switch (event->key()) {
        case Qt::Key_Down: return setCurrentRow(m_current + 1);
        case Qt::Key_Up: return setCurrentRow(std::max(m_current - 1, 0));
        case Qt::Key_PageDown: return setCurrentRow(m_current + page);
        case Qt::Key_PageUp: return setCurrentRow(std::max(m_current - page, 0));
        case Qt::Key_Home: return setCurrentRow(0);
        case Qt::Key_End: return setCurrentRow(count() - 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_current >= 0)
                Q_EMIT activated(QString::fromStdString(m_layers.layers[static_cast<std::size_t>(m_current)].qualname),
                                 m_current);
            return;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

void LayerHistogramsView::mousePressEvent(QMouseEvent* event) {
    if (const int row = rowAt(event->pos().y()); row >= 0) setCurrentRow(row);
}

void LayerHistogramsView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const int row = rowAt(event->pos().y()); row >= 0)
        Q_EMIT activated(QString::fromStdString(m_layers.layers[static_cast<std::size_t>(row)].qualname), row);
}

bool LayerHistogramsView::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos().y());
    if (row < 0) {
        QToolTip::hideText();
        return true;
    }
    QString text = rowText(row);
    const QRectF bars = barsOf(row);
    const auto& counts = m_layers.layers[static_cast<std::size_t>(row)].bins.counts;
    const double part = (help->pos().x() - bars.left()) / bars.width();
    if (part >= 0 && part < 1) {
        const double step = (m_layers.high - m_layers.low) / static_cast<double>(counts.size());
        const auto bin = static_cast<std::size_t>(part * static_cast<double>(counts.size()));
        const double low = m_layers.low + step * static_cast<double>(bin);
        text +=
            tr("\n%1 \u2026 %2: %3")
                .arg(widgets::numberText(low, 4), widgets::numberText(low + step, 4), widgets::countText(counts[bin]));
    }
    text +=
        u'\n' + tr("Height = count in the bin \u00f7 largest count of the row; all rows over one range, that of the "
                   "matrices without outliers");
    QToolTip::showText(help->globalPos(), text, viewport());
    return true;
}

}  // namespace sonde::panels
