#pragma once

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

#include "core/session/outputs/output_content.h"
#include "ui/panels/row_delegate.h"

namespace sonde::panels {

/// One row of what an output comes to.
struct OutputRow {
    QStringList cells;
    double part = -1;  ///< length of the bar in the column of bars, 0 to 1; negative: there is none
    int color = -1;    ///< of the sign in the first column, for theme::setColors; negative: there is none
};

/// The rows of an output: classes, boxes, parts of masks, tokens, elements.
class OutputRows : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role { kPartRole = Qt::UserRole + 300, kColorRole };
    static constexpr int kNoBars = -1;

    using QAbstractTableModel::QAbstractTableModel;

    /// What a content has to be listed. Nothing of pictures, waveforms and numbers.
    void show(const session::outputs::Content& content);
    bool isEmpty() const { return m_rows.empty(); }
    int barColumn() const { return m_barColumn; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    QStringList m_titles;
    std::vector<OutputRow> m_rows;
    int m_barColumn = kNoBars;
};

/// Bars behind the numbers of one column, and signs with the colour of a class.
class OutputRowDelegate : public RowDelegate {
    Q_OBJECT
  public:
    using RowDelegate::RowDelegate;

    /// Of the font of the list.
    void setTextScale(double scale) { m_textScale = scale; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

  private:
    double m_textScale = 1;
};

/// The colour of a class; those of high index have the colours of low ones again.
int colorOfClass(std::int64_t index);
/// Its name, or "class 281".
QString classText(std::int64_t index, const std::string& name);

}  // namespace sonde::panels
