#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/session/debug/snapshot.h"
#include "core/session/debug/value_change.h"
#include "core/session/session.h"

namespace sonde::context {

class Messages;
using graph::NodeId;
using session::DebugState;
using session::debug::Direction;
using session::debug::ItemId;
using session::debug::kNoItem;
using session::debug::ShownValues;
using StepKind = session::debug::Target::Kind;

/// The session's debugged run, for views: where it is, and the values that there are at that place. From its first step
/// until it is ended or a plain run begins, it is what all views show. Tells of places at most about 30 times a second,
/// with the values that were looked at; steps that are asked for while another is done wait for it. Belongs to the UI
/// thread; no verb blocks.
class Debugger : public QObject {
    Q_OBJECT
  public:
    Debugger(session::Session& session, Messages& messages);

    DebugState state() const { return m_session.debugger().state(); }
    bool isRunning() const { return m_session.debugger().isRunning(); }
    /// There is a run, or one is about to begin: all views show it.
    bool isShown() const { return m_isShown; }
    /// It is stopped, before or after some of its operations: it can be moved.
    bool isStopped() const { return isShown() && m_session.debugger().hasBegun() && !isRunning(); }
    const session::debug::Place& place() const { return m_session.debugger().place(); }
    /// The node that is computed next, as it was told last: stays while the run goes on. None before the start and
    /// after the end.
    NodeId current() const { return m_current; }
    /// The run's steps; null while it runs and without one.
    const session::debug::Trace* trace() const { return isStopped() ? &m_session.debugger().run()->trace() : nullptr; }
    /// What of it has happened at the place that was told last: which operations are done, which nodes computed. Null
    /// without a run.
    const std::shared_ptr<const exec::Recording>& recording() const { return m_recording; }
    /// Number of the operation and count of all; the count is 0 while branches or loops leave it open.
    std::size_t position() const { return m_position; }
    std::size_t total() const { return m_total; }
    /// "stopped before layer1.0.conv1 · 12 of 68 · breakpoint 1 · counterfactual, 2 edits"; empty without a run.
    QString placeText() const;
    QString staleReason() const { return QString::fromStdString(m_session.debugger().staleReason()); }

    /// A value at the current place, if it was requested and is there; else null. Valid until the next signal.
    const tensor::Value* value(NodeId node) const;
    /// Which values these are, of a run with edits.
    ShownValues shown() const {
        return m_session.debugger().isCounterfactual() ? m_shown : ShownValues::Counterfactual;
    }
    /// How far a value is from the one without the edits; null if that was not looked at, or the edits do not reach it.
    const session::debug::ValueChange* change(NodeId node) const;
    /// "iteration 3" of a value in a loop, "iteration 3.1" of nested ones; else empty.
    QString iterationText(NodeId node) const;
    /// "3", of nested loops "3.1"; else empty.
    QString passText(NodeId node) const;
    /// Has the value fetched in the background: valueArrived(). Nodes that were requested lately come with each place.
    void request(NodeId node);
    /// Nodes whose values come with each place: what is selected.
    void setLookedAt(std::vector<NodeId> nodes);

    /// Something is done in the background, or waits for that, or was not yet told.
    bool isBusy() const { return isRunning() || !m_queue.empty() || m_isFetching || m_soon.isActive(); }

    const session::debug::Breakpoints& breakpoints() const { return m_session.debugger().breakpoints(); }

    /// By the context: the session's debugger has moved, begins to, or its run is gone.
    void follow();
    /// By the context: the document or its values have gone.
    void reset();
    /// By the context: values were edited; those that were fetched may be others now.
    void forgetValues() { m_values.clear(); }
    /// By the context: a plain run begins, and is shown from now on.
    void end();

  public Q_SLOTS:
    /// Begins again, as far as the first breakpoint.
    void restart();
    void resume(sonde::context::Direction direction = Direction::Forward);
    void step(sonde::context::StepKind kind, sonde::context::Direction direction = Direction::Forward);
    void runTo(sonde::graph::NodeId node, sonde::context::Direction direction = Direction::Forward);
    /// To a step, at once if the run has done it.
    void goTo(quint32 item);
    void pause();
    /// Of a run with edits: its values, those without the edits, or the difference.
    void setShown(sonde::context::ShownValues shown);
    /// Ends the run.
    void cancel();
    /// Does the operations of a module alone, on the inputs that they had: moduleRun(). Begins a run if there is none.
    void runModule(const QString& qualname);

  Q_SIGNALS:
    /// The place or state, or that there is a run.
    void changed();
    /// Values that were requested are there.
    void valueArrived(sonde::graph::NodeId node);
    void breakpointsChanged();
    /// How far a long move is, in nodes.
    void progressed(const sonde::base::Progress& progress);
    /// What came of runModule(), which the log has too.
    void moduleRun(const QString& text);
    /// Why a command was not done.
    void refused(const QString& text);

  private:
    struct Fetched {
        NodeId node;
        ItemId item = kNoItem;
        std::vector<std::int64_t> pass;
        base::Result<tensor::Value> value;
        std::optional<session::debug::ValueChange> change;
    };
    struct Known {
        ItemId item = kNoItem;  ///< that it was made in; none of what is there all the time
        std::vector<std::int64_t> pass;
        std::optional<tensor::Value> value;  ///< none: there is none at this place
        std::optional<session::debug::ValueChange> change = {};
    };

    void go(std::function<void()> command);
    void stopped();
    void fetch();
    void arrived(std::vector<Fetched> values);
    void prune();
    void tell();
    void takePlace();
    void report();
    std::vector<NodeId> wanted() const;
    void startModuleRun(const QString& qualname);
    void say(const base::Error& error);

    session::Session& m_session;
    Messages& m_messages;
    QTimer m_soon;  ///< tell()
    QElapsedTimer m_sinceTold;
    bool m_isShown = false;
    bool m_isFetching = false;
    std::uint64_t m_fetch = 0;  ///< the last one that was begun; others do not count
    ShownValues m_shown = ShownValues::Counterfactual;
    std::deque<std::function<void()>> m_queue;  ///< commands that wait until the run stops
    std::map<NodeId, Known> m_values;
    std::deque<NodeId> m_requested;  ///< lately, the last one last
    std::vector<NodeId> m_lookedAt;
    std::vector<NodeId> m_news;  ///< whose values arrived since
    NodeId m_current;
    std::shared_ptr<const exec::Recording> m_recording;
    std::size_t m_position = 0, m_total = 0;
    std::vector<std::int64_t> m_pass;
    QString m_module;  ///< that is run alone once the run has ended; null: none
    bool m_saysFailure = false;
};

}  // namespace sonde::context
