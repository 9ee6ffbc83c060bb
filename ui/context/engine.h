#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <optional>

#include "core/session/engine_values.h"
#include "ui/context/job.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class Comparison;
class Messages;
class OpenModel;

/// ONNX Runtime as the reference of the comparison: it computes every value from the present inputs in the background,
/// which is then compared as a reference file. Belongs to the UI thread.
class Engine : public QObject {
    Q_OBJECT
  public:
    Engine(session::Session& session, OpenModel& model, Comparison& comparison, Messages& messages);
    ~Engine() override;

    bool isActive() const { return m_job.isActive(); }
    /// Why the last one was not made.
    const std::optional<base::Error>& error() const { return m_error; }
    /// Whether the comparison that is known is one with it.
    bool isCompared() const;
    /// The reference file with its values, if they are compared; else empty.
    QString file() const;
    /// How long it took for a node's operation; 0: it has no time of its own there, or is not compared with.
    std::int64_t elapsedNs(graph::NodeId node) const;

  public Q_SLOTS:
    /// `library`: that the user has agreed to, unless native code is allowed.
    void compare(const QString& library, bool allowNative = false);
    void cancel() { m_job.cancel(); }

  Q_SIGNALS:
    void changed();
    void progressed(const sonde::base::Progress& progress);

  private:
    session::Session& m_session;
    Comparison& m_comparison;
    Messages& m_messages;
    Job m_job;
    /// Stays when the model goes: Compare Again may read its file.
    std::shared_ptr<const session::EngineValues> m_values;
    std::weak_ptr<const graph::InternalGraph> m_graph;  ///< that the nodes are of
    std::optional<base::Error> m_error;
};

}  // namespace sonde::context
