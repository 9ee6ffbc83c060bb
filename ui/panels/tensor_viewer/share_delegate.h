#pragma once

#include <QStyledItemDelegate>

namespace sonde::panels {

/// Draws a bar behind the text of a cell, as long as the share that its data have by kShareRole: a number from 0 to 1.
class ShareDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    static constexpr int kShareRole = Qt::UserRole + 32;

    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace sonde::panels
