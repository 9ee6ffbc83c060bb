#include "ui/panels/tensor_viewer/share_delegate.h"

#include <QPainter>

#include <algorithm>

#include "ui/theme/theme.h"

namespace sonde::panels {

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QVariant share = index.data(kShareRole);
    if (share.isValid() && !(option.state & QStyle::State_Selected)) {
        QRect bar = option.rect.adjusted(1, 2, -2, -2);
        bar.setWidth(qRound(bar.width() * std::clamp(share.toDouble(), 0.0, 1.0)));
        painter->fillRect(bar, theme::color(theme::ColorRole::AccentSoft));
    }
    QStyledItemDelegate::paint(painter, option, index);
}

}  // namespace sonde::panels
