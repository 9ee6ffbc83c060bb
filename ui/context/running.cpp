// The part of InspectorContext that reads inputs and runs the model.

#include <algorithm>
#include <atomic>

#include "core/analysis/infer.h"
#include "core/analysis/seen_types.h"
#include "ui/context/inspector_context.h"
#include "ui/context/problems.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

/// What the running thread tells and the UI thread looks at: one byte for each expr, written once by one thread.
struct InspectorContext::LiveRun : exec::RunObserver {
    explicit LiveRun(std::shared_ptr<const graph::InternalGraph> graph)
        : states(graph->exprCount()), seen(std::move(graph)) {}

    void exprStarted(ExprId expr) override { current.store(expr.value, std::memory_order_relaxed); }
    void exprFinished(ExprId expr, std::span<const tensor::Value> outputs, std::int64_t) override {
        seen.add(expr, outputs);
        states[expr.index()].store(static_cast<std::uint8_t>(exec::ExprState::Done), std::memory_order_relaxed);
        done.fetch_add(1, std::memory_order_relaxed);
    }

    std::vector<std::atomic<std::uint8_t>> states;
    std::atomic<std::uint32_t> current{ExprId::kNone};
    std::atomic<std::size_t> done{0};
    std::atomic<std::size_t> total{0};
    analysis::SeenTypes seen;  ///< of the running thread
};

struct InspectorContext::RunResult {
    std::shared_ptr<exec::Recording> recording;
    std::vector<NodeId> outputNodes;
    std::vector<std::string> missing;
    std::optional<base::Error> error;                   ///< there was not even a plan
    std::shared_ptr<const graph::InternalGraph> typed;  ///< for these inputs; null: the document's own
    std::vector<tensor::TypeInfo> inputTypes;
    std::vector<tensor::Value> inputs;
    RunProblems problems;
};

namespace {

/// Whether the inputs say more of dim sizes than the graph does.
bool saysMore(const graph::InternalGraph& graph, const std::vector<tensor::TypeInfo>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const tensor::TypeInfo& declared = graph.node(graph.inputs()[i]).type;
        if (inputs[i].isTensor() && declared.staticShape() != inputs[i].staticShape()) return true;
    }
    return false;
}

}  // namespace

std::vector<tensor::Value> InspectorContext::inputValues() const {
    std::vector<tensor::Value> values(graph().inputs().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto found = std::find_if(m_inputs.begin(), m_inputs.end(),
                                        [&](const ModelInput& row) { return row.node == graph().inputs()[i]; });
        if (found != m_inputs.end() && found->value) values[i] = *found->value;
    }
    return values;
}

// --- running --------------------------------------------------------------------------------------------------------

void InspectorContext::run() {
    if (!m_document) return;
    m_wantedRun = {};
    m_wantedRun.watch = m_watched;
    m_wantedRun.end = m_ends;
    // What is selected is looked at: its value comes with the run.
    for (const NodeId node : m_selectedNodes)
        if (!isWatched(node)) m_wantedRun.watch.push_back(node);
    m_runJob.abandon();  // superseded; reading inputs first would else let it deliver in between
    m_runState = RunState::Running;
    m_refusal.reset();
    m_runProgress = {};
    m_peekJob.abandon();
    m_peekWanted.clear();
    m_liveRun = std::make_shared<LiveRun>(m_document->graph);
    m_runTimer.start();
    Q_EMIT bannerCleared();
    Q_EMIT runStarted();
    if (!checkFiles()) return failRun(base::runError("model file changed on disk"));
    // A file that could not be read may be there by now; one that has changed since is read anew.
    for (ModelInput& input : m_inputs) {
        input.error.reset();
        if (input.hasChangedFile()) input.value.reset();
    }
    if (inputsAreRead() && !m_fill) return startRunIfGiven();
    m_runWanted = true;
    startReading();
}

void InspectorContext::runTo(NodeId node) {
    if (!m_document || !node.valid()) return;
    const std::vector<NodeId> ends = std::exchange(m_ends, {node});
    run();
    m_ends = ends;
}

