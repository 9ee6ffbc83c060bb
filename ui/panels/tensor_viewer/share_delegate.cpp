#include "ui/panels/tensor_viewer/share_delegate.h"

#include <QPainter>
#include <QPixmap>

#include <algorithm>

#include "ui/theme/theme.h"

namespace sonde::panels {

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const QVariant share = index.data(kShareRole);
    if (!share.isValid() || (option.state & QStyle::State_Selected)) return;
    QRect bar = option.rect.adjusted(1, 2, -2, -2);
    bar.setWidth(qRound(bar.width() * std::clamp(share.toDouble(), 0.0, 1.0)));
    if (bar.isEmpty()) return;
    // The text on the bar has a colour of its own, up to where the bar ends. A clip would not do: styles set their own.
    const double ratio = painter->device()->devicePixelRatioF();
    QPixmap cell(option.rect.size() * ratio);
    cell.setDevicePixelRatio(ratio);
    cell.fill(theme::color(theme::ColorRole::AccentSoft));
    QPainter onBar(&cell);
    onBar.translate(-option.rect.topLeft());
    QStyleOptionViewItem text = option;
    text.state &= ~QStyle::State_MouseOver;
    text.palette.setColor(QPalette::Text, theme::color(theme::ColorRole::AccentSoftText));
    QStyledItemDelegate::paint(&onBar, text, index);
    onBar.end();
    const QRectF part = QRectF(bar).translated(-option.rect.topLeft());
    painter->drawPixmap(QRectF(bar), cell, QRectF(part.topLeft() * ratio, part.size() * ratio));
}

}  // namespace sonde::panels
