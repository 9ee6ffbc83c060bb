#pragma once

#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>

#include "core/export/export_choice.h"
#include "core/session/export_preview.h"
#include "ui/context/job.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

/// An export of the session's model: what is chosen, what a preview found, and writing it. The choice is what the next
/// export begins with, but for what belongs to one model (names, test cases, files). Belongs to the UI thread; nothing
/// blocks. Of two previews that are asked for the later wins.
class Exports : public QObject {
    Q_OBJECT
  public:
    explicit Exports(session::Session& session, QObject* parent = nullptr);
    ~Exports() override;

    const exporting::ExportChoice& choice() const { return m_choice; }
    /// A preview of another choice goes.
    void setChoice(const exporting::ExportChoice& choice);
    /// Whether the model can be written in a format, as far as that is known without trying.
    base::Result<void> check(exporting::ExportFormat format) const;

    /// Null: none of the present choice.
    const session::ExportPreview* preview() const { return m_preview.get(); }
    /// Why there is no preview; empty while it is made.
    const std::optional<base::Error>& problem() const { return m_problem; }
    bool isPreviewing() const { return m_previewJob.isActive(); }
    bool isWriting() const { return m_writeJob.isActive(); }

    /// Error (Usage): the file is one that the session reads, the open model for one; or the path is empty.
    base::Result<void> checkPath(const QString& path) const;
    /// Where the file goes if nobody says otherwise: beside the model's file, else in `folder`, with the format's
    /// suffix; never the model itself.
    QString suggestedPath(const QString& folder) const;
    /// What the command line is that writes the same.
    QString commandLine(const QString& path) const;
    /// What the model is run on: the session's inputs, as text.
    QString inputData() const;

  public Q_SLOTS:
    /// Measures the choice on the session's inputs: previewChanged().
    void makePreview();
    /// Writes the model: written(), or failed().
    void write(const QString& path);
    void cancel();

  Q_SIGNALS:
    void previewChanged();
    /// How far the preview or the writing is; of either the beginning and end.
    void progressed(const sonde::base::Progress& progress);
    void begun(const QString& what);
    void ended();
    /// `notes`: what the file does otherwise than the model.
    void written(const QString& path, const QStringList& notes);
    void failed(const sonde::base::Error& error);

  private:
    std::function<base::Result<std::vector<tensor::Value>>(const base::WorkContext&)> inputReader() const;

    session::Session& m_session;
    exporting::ExportChoice m_choice;
    Job m_previewJob, m_writeJob;
    std::shared_ptr<const session::ExportPreview> m_preview;
    std::optional<base::Error> m_problem;
};

}  // namespace sonde::context