/// Inputs that cannot be given are told before anything runs.
void InspectorContext::startRunIfGiven() {
    for (const ModelInput& input : m_inputs) {
        if (!input.error && !input.conflict) continue;
        m_refusal = input.error ? input.error : input.conflict;
        return failRun(*m_refusal);
    }
    startRun();
}

void InspectorContext::startRun() {
    if (!m_runner) m_runner = std::make_shared<exec::Runner>(static_cast<std::size_t>(m_threads));
    m_runJob.start(
        [graph = m_document->graph, options = m_wantedRun, inputs = inputValues(), runner = m_runner, live = m_liveRun,
         typed = m_typed, typedInputs = m_typedInputs,
         accepted = m_problems->accepted()](const base::WorkContext& work) {
            RunResult result;
            result.outputNodes = options.end.empty() ? graph->outputs() : options.end;
            auto plan = exec::Plan::make(graph, options);
            if (!plan) {
                result.error = std::move(plan).error();
                return result;
            }
            live->total = (*plan)->steps().size();
            result.missing = (*plan)->missingOperators();
            exec::RunOptions run;
            run.observer = live.get();
            result.recording = std::make_shared<exec::Recording>(runner->run(**plan, inputs, work, run));
            for (const tensor::Value& input : inputs) result.inputTypes.push_back(tensor::TypeInfo::of(input));
            const std::map<NodeId, tensor::TypeInfo> seen = live->seen.types();
            const graph::InternalGraph& known = typed ? *typed : *graph;
            const bool isKnown = std::ranges::all_of(
                seen, [&](const auto& entry) { return analysis::agree(known.node(entry.first).type, entry.second); });
            if (result.inputTypes == typedInputs && isKnown) result.typed = typed;
            else if (!seen.empty() || saysMore(*graph, result.inputTypes))
                result.typed = std::make_shared<const graph::InternalGraph>(analysis::typedFor(*graph, inputs, seen));
            result.inputs = inputs;
            result.problems = RunProblems::of(*graph, *result.recording, accepted);
            return result;
        },
        [this](RunResult result) { finishRun(std::move(result)); });
}

void InspectorContext::finishRun(RunResult result) {
    if (result.error) return failRun(*result.error);
    if (!checkFiles()) return failRun(base::runError("model file changed on disk"));
    m_runTimer.stop();
    m_recording = std::move(result.recording);
    m_outputNodes = std::move(result.outputNodes);
    m_typedInputs = std::move(result.inputTypes);
    m_runInputs = std::move(result.inputs);
    m_peeked.clear();
    m_liveRun.reset();
    for (const std::string& line : result.missing)
        report(Message{base::Severity::Warning, QString::fromStdString(line), {}, {}, {}});
    const auto& error = m_recording->error;
    m_runState = !error                                      ? RunState::Finished
                 : error->kind == base::ErrorKind::Cancelled ? RunState::Cancelled
                                                             : RunState::Failed;
    m_problems->adopt(std::move(result.problems));
    if (m_runState == RunState::Failed) reportOfRun(*error);
    const QString seconds = QString::number(static_cast<double>(m_recording->totalNs) / 1e6, 'f', 1);
    if (m_runState == RunState::Finished)
        report(Message{base::Severity::Info, tr("Run finished in %1 ms").arg(seconds), {}, {}, {}});
    reportProblems();
    if (m_runState == RunState::Cancelled)
        report(Message{base::Severity::Warning,
                       tr("Run cancelled after %1 ms; what was computed is kept").arg(seconds),
                       {},
                       {},
                       {}});
    // Somebody may point into the former one until he is told.
    const auto before = std::exchange(m_typed, std::move(result.typed));
    if (before != m_typed) Q_EMIT typesChanged();
    Q_EMIT runFinished();
}

/// There is no recording of this run, and values of an earlier one would look like its own.
void InspectorContext::failRun(const base::Error& error) {
    m_runTimer.stop();
    m_liveRun.reset();
    m_recording.reset();
    m_outputNodes.clear();
    m_peeked.clear();
    const bool cancelled = error.kind == base::ErrorKind::Cancelled;
    m_runState = cancelled ? RunState::Cancelled : RunState::Failed;
    if (fileHasChanged()) Q_EMIT fileChanged();  // checkFiles() has told; what it said in the banner stands again
    else if (!cancelled) reportOfRun(error);
    Q_EMIT runFinished();
}

