#pragma once

#include <QDialog>
#include <QStringList>

#include <functional>

#include "core/base/result.h"
#include "ui/context/job.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace sonde::widgets {
class ProgressStrip;
class SearchField;
}  // namespace sonde::widgets

namespace sonde::dialogs {

/// What an audit report is asked for.
struct ReportChoice {
    QString path;         ///< its ending says which format: .html or .pdf
    QStringList modules;  ///< qualnames: drawn from inside
    QString other;        ///< a file or zoo:NAME that the model is compared with; empty: none
    bool measuresTimes = false;
};

/// Writing an audit report: into which file, with pictures of which modules, compared with what.
class ReportDialog : public QDialog {
    Q_OBJECT
  public:
    using Work = std::function<base::Result<void>(const base::WorkContext&)>;
    /// What writes the report of a choice, on a worker. Errors: the file cannot be written.
    using Take = std::function<base::Result<Work>(const ReportChoice&)>;

    /// `modules`: that can be drawn from inside. `inputs`: which values the report shows.
    ReportDialog(const QString& path, const QStringList& modules, const QString& inputs, Take take,
                 QWidget* parent = nullptr);

    ReportChoice choice() const;
    /// Shows another choice as if it was made by hand.
    void setChoice(const ReportChoice& choice);
    bool isBusy() const { return m_job.isActive(); }
    /// What the last line says: that it was written, or why not.
    QString told() const;

  public Q_SLOTS:
    /// Writes the file. Without `replace` one that exists is replaced when asked for again, unless it was chosen with
    /// the file dialog, which asks.
    void write(bool replace = false);
    void reject() override;

  Q_SIGNALS:
    void written(const QString& path);
    void failed(const sonde::base::Error& error);

  private:
    void chooseFile();
    void chooseOther();
    void refresh();
    void filterModules(const QString& text);
    void tell(const QString& text, bool isError);
    void finish(const QString& path, const base::Result<void>& done);

    Take m_take;
    context::Job m_job;
    QString m_agreed;  ///< a path of a file that may be replaced
    QLineEdit* m_path;
    QPushButton* m_browse;
    widgets::SearchField* m_filter;
    QListWidget* m_modules;
    QLineEdit* m_other;
    QPushButton* m_browseOther;
    QCheckBox* m_profile;
    QLabel* m_told;
    widgets::ProgressStrip* m_progress;
    QPushButton* m_write;
    QWidget* m_controls;
};

}  // namespace sonde::dialogs
