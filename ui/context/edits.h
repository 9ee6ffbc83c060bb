#pragma once

#include <QObject>
#include <QPointer>
#include <QString>

#include <deque>
#include <vector>

#include "core/session/session.h"
#include "ui/context/job.h"

namespace sonde::context {

class Debugger;
class Messages;

/// What if: the session's edits of values, for views. Each change of the list is made in the background, one after the
/// other; the debugged run follows it, and is begun for the first one. Belongs to the UI thread; no verb blocks.
class Edits : public QObject {
    Q_OBJECT
  public:
    using Entry = session::Edits::Entry;
    /// An edit as it is typed: what of, which slice ("0, 3:5", may be empty), and what to do.
    struct Typed {
        QString node, slice;
        QString operation;  ///< "=", or as `edit` of `sonde debug` has it: "zero", "scale" …
        QString argument;   ///< the expression, or what follows the operation
    };

    Edits(session::Session& session, Debugger& debugger, Messages& messages);
    ~Edits() override;

    const std::vector<Entry>& all() const { return m_session.edits().all(); }
    bool canUndo() const { return m_session.edits().canUndo(); }
    bool canRedo() const { return m_session.edits().canRedo(); }
    /// Whether any changes what a run with edits computes.
    bool areOn() const { return m_session.edits().planned() != nullptr; }
    /// Whether what is shown is a run with edits.
    bool isCounterfactual() const;
    /// Which values are shown, of a run with edits and while there are any: "with 2 edits", "without the edits",
    /// "difference made by 2 edits"; else empty.
    QString shownText() const;
    /// Whether the value of a node is edited, or one of a weight that has other names, too.
    bool isEdited(graph::NodeId node) const;
    /// Whether the value of a node in the run that is shown may be another one by the edits.
    bool isRecomputed(graph::NodeId node) const;
    /// Those of a node, for a tool tip.
    QStringList textsOf(graph::NodeId node) const;
    /// What a list calls it: "conv1[0, 3]", and "= 2", "scale 0.5".
    static QString titleOf(const Entry& entry);
    static QString changeOf(const Entry& entry);

    /// Something waits or is written. What is being changed is the run's.
    bool isBusy() const { return !m_waiting.empty() || m_saveJob.isActive(); }

    /// An edit out of what was typed. Errors (Usage), with their place.
    base::Result<std::pair<graph::NodeId, session::Edit>> read(const Typed& typed, session::EditPlace& place) const;
    /// The same of a line: "conv1[0] = 2", "conv1 scale 0.5".
    base::Result<std::pair<graph::NodeId, session::Edit>> readLine(const QString& line, bool isSet) const;

    /// By the context: the document goes; the run has moved, or stopped; the list is another one.
    void reset() { m_waiting.clear(); }
    void next();
    void follow();
    /// By the context: a document is there, with what its session file has. Edits of another model go.
    void takeDocument();

  public Q_SLOTS:
    /// `asker` is told in accepted() or refused().
    void add(sonde::graph::NodeId node, const sonde::session::Edit& edit, QObject* asker = nullptr);
    void undo();
    void redo();
    void remove(int index);
    /// As if it had not been made: see session::Edits::withdraw().
    void withdraw(int index);
    void setEnabled(int index, bool isEnabled);
    /// From the start, with the edits.
    void run();
    /// Without them: a plain run.
    void runBaseline();
    /// The user wants to edit a slice: changed() of nothing yet.
    void begin(sonde::graph::NodeId node, const QString& slice);
    /// Writes the model with the edits as ONNX: saved() or failed().
    void saveModel(const QString& path);

  Q_SIGNALS:
    /// The list. Whether what is shown has its edits changes with the debugger.
    void changed();
    void accepted(QObject* asker);
    void refused(QObject* asker, const sonde::base::Error& error, const sonde::session::EditPlace& place);
    void begun(sonde::graph::NodeId node, const QString& slice);
    void saved(const QString& path);

  private:
    struct Waiting {
        session::Session::EditChange change;
        QPointer<QObject> asker;
    };
    void change(session::Session::EditChange change, bool beginsRun, QObject* asker = nullptr);

    session::Session& m_session;
    Debugger& m_debugger;
    Messages& m_messages;
    std::deque<Waiting> m_waiting;
    std::string m_location;  ///< of the document
    Job m_saveJob;
};

}  // namespace sonde::context
