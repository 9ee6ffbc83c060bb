#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/debug/breakpoints.h"
#include "core/session/debug/place.h"
#include "core/session/debug/timeline.h"
#include "core/session/debug/view.h"
#include "core/session/edits/edits.h"
#include "core/session/runs.h"

namespace sonde::session {

enum class DebugState : std::uint8_t {
    Stopped,  ///< before a node, or not begun
    Running,
    Finished,
    Failed
};

using debug::ModuleRun;

/// A run that is gone through step by step, in both directions. It stops *before* the node that is current; the values
/// that can be had are those of that moment, and the current node's own, which is computed to show it. Going back does
/// nothing again: it shows what was. See debug::RecordedRun for what is kept of values, Session for threads.
///
/// The run is one of its own, on the inputs and as far as the end points that there are when it begins.
class Debugger {
  public:
    using Direction = debug::Direction;

    Debugger(Executor& executor, Observer& observer, Inputs& inputs, Runs& runs, const Points& points,
             const Edits& edits)
        : m_executor(executor), m_observer(observer), m_inputs(inputs), m_runs(runs), m_points(points), m_edits(edits) {
    }

    DebugState state() const { return m_state; }
    bool isRunning() const { return m_state == DebugState::Running; }
    /// There is a run.
    bool hasBegun() const { return m_run != nullptr; }
    const debug::Place& place() const { return m_place; }
    /// The node that is computed next; none before the start, after the end, and while it runs.
    graph::NodeId current() const;
    /// Why the last run did not begin, or failed.
    const std::optional<base::Error>& error() const { return m_error; }
    /// The run with its steps; null without one. Must not be touched while it runs. While inspect() works only its
    /// trace and plan may be read.
    const debug::RecordedRun* run() const { return m_run.get(); }
    /// The steps of the run as they were when it stopped last. May be read at any time.
    const debug::Timeline& timeline() const { return m_timeline; }
    /// There is nothing beyond the timeline.
    bool isComplete() const { return m_isComplete; }
    /// How the values of the run are kept. May be asked at any time.
    debug::KeptUse keptUse() const { return m_run ? m_run->keptUse() : debug::KeptUse{}; }
    /// Why its values are not those of the present inputs: "the inputs were changed". Empty if they are.
    std::string staleReason() const;

    /// What counts from the next run on.
    void setLimits(const debug::KeptLimits& limits) { m_limits = limits; }
    const debug::KeptLimits& limits() const { return m_limits; }

    /// Whether the operation that a run stops at is done at once, if nothing is inside of it: who looks at a run sees
    /// its value.
    void setDoesCurrent(bool does) { m_doesCurrent = does; }

    // Each is work for the executor, and begins a run if there is none. Nothing happens while it runs.
    /// From the start, as far as the first breakpoint.
    void restart();
    /// As far as the next breakpoint.
    void resume(Direction direction = Direction::Forward);
    void step(debug::Target::Kind kind, Direction direction = Direction::Forward);
    /// As far as a node; of a run that has ended, from its start. Usage error: no operation computes it, or it was
    /// passed and does not come again.
    base::Result<void> runTo(graph::NodeId node, Direction direction = Direction::Forward);
    /// To an item of the timeline, at once: nothing is done for it but the last operation, with setDoesCurrent(). To
    /// one beyond, by going on, no further than breakpoints. Usage error: no model is open, it runs, or the run has no
    /// such item.
    base::Result<void> goTo(debug::ItemId item);
    /// Stops before the next node.
    void pause() { m_stop.stop(); }
    /// The same from any thread.
    void stop() { m_stop.stop(); }
    /// Ends the run, which is gone.
    void cancel();

    /// The value of a node at the current place. Blocks. Usage errors: it is not computed yet; nothing has begun; it
    /// runs.
    base::Result<tensor::Value> value(graph::NodeId node, const base::WorkContext& work = {});
    /// The same without the current node's own, for which nothing is computed but what was dropped.
    base::Result<tensor::Value> valueSoFar(graph::NodeId node, const base::WorkContext& work = {});
    base::Result<tensor::Value> evaluate(const expression::Expression& expression, const base::WorkContext& work = {});
    /// The value that a node has at the current place without the edits. Blocks. Errors: those of value().
    base::Result<tensor::Value> baselineValue(graph::NodeId node, const base::WorkContext& work = {});
    /// The run without edits, which stands where it was looked at last: of a run that has some; null of one without.
    /// Errors: the run cannot be made; it runs; there is none.
    base::Result<std::shared_ptr<debug::RecordedRun>> baselineRun();
    /// The values of the run are other ones by the edits.
    bool isCounterfactual() const { return m_run && m_run->plan().options().edits; }
    /// NaN, infinity and failures so far.
    RunProblems problems() const;
    /// Does the operations of a module's last call again, on the inputs that it had in the run. Blocks. Usage error:
    /// there is no such module, or it was not run, or runs code of the model's own.
    base::Result<ModuleRun> runModule(std::string_view qualname, const base::WorkContext& work = {});

