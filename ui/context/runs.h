#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include <memory>
#include <optional>
#include <vector>

#include "core/session/debug/value_change.h"
#include "core/session/session.h"

namespace sonde::context {

class Debugger;
class Messages;
class Problems;
using graph::ExprId;
using graph::NodeId;
using session::RunProgress;
using session::RunState;

/// The session's runs and the values that they left, for views; tells of each run in messages. While a run is debugged,
/// what is told here of "the last run" and its values is that run at its current place, and runFinished() comes with
/// each place. Belongs to the UI thread; no verb blocks.
class Runs : public QObject {
    Q_OBJECT
  public:
    Runs(session::Session& session, Debugger& debugger, const Problems& problems, Messages& messages);

    /// Of a debugged run NotRun, unless it has come to its end or failed.
    RunState state() const;
    bool isRunning() const { return m_session.runs().isRunning(); }
    const RunProgress& progress() const { return m_progress; }
    /// What the last run left; null before the first. Kept while a new run goes on.
    const std::shared_ptr<const exec::Recording>& recording() const;
    /// Values are those of a run that is debugged.
    bool isDebugged() const;
    /// Where that is; invalid of another one.
    NodeId current() const;
    /// What the last run was given, which may have changed since. Only with a recording.
    const std::vector<tensor::Value>& lastInputs() const { return m_session.runs().last().inputs; }
    /// Why the last run did not begin: what was given cannot be read or contradicts the model. Empty of a run that
    /// began. Changes with inputsChanged() and with runs.
    const std::optional<base::Error>& refusal() const { return m_session.runs().refusal(); }
    /// Why the last run's values are not those of the present inputs: "the inputs were changed", "x.npz changed on
    /// disk". Empty if they are, and while there is no run. Changes with inputsChanged() and with runs.
    QString staleReason() const;

    /// The node's value: of the last run, looked up afterwards (see requestValue), a weight, or a given input; else
    /// null. Valid until the next signal.
    const tensor::Value* value(NodeId node) const;
    /// The value of one iteration of the loop that the node is in; null if there is none.
    const tensor::Value* value(NodeId node, std::size_t iteration) const;
    /// How many values of a node the last run kept: more than one inside loops.
    std::size_t iterations(NodeId node) const;
    /// What verbs and keys call an iteration, of nested loops "1.0"; empty outside loops.
    QString passText(NodeId node, std::size_t iteration) const;
    /// Which of several iterations value(node) is of: "last of 4"; of a debugged run "iteration 2". Empty if there are
    /// not several.
    QString iterationText(NodeId node) const;
    /// Whether a value of the node is one of the last run, which is stale: weights and what is given never are.
    bool isStale(NodeId node) const;

    /// How far edits have moved the value of a debugged run; null if they have not, or that is not known.
    const session::debug::ValueChange* change(NodeId node) const;

    /// Whether a body is a branch that the last run took, at least once.
    bool wasTaken(graph::BodyId body) const;
    /// Whether the node is in a branch that the last run did not take, although it came to its end.
    bool isInOtherBranch(NodeId node) const;
    /// Whether the node was computed in the last run. True for everything before the first run.
    bool wasReached(NodeId node) const;
    /// Of the run that goes on, else of the last one.
    exec::ExprState exprState(ExprId expr) const;
    /// Why an operation failed in the last run: it, or one inside of it. Null if it did not, and while another run goes
    /// on.
    const exec::Failure* failure(ExprId expr) const;

    bool isLive() const { return m_session.runs().isLive(); }
    /// What the user has switched on, which is remembered.
    bool isLiveWanted() const { return isLive() && !m_isLiveForNow; }
    int threads() const { return static_cast<int>(m_session.runs().settings().threads); }

    /// By the context: the document has gone.
    void reset();
    /// By the context: the session's run has begun, or ended.
    void begin();
    void end();
    /// By the context: other inputs are given, which may end a refusal.
    void followInputs();

  public Q_SLOTS:
    /// Runs as far as watch and end points need; a run under way is superseded.
    void run();
    /// Runs until the node is computed, once, without setting an end point; a debugged run goes on to it.
    void runTo(sonde::graph::NodeId node);
    void cancel() { m_session.runs().cancel(); }
    void setLive(bool live);
    /// Live until setLive() says what the user wants; isLiveWanted() stays as it is.
    void setLiveForNow();
    /// 0: one per processor. Counts from the next run on.
    void setThreads(int threads);
    /// Computes the value of a node that the last run passed but did not keep, with the same inputs, in the background.
    void requestValue(sonde::graph::NodeId node);

  Q_SIGNALS:
    void runStarted();
    /// At most about 30 times a second.
    void runProgressed();
    /// However it ended: see state() and recording().
    void runFinished();
    /// requestValue() has brought it.
    void valueArrived(sonde::graph::NodeId node);
    void liveChanged(bool live);

  private:
    void poll();
    void report(const session::Run& run);
    void reportFailure(const base::Error& error);
    void reportProblems();

    session::Session& m_session;
    Debugger& m_debugger;
    const Problems& m_problems;
    Messages& m_messages;
    QTimer m_timer;  ///< looks at the run that goes on, so that the worker need not post for each node
    RunProgress m_progress;
    bool m_isLiveForNow = false;
    bool m_saysRefusal = false;  ///< in the banner
};

}  // namespace sonde::context
