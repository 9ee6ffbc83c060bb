#pragma once

#include "ui/panels/row_delegate.h"

namespace sonde::panels {

/// Rows with a bar behind the number of one column: from the middle to the right for what adds, to the left for what
/// takes away (models::WhyTermModel::kBarRole).
class BarDelegate : public RowDelegate {
    Q_OBJECT
  public:
    using RowDelegate::RowDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace sonde::panels