void InspectorContext::reportOfRun(const base::Error& error) {
    Message message{base::Severity::Error,
                    QString::fromStdString(error.what),
                    windowPlace(error.where),
                    windowHint(error.hint),
                    {}};
    // The place names the operation and the types of its inputs, as the note does.
    if (!error.notes.empty() && error.where.empty())
        message.text += QStringLiteral(" — ") + QString::fromStdString(error.notes.front());
    message.isOfRun = true;
    if (m_recording && !m_recording->failures.empty()) {
        const graph::Expr& failed = graph().expr(m_recording->failures.front().expr);
        if (!failed.outputs.empty()) message.node = failed.outputs.front();
    }
    report(message);
}

/// What a run that came to its end has to say: bad values, and what only watch points asked for and could not be
/// computed.
void InspectorContext::reportProblems() {
    const auto tell = [this](const QString& text, const QString& hint, NodeId node) {
        Message message{base::Severity::Warning, text, {}, hint, node};
        message.isOfRun = true;
        report(message);
    };
    if (const QString bad = m_problems->summary(); !bad.isEmpty())
        tell(bad, tr("Press F8 to go to the node that produced it first"), m_problems->all().front().node);
    for (const analysis::Problem& problem : m_problems->all()) {
        if (problem.kind != analysis::ProblemKind::Failure || problem.severity == base::Severity::Error) continue;
        tell(tr("%1 could not be computed: %2")
                 .arg(QString::fromStdString(analysis::placeText(graph(), problem.node)),
                      QString::fromStdString(problem.message)),
             QString::fromStdString(problem.advice), problem.node);
    }
}

const exec::Failure* InspectorContext::failure(ExprId expr) const {
    if (!m_recording || !m_document || isRunning() || !expr.valid()) return nullptr;
    for (const exec::Failure& failure : m_recording->failures) {
        for (ExprId at = failure.expr; at.valid(); at = graph().body(graph().expr(at).body).owner)
            if (at == expr) return &failure;
    }
    return nullptr;
}

void InspectorContext::cancel() {
    if (!isRunning()) return;
    if (m_runWanted) {
        m_runWanted = false;
        m_readJob.abandon();
        return failRun(base::cancelled());
    }
    m_runJob.cancel();
}

void InspectorContext::pollRun() {
    if (!m_liveRun) return;
    const std::size_t done = m_liveRun->done.load(std::memory_order_relaxed);
    const std::uint32_t current = m_liveRun->current.load(std::memory_order_relaxed);
    const std::size_t total = m_liveRun->total.load(std::memory_order_relaxed);
    if (done == m_runProgress.done && current == m_runProgress.current.value && total == m_runProgress.total) return;
    m_runProgress.current.value = current;
    m_runProgress.total = total;
    m_runProgress.done = total > 0 ? std::min(done, total) : done;  // loop bodies count more than once
    Q_EMIT runProgressed();
}

void InspectorContext::setLive(bool live) {
    if (live == m_live) return;
    m_live = live;
    Q_EMIT liveChanged(live);
    if (live && m_document && !isRunning()) run();
}

void InspectorContext::setThreads(int threads) {
    if (threads == m_threads) return;
    m_threads = threads;
    m_runner.reset();
    m_peekRunner.reset();
}

// --- values ---------------------------------------------------------------------------------------------------------

const tensor::Value* InspectorContext::value(NodeId node) const {
    // Who hears of a new model late may still ask for nodes of the last one.
    if (!m_document || !node.valid() || node.index() >= graph().nodeCount() || fileHasChanged()) return nullptr;
    if (m_recording) {
        if (const tensor::Value* kept = m_recording->value(node)) return kept;
        if (const auto found = m_peeked.find(node); found != m_peeked.end()) return &found->second.back();
        for (std::size_t i = 0; i < m_outputNodes.size() && i < m_recording->outputs.size(); ++i)
            if (m_outputNodes[i] == node && m_recording->computed(node)) return &m_recording->outputs[i];
    }
    if (const auto& constant = graph().node(node).constant) return &*constant;
    for (const ModelInput& input : m_inputs)
        if (input.node == node && input.value) return &*input.value;
    return nullptr;
}

