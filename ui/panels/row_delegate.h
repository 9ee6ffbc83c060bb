#pragma once

#include <QStyledItemDelegate>

namespace sonde::panels {

/// Rows as the models describe them: muted where nothing was reached, in the colour of the severity where something is
/// wrong (see ui/models/roles.h). A number that is wider than its column is left out, not cut.
class RowDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace sonde::panels
