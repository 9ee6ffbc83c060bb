#pragma once

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <memory>
#include <optional>

#include "core/io/session_file/session_file.h"
#include "ui/context/job.h"

namespace sonde::document {
struct Document;
}
namespace sonde::session {
class Session;
}

namespace sonde::context {

class Canvases;
class Messages;
class OpenModel;

/// The session file of a window: written atomically whenever something changes, on a worker. Belongs to the UI thread;
/// no verb blocks.
class SessionFiles : public QObject {
    Q_OBJECT
  public:
    SessionFiles(session::Session& session, OpenModel& model, Canvases& canvases, Messages& messages);

    /// Empty: what the window does is in no session file.
    const QString& path() const { return m_path; }
    /// Something is being written, or will be at once.
    bool isActive() const { return m_job.isActive() || m_timer.isActive(); }

    /// What was just opened is of this file; empty: of none. Writes nothing.
    void adopt(const QString& path);
    /// What the session has now is what was opened: the file is not written before something of it changes.
    void noteOpened();

  public Q_SLOTS:
    /// From now on the session is in this file. One that cannot be written is told of, and is not the window's.
    void saveAs(const QString& path);
    /// Something has changed.
    void saveSoon();
    /// What waits is written at once, by a worker.
    void flush();

  Q_SIGNALS:
    void pathChanged();
    /// The file was changed elsewhere since it was read or written last, and is not overwritten. saveAs() with this
    /// path does that, opening it takes what is there.
    void changedElsewhere(const QString& path);
    /// It was overwritten after that, because the user said so.
    void overwritten();

  private:
    /// One state of the session, to be written.
    struct Task {
        QString path;
        std::filesystem::path folder;
        std::shared_ptr<const document::Document> document;
        io::SessionFile file;
    };
    /// What came of writing one.
    struct Outcome {
        io::SessionFile::Model model;
        std::optional<io::SessionFile> written;  ///< as it is read; none: the file is another than was expected
    };
    void write();
    void start(Task task);
    void finish(const QString& path, base::Result<Outcome> outcome);
    io::SessionFile now(const std::filesystem::path& folder) const;
    void setPath(const QString& path);

    session::Session& m_session;
    OpenModel& m_model;
    Canvases& m_canvases;
    Messages& m_messages;
    QString m_path;
    QString m_before;  ///< the path before saveAs(), until that was written
    bool m_isNew = false;
    bool m_hasFailed = false;       ///< the file was not written the last time
    std::optional<Task> m_pending;  ///< changed while it was written
    /// What was opened, written last, or is being written.
    struct Written {
        QString path;
        std::weak_ptr<const document::Document> document;
        io::SessionFile file;
    };
    std::optional<Written> m_written;
    /// What is in the file: what was read, or written last.
    struct OnDisk {
        QString path;
        io::SessionFile file;
    };
    std::optional<OnDisk> m_onDisk;
    QString m_changedElsewhere;  ///< the file of which that was told
    QTimer m_timer;
    Job m_job;
    /// What reading the whole model gave, and of which document in which folder.
    std::optional<io::SessionFile::Model> m_modelRef;
    std::weak_ptr<const document::Document> m_refDocument;
    std::filesystem::path m_refFolder;
};

}  // namespace sonde::context