std::size_t InspectorContext::iterations(NodeId node) const {
    if (!m_recording || !node.valid()) return 0;
    if (const std::size_t kept = m_recording->iterations(node); kept > 0) return kept;
    const auto found = m_peeked.find(node);
    return found == m_peeked.end() ? 0 : found->second.size();
}

const tensor::Value* InspectorContext::value(NodeId node, std::size_t iteration) const {
    if (!m_recording || !node.valid() || fileHasChanged()) return nullptr;
    if (const tensor::Value* kept = m_recording->value(node, iteration)) return kept;
    const auto found = m_peeked.find(node);
    return found == m_peeked.end() || iteration >= found->second.size() ? nullptr : &found->second[iteration];
}

bool InspectorContext::wasTaken(graph::BodyId body) const {
    if (!m_recording || !m_document || !body.valid()) return false;
    const ExprId owner = graph().body(body).owner;
    if (!owner.valid()) return false;
    for (const std::size_t branch : m_recording->branches(owner))
        if (branch < graph().expr(owner).bodies.size() && graph().expr(owner).bodies[branch] == body) return true;
    return false;
}

bool InspectorContext::wasReached(NodeId node) const {
    if (!m_recording || !m_document || !node.valid()) return true;
    const ExprId producer = graph().node(node).producer;
    if (producer.valid()) {
        const graph::ExprKind kind = graph().expr(producer).kind;
        if (kind == graph::ExprKind::Input || layout::Outline::isConstant(graph().expr(producer))) return true;
    }
    return m_recording->computed(node);
}

exec::ExprState InspectorContext::exprState(ExprId expr) const {
    if (!expr.valid()) return exec::ExprState::NotReached;
    if (m_liveRun && expr.index() < m_liveRun->states.size())
        return static_cast<exec::ExprState>(m_liveRun->states[expr.index()].load(std::memory_order_relaxed));
    return m_recording ? m_recording->state(expr) : exec::ExprState::NotReached;
}

void InspectorContext::requestValue(NodeId node) {
    if (!m_recording || isRunning() || value(node) || !m_recording->computed(node)) return;
    if (std::find(m_peekWanted.begin(), m_peekWanted.end(), node) != m_peekWanted.end()) return;
    m_peekWanted.push_back(node);
    if (!m_peekJob.isActive()) startPeek();
}

void InspectorContext::startPeek() {
    if (!m_peekRunner) m_peekRunner = std::make_shared<exec::Runner>(static_cast<std::size_t>(m_threads));
    const std::vector<NodeId> wanted = std::exchange(m_peekWanted, {});
    m_peekJob.start(
        [graph = m_document->graph, wanted, inputs = m_runInputs,
         runner = m_peekRunner](const base::WorkContext& work) {
            exec::PlanOptions options;
            options.watch = wanted;
            // In a loop every pass is requested: the run ends with the operation that the node is in.
            for (const NodeId node : wanted) {
                ExprId at = graph->node(node).producer;
                while (graph->expr(at).body != graph->mainId()) at = graph->body(graph->expr(at).body).owner;
                const std::vector<NodeId>& outputs = graph->expr(at).outputs;
                if (at == graph->node(node).producer) options.end.push_back(node);
                else options.end.insert(options.end.end(), outputs.begin(), outputs.end());
            }
            auto plan = exec::Plan::make(graph, options);
            std::vector<std::pair<NodeId, std::vector<tensor::Value>>> values;
            if (!plan) return values;
            const exec::Recording recording = runner->run(**plan, inputs, work);
            for (const NodeId node : wanted)
                if (const auto found = recording.kept.find(node);
                    found != recording.kept.end() && !found->second.empty())
                    values.emplace_back(node, found->second);
            return values;
        },
        [this](std::vector<std::pair<NodeId, std::vector<tensor::Value>>> values) {
            if (!checkFiles()) return;
            for (auto& [node, value] : values) m_peeked[node] = std::move(value);
            for (const auto& [node, value] : values) Q_EMIT valueArrived(node);
            if (!m_peekWanted.empty()) startPeek();
        });
}

}  // namespace sonde::context
