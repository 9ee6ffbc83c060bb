#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include <optional>
#include <utility>

#include "core/session/notes.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

/// What a user has written on nodes, for views: the session's notes. Belongs to the UI thread.
class Notes : public QObject {
    Q_OBJECT
  public:
    explicit Notes(session::Session& session);

    const std::vector<session::Notes::Entry>& all() const;
    /// Empty: there is none. What is being typed counts once it is stored.
    QString of(graph::NodeId node) const;

    /// An empty text removes the note.
    void set(graph::NodeId node, const QString& text);
    /// The same in a moment, for what is being typed; of another node, what was typed before is stored at once.
    void type(graph::NodeId node, const QString& text);
    /// Stores what was typed.
    void flush();
    /// By the context: another model, or none.
    void reset();

  Q_SIGNALS:
    void changed();

  private:
    session::Session& m_session;
    QTimer m_soon;
    std::optional<std::pair<graph::NodeId, QString>> m_typed;
};

}  // namespace sonde::context
