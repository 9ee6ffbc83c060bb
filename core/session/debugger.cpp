#include "core/session/debugger.h"

#include <algorithm>

#include "core/graph/source_files.h"

namespace sonde::session {

using debug::Item;
using debug::ItemId;
using debug::kNoItem;
using debug::Target;
using graph::ExprId;
using graph::NodeId;
using tensor::Value;

NodeId Debugger::current() const {
    if (!m_run || isRunning() || m_place.item == kNoItem) return {};
    const ItemId operation = m_run->trace().operationAt(m_place.item);
    if (operation == kNoItem) return {};
    const std::vector<NodeId>& outputs = m_run->graph().expr(m_run->trace()[operation].expr).outputs;
    return outputs.empty() ? NodeId() : outputs.front();
}

void Debugger::bind(std::shared_ptr<const document::Document> document) {
    forget();
    m_executor.discard(std::exchange(m_runner, {}));
    m_document = std::move(document);
    if (m_document) m_breakpoints.bind(*m_document);
    else m_breakpoints.clear();
}

void Debugger::forget() {
    m_executor.abandon(Activity::Debug);
    dropLooks();
    m_stop.stop();
    m_waiting = {};
    // A run that is let go of may end later, on another thread: its runner goes with it.
    if (m_run) m_executor.discard(std::exchange(m_runner, {}));
    m_executor.discard(std::exchange(m_run, {}));
    m_executor.discard(std::exchange(m_baseline, {}));
    m_executor.discard(std::exchange(m_base, {}));
    m_given.clear();
    m_place = {};
    clearTimeline();
    m_isComplete = false;
    m_error.reset();
    m_hasOtherInputs = m_hasOtherEdits = false;
    m_state = DebugState::Stopped;
}

/// Of millions of steps it takes a while to be freed.
void Debugger::clearTimeline() { m_executor.discard(std::make_shared<debug::Timeline>(m_timeline.clear())); }

void Debugger::cancel() {
    if (!m_run && !isRunning()) return;
    forget();
    m_observer.debuggerChanged();
}

void Debugger::fail(base::Error error) {
    m_run.reset();
    m_baseline.reset();
    m_base.reset();
    m_place = {};
    clearTimeline();
    m_error = std::move(error);
    m_state = DebugState::Failed;
    m_observer.debuggerChanged();
}

// --- beginning ------------------------------------------------------------------------------------------------------

/// Makes a run, on the inputs that there are once they are read, and does `then`.
base::Result<void> Debugger::begin(std::function<void()> then) {
    if (!m_document) return base::usageError("no model is open");
    forget();
    m_breakpoints.clearHits();
    m_stop.renew();
    m_state = DebugState::Running;
    m_waiting = std::move(then);
    if (!m_runs.checkFiles()) {
        fail(m_runs.fileError() ? *m_runs.fileError() : base::runError("a file of the model has changed"));
        return {};
    }
    m_inputs.forgetOutdated();
    if (m_inputs.areRead()) {
        start();
        return {};
    }
    m_observer.debuggerChanged();
    m_inputs.read(m_stop.token());
    return {};
}

void Debugger::inputsWereRead() {
    if (m_waiting && !m_run) start();
}

void Debugger::inputsWereChanged() { m_hasOtherInputs = m_run != nullptr; }

std::string Debugger::staleReason() const {
    return m_hasOtherInputs ? "the inputs were changed" : m_hasOtherEdits ? "values were edited" : std::string();
}

void Debugger::start() {
    const auto then = std::exchange(m_waiting, {});
    if (!m_inputs.areAllGiven()) m_inputs.refuseMissing(m_document->graph->inputs());
    if (auto refusal = m_inputs.refusal()) return fail(std::move(*refusal));
    m_options = {};
    m_options.watch = m_points.watched.nodes();
    m_options.end = m_points.ends.nodes();
    m_options.exact = m_runs.settings().exact;
    m_given = m_inputs.values();
    const std::size_t threads = m_runs.settings().threads;
    if (!m_runner || m_runnerThreads != threads) m_runner = std::make_shared<exec::Runner>(threads);
    m_runnerThreads = threads;
    auto run = makeRun(m_edits.planned(), nullptr);
    if (!run) return fail(std::move(run).error());
    m_run = m_base = std::move(*run);
    m_state = DebugState::Stopped;
    if (then) then();
}

/// `base`: see RecordedTask.
base::Result<std::shared_ptr<debug::RecordedRun>> Debugger::makeRun(std::shared_ptr<const exec::Edits> edits,
                                                                    std::shared_ptr<debug::RecordedRun> base) {
    std::vector<Value> inputs = m_given;
    if (edits) {
        SONDE_ASSIGN(inputs, m_edits.inputs(m_given));
    }
    exec::PlanOptions options = m_options;
    options.edits = std::move(edits);
    if (base) options.alike = base->sharedPlan();
    SONDE_ASSIGN(auto plan, exec::Plan::make(m_document->graph, std::move(options)));
    return std::make_shared<debug::RecordedRun>(debug::RecordedTask{std::move(plan), std::move(inputs), m_runner,
                                                                    m_runs.settings().seed, m_limits, std::move(base)});
}

// --- going ----------------------------------------------------------------------------------------------------------

struct Debugger::Moved {
    debug::Place place;
    std::optional<debug::Breakpoints> points;  ///< none: as they were
    bool hasEnded = false;
    debug::Timeline::Changes changes = {};         ///< of the trace, if there are few
    std::optional<debug::Timeline> timeline = {};  ///< with all changes, if there are many
};

/// So many steps are added to the timeline on the session's thread, in less than a millisecond.
static constexpr std::size_t kFewSteps = 10'000;

void Debugger::arrive(Moved moved) {
    m_place = std::move(moved.place);
    if (moved.timeline) std::swap(m_timeline, *moved.timeline);
    else m_timeline.add(moved.changes);
    if (moved.timeline) m_executor.discard(std::make_shared<debug::Timeline>(std::move(*moved.timeline)));
    m_isComplete = moved.hasEnded;
    if (moved.points) m_breakpoints.adopt(std::move(*moved.points));
    m_state = m_place.reason == debug::Reason::Failed ? DebugState::Failed
              : m_place.isEnd                         ? DebugState::Finished
                                                      : DebugState::Stopped;
    m_error.reset();
    if (m_place.reason == debug::Reason::Failed) m_error = m_run->recording()->error;
    if (m_runs.checkFiles()) m_observer.debuggerChanged();
}

/// What a trace has that the timeline has not.
void Debugger::addChanges(Moved& moved, const debug::Trace& trace, debug::Timeline timeline) {
    moved.changes = debug::Timeline::changes(trace, timeline.size(), timeline.open());
    if (moved.changes.added.size() > kFewSteps) {
        timeline.add(std::exchange(moved.changes, {}));
        moved.timeline = std::move(timeline);
    }
}

void Debugger::go(const Target& target, Direction direction) {
    dropLooks();
    m_stop.renew();
    m_state = DebugState::Running;
    m_observer.debuggerChanged();
    if (!m_run) return;
    session::start(
        m_executor, Activity::Debug, m_stop.token(),
        [document = m_document, run = m_run, from = m_place, target, direction, doesCurrent = m_doesCurrent,
         points = m_breakpoints, timeline = m_timeline](const base::WorkContext& work) mutable {
            debug::Place place = debug::move(*document, *run, from, target, direction, points, work);
            if (doesCurrent) debug::View(document, run, place).doCurrent(work);
            Moved moved{std::move(place), std::move(points), run->hasEnded()};
            // It is given away: adding to the other one would copy it.
            addChanges(moved, run->trace(), std::exchange(timeline, {}));
            return moved;
        },
        [this, run = m_run](Moved moved) {
            if (run == m_run) arrive(std::move(moved));
        });
}

// --- what if --------------------------------------------------------------------------------------------------------

void Debugger::editsWereChanged() {
    if (!m_run) return;
    if (isRunning()) {
        m_hasOtherEdits = true;
        return;
    }
    const auto edits = m_edits.planned();
    std::shared_ptr<debug::RecordedRun> next = !edits && !m_base->plan().options().edits ? m_base : m_baseline;
    if (edits || !next) {
        auto made = makeRun(edits, m_base);
        if (!made) return fail(std::move(made).error());
        next = std::move(*made);
    }
    if (!edits) m_baseline = next;
    m_hasOtherEdits = false;
    if (next == m_run) return;
    dropLooks();
    m_stop.renew();
    const std::shared_ptr<debug::RecordedRun> before = std::exchange(m_run, next);
    const bool isKept = before == m_base || before == m_baseline;
    clearTimeline();
    m_state = DebugState::Running;
    m_observer.debuggerChanged();
    session::start(
        m_executor, Activity::Debug, m_stop.token(),
        [run = next, before, isKept, from = m_place, timeline = m_timeline](const base::WorkContext& work) mutable {
            debug::Place place = debug::follow(*run, *before, from, work);
            // It uses the same runner, and goes on no more.
            if (!isKept) before->end();
            Moved moved{std::move(place), {}, run->hasEnded()};
            addChanges(moved, run->trace(), std::exchange(timeline, {}));
            return moved;
        },
        [this, run = next](Moved moved) {
            if (run == m_run) arrive(std::move(moved));
        });
}

base::Result<std::shared_ptr<debug::RecordedRun>> Debugger::baselineRun() {
    if (isRunning()) return base::usageError("the run goes on", {}, "pause it first");
    if (!m_run) return base::usageError("the run has not begun", {}, "run or step first");
    if (!isCounterfactual()) return std::shared_ptr<debug::RecordedRun>();
    if (!m_baseline && !m_base->plan().options().edits) m_baseline = m_base;
    if (!m_baseline) {
        SONDE_ASSIGN(m_baseline, makeRun(nullptr, m_base));
    }
    return m_baseline;
}

base::Result<Value> Debugger::baselineValue(NodeId node, const base::WorkContext& work) {
    SONDE_TRY(itemForValues(work));
    SONDE_ASSIGN(const auto baseline, baselineRun());
    if (!baseline) return value(node, work);
    // The operation there is done in the run, and so in this one.
    const debug::View view(m_document, m_run, m_place);
    SONDE_ASSIGN(Value value, debug::shownValue(view, baseline.get(), debug::ShownValues::Baseline, node, work));
    SONDE_TRY(graph::checkFiles(m_document->graph));
    return value;
}

void Debugger::restart() {
    if (isRunning()) return;
    if (const auto begun = begin([this] { go({}, Direction::Forward); }); !begun) fail(begun.error());
}

void Debugger::resume(Direction direction) { step(Target::Kind::Breakpoint, direction); }

void Debugger::step(Target::Kind kind, Direction direction) {
    if (isRunning()) return;
    const Target target{kind, {}, kNoItem};
    if (m_run) return go(target, direction);
    if (const auto begun = begin([=, this] { go(target, direction); }); !begun) fail(begun.error());
}

base::Result<void> Debugger::goTo(ItemId item) {
    if (isRunning()) return base::usageError("the run goes on", {}, "pause it first");
    if (!m_run) return begin([this, item] { go({Target::Kind::Item, {}, item}, Direction::Forward); });
    const std::size_t known = m_timeline.size();
    if (item >= known && m_isComplete)
        return base::usageError("the run has " + std::to_string(known) + " steps", {}, "choose one from 0 on");
    if (item == m_place.item) return {};
    // The last operation may have begun only.
    const bool isLast = item < known && m_timeline.operationAt(item) + 1 == known;
    const bool isToDo = isLast && m_timeline[static_cast<ItemId>(known - 1)].end == kNoItem;
    const bool isAhead = m_place.item == kNoItem || item > m_place.item;
    if (item >= known || (isToDo && isAhead && m_doesCurrent)) {
        // No breakpoint stops before what is recorded.
        if (item < known) m_place = {item == 0 ? kNoItem : item - 1, false, debug::Reason::Step, {}};
        go({Target::Kind::Item, {}, item}, Direction::Forward);
        return {};
    }
    dropLooks();
    m_executor.abandon(Activity::Debug);
    m_place = {item, false, debug::Reason::Step, {}};
    m_state = DebugState::Stopped;
    m_error.reset();
    m_observer.debuggerChanged();
    return {};
}

// --- values ---------------------------------------------------------------------------------------------------------

/// The item after which values are looked at: the current operation, which is done for that, or the last one.
base::Result<ItemId> Debugger::itemForValues(const base::WorkContext& work) {
    if (isRunning()) return base::usageError("the run goes on", {}, "pause it first");
    if (!m_run || (m_place.item == kNoItem && !m_place.isEnd))
        return base::usageError("the run has not begun", {}, "run or step first");
    const debug::Trace& trace = m_run->trace();
    if (trace.size() == 0) return base::usageError("the run has no steps");
    if (m_place.isEnd) return static_cast<ItemId>(trace.size() - 1);
    const ItemId operation = trace.operationAt(m_place.item);
    const ItemId item = operation == kNoItem ? m_place.item : operation;
    m_run->finish(item, work.stop);
    if (work.cancelled()) return base::cancelled();
    return item;
}

base::Result<Value> Debugger::value(NodeId node, const base::WorkContext& work) {
    SONDE_ASSIGN(const ItemId item, itemForValues(work));
    // After everything is also after a branch or loop that the last operation was inside of.
    SONDE_ASSIGN(Value value,
                 m_place.isEnd ? m_run->value(node, item + 1, false, work) : m_run->value(node, item, true, work));
    SONDE_TRY(graph::checkFiles(m_document->graph));
    return value;
}

base::Result<Value> Debugger::valueSoFar(NodeId node, const base::WorkContext& work) {
    if (isRunning() || !m_run || m_run->trace().size() == 0 || (m_place.item == kNoItem && !m_place.isEnd))
        return base::usageError("the value of '" + m_document->graph->node(node).name + "' is not computed yet");
    if (m_place.isEnd) return m_run->value(node, static_cast<ItemId>(m_run->trace().size()), false, work);
    return m_run->value(node, m_place.item, false, work);
}

base::Result<Value> Debugger::evaluate(const expression::Expression& expression, const base::WorkContext& work) {
    const auto names = [this, &work](std::string_view name) -> base::Result<Value> {
        SONDE_ASSIGN(const NodeId node, m_document->findNode(name));
        return value(node, work);
    };
    return expression::evaluate(expression, names, work);
}

RunProblems Debugger::problems() const {
    if (!m_run || isRunning()) return {};
    return RunProblems::of(m_run->graph(), m_run->partialRecording(), {});
}

base::Result<ModuleRun> Debugger::runModule(std::string_view qualname, const base::WorkContext& work) {
    if (isRunning()) return base::usageError("the run goes on", {}, "pause it first");
    if (!m_run) return base::usageError("the run has not begun", {}, "run or step first");
    return debug::runAlone(*m_run, qualname, work);
}

// --- looking beside the session -------------------------------------------------------------------------------------

void Debugger::addLook(Look look) {
    if (isRunning() || !m_run) return;
    m_looks.push_back(std::move(look));
    if (!m_isLooking) startLooks();
}

void Debugger::startLooks() {
    m_isLooking = true;
    m_stop.renew();
    session::start(
        m_executor, Activity::Debug, m_stop.token(),
        [looks = std::exchange(m_looks, {}),
         view = debug::View(m_document, m_run, m_place)](const base::WorkContext& work) mutable {
            std::vector<std::function<void()>> results;
            for (Look& look : looks) results.push_back(look(view, work));
            return results;
        },
        [this, run = m_run](const std::vector<std::function<void()>>& results) {
            if (run != m_run) return;
            m_isLooking = false;
            if (!m_runs.checkFiles()) return;
            for (const auto& deliver : results) deliver();
            if (!m_looks.empty() && !m_isLooking && !isRunning() && m_run) startLooks();
        });
}

void Debugger::occupy(Look work) {
    dropLooks();
    m_stop.renew();
    const DebugState before = std::exchange(m_state, DebugState::Running);
    m_observer.debuggerChanged();
    session::start(
        m_executor, Activity::Debug, m_stop.token(),
        [work = std::move(work), view = debug::View(m_document, m_run, m_place)](const base::WorkContext& context) {
            return work(view, context);
        },
        [this, run = m_run, before](const std::function<void()>& deliver) {
            if (run != m_run) return;
            m_state = before;
            deliver();
            if (!isRunning() && m_run) m_observer.debuggerChanged();
        });
}

// --- breakpoints ----------------------------------------------------------------------------------------------------

base::Result<int> Debugger::addBreakpoint(std::string_view where, std::string_view condition) {
    if (!m_document) return base::usageError("no model is open");
    SONDE_ASSIGN(const int id, m_breakpoints.add(*m_document, where, condition, false));
    m_observer.breakpointsChanged();
    return id;
}

base::Result<int> Debugger::addLogPoint(std::string_view where, std::string_view expression) {
    if (!m_document) return base::usageError("no model is open");
    SONDE_ASSIGN(const int id, m_breakpoints.add(*m_document, where, expression, true));
    m_observer.breakpointsChanged();
    return id;
}

bool Debugger::removeBreakpoint(int id) {
    if (!m_breakpoints.remove(id)) return false;
    m_observer.breakpointsChanged();
    return true;
}

bool Debugger::setBreakpointEnabled(int id, bool enabled) {
    if (!m_breakpoints.setEnabled(id, enabled)) return false;
    m_observer.breakpointsChanged();
    return true;
}

base::Result<void> Debugger::setBreakpointExpression(int id, std::string_view text) {
    if (!m_document) return base::usageError("no model is open");
    SONDE_TRY(m_breakpoints.setExpression(*m_document, id, text));
    m_observer.breakpointsChanged();
    return {};
}

base::Result<void> Debugger::setBreakpointIgnored(int id, std::size_t hits) {
    SONDE_TRY(m_breakpoints.setIgnored(id, hits));
    m_observer.breakpointsChanged();
    return {};
}

void Debugger::clearBreakpoints() {
    if (m_breakpoints.all().empty()) return;
    m_breakpoints.clear();
    m_observer.breakpointsChanged();
}

std::vector<base::Error> Debugger::restoreBreakpoints(const std::vector<debug::SavedBreakpoint>& saved) {
    if (!m_document) return {base::usageError("no model is open")};
    const bool isChange = !m_breakpoints.all().empty() || !saved.empty();
    std::vector<base::Error> errors = m_breakpoints.restore(*m_document, saved);
    if (isChange) m_observer.breakpointsChanged();
    return errors;
}

}  // namespace sonde::session
