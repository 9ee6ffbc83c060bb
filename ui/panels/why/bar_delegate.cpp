#include "ui/panels/why/bar_delegate.h"

#include <QPainter>

#include "ui/models/why_term_model.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

void BarDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    RowDelegate::paint(painter, option, index);
    const QVariant part = index.data(models::WhyTermModel::kBarRole);
    if (!part.isValid()) return;
    constexpr double kHeight = 3;
    const QRectF room = QRectF(option.rect).adjusted(4, 0, -4, 0);
    const double middle = room.center().x(), half = room.width() / 2;
    const double end = middle + half * part.toDouble();
    painter->save();
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme::color(theme::ColorRole::PlotGrid));
    painter->drawRect(QRectF(room.left(), room.bottom() - kHeight, room.width(), 1));
    painter->setBrush(theme::color(theme::ColorRole::PlotBar));
    painter->drawRect(
        QRectF(QPointF(std::min(middle, end), room.bottom() - kHeight), QPointF(std::max(middle, end), room.bottom())));
    painter->setBrush(theme::color(theme::ColorRole::PlotAxis));
    painter->drawRect(QRectF(middle - 0.5, room.bottom() - kHeight - 1, 1, kHeight + 1));
    painter->restore();
}

}  // namespace sonde::panels
