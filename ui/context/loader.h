#pragma once

#include <QObject>
#include <QString>

#include <memory>

#include "core/document/document.h"
#include "core/document/native_library.h"
#include "core/document/session_model.h"
#include "core/session/session.h"
#include "ui/context/job.h"

namespace sonde::layout {
class Outline;
}

namespace sonde::context {

class Messages;
class ModelMemory;
class Navigation;
class OpenModel;
class SessionFiles;

/// What a session file asks for before it can be opened.
struct SessionQuestion {
    QString session;  ///< the file
    document::SessionModel::State state = document::SessionModel::State::Missing;
    QString model;  ///< where its model is, or was expected; of Changed the file that is there
    QString sha256;
    quint64 bytes = 0;
};

enum class LoadState { Empty, Loading, Loaded, Failed };

/// Opens, traces and closes the model of a window, and chooses among its graphs. Belongs to the UI thread; no verb
/// blocks.
class Loader : public QObject {
    Q_OBJECT
  public:
    Loader(session::Session& session, OpenModel& model, Navigation& navigation, ModelMemory& memory,
           SessionFiles& files, Messages& messages);

    LoadState state() const { return m_state; }
    /// What is being opened or was opened last: path or "zoo:NAME".
    QString location() const { return m_location; }
    /// How the model was or is being traced. Kept for reloading; another model begins with the usual way.
    const document::OpenOptions& options() const { return m_options; }
    /// Libraries are loaded without asking (`sonde window --allow-native`).
    void setAllowsNative(bool allowed) { m_allowsNative = allowed; }
    bool allowsNative() const { return m_allowsNative; }
    bool isActive() const { return m_load.isActive(); }

  public Q_SLOTS:
    void open(const QString& model);
    /// Shows a document that was made elsewhere.
    void show(std::shared_ptr<const sonde::document::Document> document);
    void reload();
    /// Traces the open model again in another way; what is open stays until that has succeeded.
    void retrace(const sonde::document::OpenOptions& options);
    /// One of OpenModel::graphTitles().
    void showGraph(int graph);
    void close();
    void cancel();
    /// Opens a session file with a model of the user's choice; only one with the file's SHA-256, unless `anyContent`.
    void openSession(const QString& session, const QString& model, bool anyContent = false);
    /// The user agreed that a session file may read files outside of its folder.
    void allowOutside(const QString& session);
    /// Remembers that the user agreed to run this library's code, and opens it.
    void agreeToNative(const sonde::document::NativeRequest& request);

  Q_SIGNALS:
    void loadStarted(const QString& location);
    void loadProgressed(const sonde::base::Progress& progress);
    void loadFailed(const sonde::base::Error& error);
    /// What is to be opened is a library whose code would run: the user is asked first. After loadFailed().
    void consentRequested(const sonde::document::NativeRequest& request);

    /// The model of a session file is not there, is outside of its folder, or has another content. After loadFailed().
    void sessionQuestioned(const sonde::context::SessionQuestion& question);

  private:
    struct Loaded;

    void load();
    void fail(const base::Error& error);
    void leaveLoading();
    QString locationOfWhole() const;
    void askForConsent(const base::Error& error, const document::NativeRequest& request);
    void adopt(Loaded loaded);
    void reportOpened();
    void offerComparison();
    void display(std::shared_ptr<const document::Document> document, std::shared_ptr<const layout::Outline> outline,
                 std::shared_ptr<const document::Document> whole, int graph);

    session::Session& m_session;
    OpenModel& m_model;
    Navigation& m_navigation;
    ModelMemory& m_memory;
    SessionFiles& m_files;
    Messages& m_messages;
    Job m_load;
    LoadState m_state = LoadState::Empty;
    QString m_location;
    document::OpenOptions m_options;
    bool m_allowsNative = false;
    // What the user answered about the session file m_location.
    bool m_allowsOutside = false, m_anyContent = false, m_isRetraced = false;
    QString m_sessionModel;
};

}  // namespace sonde::context
