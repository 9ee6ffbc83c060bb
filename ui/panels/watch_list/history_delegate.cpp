#include "ui/panels/watch_list/history_delegate.h"

#include <QApplication>
#include <QLineEdit>
#include <QPainter>
#include <QPainterPath>
#include <QStyle>

#include <cmath>

#include "ui/models/roles.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

using theme::ColorRole;

std::vector<QPolygonF> HistoryDelegate::linesOf(const QVariantList& numbers, const QRectF& area) {
    double low = 0, high = 0;
    bool isFirst = true;
    for (const QVariant& number : numbers) {
        const double value = number.toDouble();
        if (!number.isValid() || !std::isfinite(value)) continue;
        low = isFirst ? value : std::min(low, value);
        high = isFirst ? value : std::max(high, value);
        isFirst = false;
    }
    std::vector<QPolygonF> lines(1);
    const double step = numbers.size() > 1 ? area.width() / static_cast<double>(numbers.size() - 1) : 0;
    for (qsizetype i = 0; i < numbers.size(); ++i) {
        const double value = numbers[i].toDouble();
        if (!numbers[i].isValid() || !std::isfinite(value)) {
            if (!lines.back().isEmpty()) lines.emplace_back();
            continue;
        }
        const double part = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
        const double x = numbers.size() > 1 ? area.left() + static_cast<double>(i) * step : area.center().x();
        lines.back() << QPointF(x, area.bottom() - part * area.height());
    }
    if (lines.back().isEmpty()) lines.pop_back();
    return lines;
}

void HistoryDelegate::paintHistory(QPainter& painter, const QRectF& area, const QVariantList& numbers,
                                   const QColor& ink) {
    painter.setPen(QPen(ink, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    const std::vector<QPolygonF> lines = linesOf(numbers, area);
    for (const QPolygonF& line : lines)
        if (line.size() > 1) painter.drawPolyline(line);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    for (const QPolygonF& line : lines)
        if (line.size() == 1) painter.drawEllipse(line.front(), 1.6, 1.6);
    // The last run is what the other columns show.
    const QVariant last = numbers.isEmpty() ? QVariant() : numbers.back();
    if (last.isValid() && std::isfinite(last.toDouble()) && !lines.empty())
        painter.drawEllipse(lines.back().back(), 2.4, 2.4);
}

/// Columns count code points.
void HistoryDelegate::paintErrorMark(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                                     int column) const {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QStyle* const style = item.widget ? item.widget->style() : QApplication::style();
    const QRect area = style->subElementRect(QStyle::SE_ItemViewItemText, &item, item.widget);
    const QFontMetrics metrics(item.font);
    const QList<uint> points = index.data(Qt::EditRole).toString().toUcs4();
    const auto textOf = [&points](qsizetype from, qsizetype count) {
        const QList<uint> part = points.mid(from, count);
        return QString::fromUcs4(reinterpret_cast<const char32_t*>(part.constData()), part.size());
    };
    const qsizetype before = std::min<qsizetype>(column - 1, points.size());
    const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, &item, item.widget) + 1;
    const double from = area.left() + margin + metrics.horizontalAdvance(textOf(0, before));
    const QString rest = textOf(before, 1);
    const double to = std::min<double>(from + std::max(metrics.horizontalAdvance(rest), 6), area.right());
    if (from >= area.right()) return;
    const double y = area.center().y() + metrics.ascent() / 2.0 + 2;
    QPainterPath wave(QPointF(from, y));
    bool isUp = true;
    for (double x = from; x < to; x += 3, isUp = !isUp) wave.quadTo(x + 1.5, y + (isUp ? -2.5 : 2.5), x + 3, y);
    painter.setBrush(Qt::NoBrush);
    const bool isSelected = option.state.testFlag(QStyle::State_Selected);
    painter.setPen(QPen(theme::color(isSelected ? ColorRole::AccentSoftText : ColorRole::Error), 1.4));
    painter.drawPath(wave);
}

void HistoryDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
    const auto* const line = qobject_cast<QLineEdit*>(editor);
    if (!line || !line->isModified()) RowDelegate::setEditorData(editor, index);
}

void HistoryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    RowDelegate::paint(painter, option, index);
    const QVariant history = index.data(models::HistoryRole);
    const QVariant column = index.data(models::ErrorColumnRole);
    if (!history.isValid() && !column.isValid()) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setClipRect(option.rect);
    if (history.isValid())
        paintHistory(*painter, QRectF(option.rect).adjusted(6, 5, -6, -5), history.toList(),
                     theme::color(option.state.testFlag(QStyle::State_Selected) ? ColorRole::AccentSoftText
                                                                                : ColorRole::PlotBar));
    else paintErrorMark(*painter, option, index, column.toInt());
    painter->restore();
}

}  // namespace sonde::panels
