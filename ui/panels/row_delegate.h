#pragma once

#include <QStyledItemDelegate>

namespace sonde::panels {

/// Rows as the models describe them: muted where nothing was reached, in the colour of the severity where something is
/// wrong (see ui/models/roles.h), and with a sign in one column if that is asked for: of what is wrong, and of where a
/// debugged run is. Breakpoints have a mark at the right. A number that
/// is wider than its column is left out, not cut.
class RowDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    static constexpr int kNoSign = -1;
    explicit RowDelegate(QObject* parent, int signColumn = kNoSign)
        : QStyledItemDelegate(parent), m_signColumn(signColumn) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

  private:
    int m_signColumn;
};

}  // namespace sonde::panels