    /// Looks at the run from the current place: `work(view, context)` is done by the executor, after what was asked for
    /// before, and `done(result)` called on the session's thread. Neither happens if the run is moved or gone before,
    /// or runs, or there is none.
    template <typename Work, typename Done>
    void inspect(Work work, Done done) {
        using R = std::invoke_result_t<Work&, const debug::View&, const base::WorkContext&>;
        addLook([work = std::move(work), done = std::move(done)](
                    const debug::View& view, const base::WorkContext& context) mutable -> std::function<void()> {
            auto result = std::make_shared<R>(work(view, context));
            return [result, done = std::move(done)]() mutable { done(std::move(*result)); };
        });
    }

    using Look = std::function<std::function<void()>(const debug::View&, const base::WorkContext&)>;
    /// Work on the run as it stands, which goes on no further meanwhile (isRunning()); pause() asks it to stop. What it
    /// returns is called on the session's thread, in the state that there was before; not if the run is gone by then.
    /// Only with a run that does not go on.
    void occupy(Look work);

    const debug::Breakpoints& breakpoints() const { return m_breakpoints; }
    /// See debug::Breakpoints::add. What changes while the run goes on counts from the next time that it is moved.
    base::Result<int> addBreakpoint(std::string_view where, std::string_view condition = {});
    base::Result<int> addLogPoint(std::string_view where, std::string_view expression);
    bool removeBreakpoint(int id);
    bool setBreakpointEnabled(int id, bool enabled);
    /// See debug::Breakpoints.
    base::Result<void> setBreakpointExpression(int id, std::string_view text);
    base::Result<void> setBreakpointIgnored(int id, std::size_t hits);
    void clearBreakpoints();
    /// What to keep of them, and the same again. See debug::Breakpoints::restore.
    std::vector<debug::SavedBreakpoint> savedBreakpoints() const { return m_breakpoints.saved(); }
    std::vector<base::Error> restoreBreakpoints(const std::vector<debug::SavedBreakpoint>& saved);
    std::size_t takeDroppedLog() { return m_breakpoints.takeDroppedLog(); }
    std::vector<debug::LogEntry> takeLog() { return m_breakpoints.takeLog(); }

    /// By the session.
    void bind(std::shared_ptr<const document::Document> document);
    void inputsWereRead();
    void inputsWereChanged();
    /// A run that there is becomes one with the present edits, at the place where it is: what does not depend on them
    /// is not done again. Work for the executor.
    void editsWereChanged();
    void forget();

  private:
    void addLook(Look look);
    void startLooks();
    void clearTimeline();
    void dropLooks() { m_looks.clear(), m_isLooking = false; }
    base::Result<void> begin(std::function<void()> then);
    void start();
    void go(const debug::Target& target, Direction direction);
    struct Moved;
    void arrive(Moved moved);
    static void addChanges(Moved& moved, const debug::Trace& trace, debug::Timeline timeline);
    base::Result<std::shared_ptr<debug::RecordedRun>> makeRun(std::shared_ptr<const exec::Edits> edits,
                                                              std::shared_ptr<debug::RecordedRun> base);
    void fail(base::Error error);
    base::Result<debug::ItemId> itemForValues(const base::WorkContext& work);

    Executor& m_executor;
    Observer& m_observer;
    Inputs& m_inputs;
    Runs& m_runs;
    const Points& m_points;
    const Edits& m_edits;
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<exec::Runner> m_runner;  ///< used by these runs alone
    std::size_t m_runnerThreads = 0;
    debug::KeptLimits m_limits;
    debug::Breakpoints m_breakpoints;
    StopSwitch m_stop;
    DebugState m_state = DebugState::Stopped;
    std::shared_ptr<debug::RecordedRun> m_run;
    /// The run as it began: with other edits, it is another one that takes from this what they leave as it is.
    std::shared_ptr<debug::RecordedRun> m_base;
    std::shared_ptr<debug::RecordedRun> m_baseline;  ///< without edits; null: nobody asked for it
    exec::PlanOptions m_options;                     ///< of these runs, but for their edits
    std::vector<tensor::Value> m_given;              ///< to them, without edits of inputs
    bool m_hasOtherEdits = false;                    ///< than the run began with
    debug::Place m_place;
    debug::Timeline m_timeline;
    bool m_isComplete = false;  ///< there is nothing beyond the timeline
    std::optional<base::Error> m_error;
    bool m_doesCurrent = false;
    bool m_hasOtherInputs = false;  ///< than the run began with
    std::vector<Look> m_looks;      ///< that wait
    bool m_isLooking = false;
    std::function<void()> m_waiting;  ///< what to do once the inputs are read
};

}  // namespace sonde::session
