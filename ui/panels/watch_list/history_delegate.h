#pragma once

#include <QPolygonF>
#include <QVariant>

#include <vector>

#include "ui/panels/row_delegate.h"

namespace sonde::panels {

/// Rows of the watch list: a small plot of the last runs in the history's column, and a wave under what an expression's
/// error is about.
class HistoryDelegate : public RowDelegate {
    Q_OBJECT
  public:
    using RowDelegate::RowDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    /// What a person has typed stays when the list changes meanwhile.
    void setEditorData(QWidget* editor, const QModelIndex& index) const override;

    /// Where the numbers stand in a rectangle, oldest at the left. A number that is none, or not finite, parts the
    /// line. All equal: in the middle.
    static std::vector<QPolygonF> linesOf(const QVariantList& numbers, const QRectF& area);

  private:
    static void paintHistory(QPainter& painter, const QRectF& area, const QVariantList& numbers, const QColor& ink);
    void paintErrorMark(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                        int column) const;
};

}  // namespace sonde::panels
