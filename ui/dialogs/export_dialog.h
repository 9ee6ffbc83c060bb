#pragma once

#include <QDialog>

#include "ui/context/exports.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTimer;

namespace sonde::widgets {
class EmptyState;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::dialogs {

class ExportOptionsView;
class ExportPreviewTable;

/// Writing the model in another format: options with what they do, what each changes on the current inputs, and the
/// written file beside the model. A preview follows every change.
class ExportDialog : public QDialog {
    Q_OBJECT
  public:
    /// `folder`: where files of models without one go.
    ExportDialog(session::Session& session, QString folder, QWidget* parent = nullptr);

    context::Exports& exports() { return m_exports; }
    /// Shows another choice as if it was made by hand.
    void setChoice(const exporting::ExportChoice& choice);
    void setPath(const QString& path);
    /// Whether something is being measured or written, or is about to be.
    bool isBusy() const;

  public Q_SLOTS:
    /// Writes the file. Without `replace` one that exists is replaced when asked for again, unless it was chosen with
    /// the file dialog, which asks.
    void write(bool replace = false);

  Q_SIGNALS:
    void written(const QString& path);
    /// The written file is to be opened beside the model, and both compared.
    void besideRequested(const QString& path);

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QWidget* makeHead();
    QWidget* makeParts();
    QWidget* makePreview();
    QWidget* makeFileRow();
    QWidget* makeButtons();
    void connectParts();
    void chooseFormat();
    void choosePreset();
    void chooseFile();
    void pathEdited();
    void followChoice();
    void showPossible();
    void showCommand();
    void showPreview();
    void makeRoom();
    void tell(const QString& text, bool isError = false);
    void showTold();
    void told(const QString& path, const QStringList& notes);
    void refreshButtons();

    context::Exports m_exports;
    QString m_folder;
    QComboBox* m_format = nullptr;
    QComboBox* m_preset = nullptr;
    QLabel* m_formatHelp = nullptr;
    QStackedWidget* m_stack = nullptr;  ///< options and preview, or why there are none
    widgets::EmptyState* m_impossible = nullptr;
    QSplitter* m_parts = nullptr;
    ExportOptionsView* m_options = nullptr;
    ExportPreviewTable* m_table = nullptr;
    QLabel* m_details = nullptr;
    QWidget* m_fileRow = nullptr;
    QLineEdit* m_command = nullptr;
    QLineEdit* m_path = nullptr;
    QLabel* m_state = nullptr;
    widgets::ProgressStrip* m_progress = nullptr;
    QPushButton* m_write = nullptr;
    QPushButton* m_beside = nullptr;
    QTimer* m_delay = nullptr;  ///< until a changed choice is measured
    QString m_said;             ///< under the file
    QStringList m_notes;        ///< of the written file: what is below the preview is not said again
    QString m_replaced;         ///< the file that may be replaced
    QString m_writtenPath;      ///< the last one
    bool m_ownPath = false;     ///< named by hand: another format does not rename it
    bool m_isError = false;     ///< what is told under the file
    bool m_justWritten = false;
    bool m_showing = false;
    bool m_isSplitByHand = false;  ///< the room between options and preview stays as it is
};

}  // namespace sonde::dialogs
