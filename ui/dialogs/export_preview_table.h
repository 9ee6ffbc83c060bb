#pragma once

#include <QTableWidget>

#include "core/session/export_preview.h"

namespace sonde::dialogs {

/// What an export changes: the model and each step of the options in a row.
class ExportPreviewTable : public QTableWidget {
    Q_OBJECT
  public:
    explicit ExportPreviewTable(QWidget* parent = nullptr);

    /// Null: nothing is known.
    void show(const session::ExportPreview* preview);
    /// Notes, errors and outputs of the selected row, else of the last; empty if there is nothing to say.
    QString details() const;

    QSize sizeHint() const override;

  protected:
    /// The selected row stays in view.
    void resizeEvent(QResizeEvent* event) override;

  private:
    void addRow(const session::ExportMeasure& measure, bool isModel);

    QStringList m_details;  ///< by row
};

}  // namespace sonde::dialogs
