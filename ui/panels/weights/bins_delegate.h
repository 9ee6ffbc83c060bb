#pragma once

#include <QVariant>

#include "ui/panels/row_delegate.h"

namespace sonde::panels {

/// Rows with a small histogram in the column that has counts (HistoryRole). Of texts that have no room the middle is
/// left out: names of weights begin with the block and end with what they are.
class BinsDelegate : public RowDelegate {
    Q_OBJECT
  public:
    using RowDelegate::RowDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace sonde::panels
