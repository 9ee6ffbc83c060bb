#include "ui/panels/weights/bins_delegate.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

#include "ui/models/roles.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

void BinsDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    option->textElideMode = Qt::ElideMiddle;
    RowDelegate::initStyleOption(option, index);
}

void BinsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    RowDelegate::paint(painter, option, index);
    const QVariantList counts = index.data(models::HistoryRole).toList();
    if (counts.isEmpty()) return;
    qint64 most = 1;
    for (const QVariant& count : counts) most = std::max(most, count.toLongLong());
    const QRectF room = QRectF(option.rect).adjusted(theme::kTight, 3, -theme::kTight, -3);
    const bool isSelected = option.state.testFlag(QStyle::State_Selected);
    const QColor ink = theme::color(isSelected ? theme::ColorRole::AccentSoftText : theme::ColorRole::PlotBar);
    const auto bins = static_cast<double>(counts.size());
    for (qsizetype i = 0; i < counts.size(); ++i) {
        const qint64 count = counts[i].toLongLong();
        if (count == 0) continue;
        // Whole pixels, and one at least: a single wild weight is seen.
        const double height =
            std::max(1.0, std::round(room.height() * static_cast<double>(count) / static_cast<double>(most)));
        const double left = std::round(room.left() + room.width() * static_cast<double>(i) / bins);
        const double right = std::round(room.left() + room.width() * static_cast<double>(i + 1) / bins);
        painter->fillRect(QRectF(left, room.bottom() - height, std::max(1.0, right - left), height), ink);
    }
}

}  // namespace sonde::panels
