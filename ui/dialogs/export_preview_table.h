#pragma once

#include <QTableWidget>

#include "core/session/export_preview.h"

namespace sonde::dialogs {

/// What an export changes: the model and each step of the options in a row. The model's row, which all others are
/// compared with, stays above those that are scrolled.
class ExportPreviewTable : public QTableWidget {
    Q_OBJECT
  public:
    explicit ExportPreviewTable(QWidget* parent = nullptr);

    /// Null: nothing is known.
    void show(const session::ExportPreview* preview);
    /// Notes, errors and outputs of the selected row, else of the last; empty if there is nothing to say.
    QString details() const;

    /// With room for all rows.
    QSize sizeHint() const override;
    /// A row is not hidden by the model's.
    void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;

  protected:
    /// The selected row stays in view.
    void resizeEvent(QResizeEvent* event) override;

  private:
    void placeModelRow();
    void addRow(const session::ExportMeasure& measure, bool isModel);
    void addFailure(int row, const session::ExportMeasure& measure);

    QStringList m_details;   ///< by row
    QTableView* m_modelRow;  ///< shows the first row alone
};

}  // namespace sonde::dialogs
