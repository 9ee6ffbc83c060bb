#include "core/session/runs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/analysis/reach.h"
#include "core/document/input_infos.h"
#include "core/graph/source_files.h"
#include "core/layout/outline.h"
#include "core/session/own_code_check.h"

namespace sonde::session {

using graph::ExprId;
using graph::NodeId;

const std::shared_ptr<const graph::InternalGraph>& Runs::graph() const {
    static const std::shared_ptr<const graph::InternalGraph> none;
    if (!m_document) return none;
    return m_types.graph ? m_types.graph : m_document->graph;
}

void Runs::bind(std::shared_ptr<const document::Document> document) {
    ++m_number;
    for (const Activity activity : {Activity::Run, Activity::Read}) m_executor.abandon(activity);
    // A runner keeps packed weights, and with them the model.
    m_executor.discard(std::exchange(m_runner, {}));
    m_executor.discard(m_last.recording);
    m_executor.discard(m_types.graph);
    m_document = std::move(document);
    m_state = RunState::NotRun;
    m_isWaiting = false;
    m_wanted = {};
    m_lookedAt.clear();
    m_operands.clear();
    m_watched = {};
    m_live.reset();
    m_last = {};
    m_types = {};
    m_proven.reset();
    m_refusal.reset();
    m_fileError.reset();
}

// --- running --------------------------------------------------------------------------------------------------------

void Runs::run() { begin({m_points.kept(), m_points.ends.nodes(), m_settings.watchAll, m_settings.exact}); }

void Runs::runTo(NodeId node) {
    if (node.valid()) begin({m_points.kept(), {node}, m_settings.watchAll, m_settings.exact});
}

void Runs::begin(exec::PlanOptions points) {
    if (!m_document) return;
    m_wanted = std::move(points);
    std::unordered_set<NodeId> watched(m_wanted.watch.begin(), m_wanted.watch.end());
    for (const auto* more : {&m_lookedAt, &m_operands})
        for (const NodeId node : *more)
            if (watched.insert(node).second) m_wanted.watch.push_back(node);
    m_executor.abandon(Activity::Run);  // superseded; reading inputs first would else let it deliver in between
    m_stop.renew();
    m_state = RunState::Running;
    m_isWaiting = false;
    m_refusal.reset();
    m_live = m_settings.isObserved ? std::make_shared<LiveRun>(m_document->graph) : nullptr;
    const std::uint64_t number = ++m_number;
    m_observer.runStarted();
    if (number != m_number) return;
    const bool isAsOpened = checkFiles();
    if (number != m_number) return;
    if (!isAsOpened) return fail(changedFile());
    m_inputs.forgetOutdated();
    if (m_inputs.areRead()) return startIfGiven();
    m_isWaiting = true;
    m_inputs.read(m_stop.token());
}

void Runs::inputsWereRead() {
    if (!m_isWaiting) return;
    m_isWaiting = false;
    if (m_stop.token().stop_requested()) return fail(base::cancelled());
    startIfGiven();
}

/// A run that was refused left nothing: what was refused is no longer said of other inputs.
void Runs::inputsWereChanged() {
    if (!m_refusal || isRunning() || m_inputs.stillRefuse(*m_refusal)) return;
    m_refusal.reset();
    m_last.error.reset();
    m_state = m_last.state();
}

/// The inputs that the outputs, or the end points, are computed from. What only watch points need does not end a run.
std::vector<NodeId> Runs::neededInputs() const {
    const graph::InternalGraph& graph = *m_document->graph;
    std::vector<ExprId> from;
    for (const NodeId node : m_wanted.end.empty() ? graph.outputs() : m_wanted.end)
        from.push_back(graph.node(node).producer);
    const std::vector<std::uint32_t> distances = analysis::distances(graph, from, analysis::Flow::Upstream);
    std::vector<NodeId> inputs = graph.inputs();
    std::erase_if(inputs,
                  [&](NodeId node) { return distances[graph.node(node).producer.index()] == analysis::kUnreached; });
    return inputs;
}

/// Inputs that cannot be given are told before anything runs.
void Runs::startIfGiven() {
    if (const std::uint64_t number = m_number; !m_inputs.areAllGiven()) {
        m_inputs.refuseMissing(neededInputs());
        if (number != m_number) return;
    }
    m_refusal = m_inputs.refusal();
    if (m_refusal) return fail(*m_refusal);
    startRun();
}

/// The plan of the last run, if it is for the same points: a plan may be run any number of times.
std::shared_ptr<const exec::Plan> Runs::planFor(const exec::PlanOptions& points) const {
    if (!m_last.plan) return nullptr;
    const exec::PlanOptions& made = m_last.plan->options();
    const bool isSame = made.watch == points.watch && made.end == points.end && made.watchAll == points.watchAll &&
                        made.exact == points.exact;
    return isSame ? m_last.plan : nullptr;
}

namespace {

std::vector<tensor::TypeInfo> typesOfInputs(const std::vector<tensor::Value>& inputs) {
    std::vector<tensor::TypeInfo> types;
    for (const tensor::Value& input : inputs) types.push_back(tensor::TypeInfo::of(input));
    return types;
}

/// Branches and loops: what is done depends on values, not on types alone.
bool decidesByValues(const graph::InternalGraph& graph) {
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (graph.expr(id).kind == graph::ExprKind::CallFunction && !graph.expr(id).bodies.empty()) return true;
    }
    return false;
}

}  // namespace

/// Whether a run on these inputs need not be compared with the model's own code.
bool Runs::isProven() const {
    if (!m_document->ownCode) return true;
    return m_proven && *m_proven == typesOfInputs(m_inputs.values()) && !decidesByValues(*m_document->graph);
}

void Runs::startRun() {
    if (!m_runner) m_runner = std::make_shared<exec::Runner>(m_settings.threads);
    RunTask task{m_document->graph,
                 planFor(m_wanted),
                 m_wanted,
                 m_settings,
                 m_inputs.values(),
                 m_runner,
                 m_live,
                 m_types,
                 m_problems.accepted(),
                 isProven() ? document::OwnCode() : m_document->ownCode,
                 m_policy,
                 keptNodes()};
    start(
        m_executor, Activity::Run, m_stop.token(),
        [task = std::move(task)](const base::WorkContext& work) { return doRun(task, work); },
        [this](RunResult result) { finish(std::move(result)); });
}

void Runs::finish(RunResult result) {
    if (!result.run.recording) return fail(*result.run.error);
    const std::uint64_t number = m_number;
    const bool isAsOpened = checkFiles();
    if (number != m_number) return;
    if (!isAsOpened) return fail(changedFile());
    m_last = std::move(result.run);
    if (m_last.error && m_last.error->kind == base::ErrorKind::Run)
        if (const std::string cause = document::otherRank(*m_document, m_last.inputs); !cause.empty())
            m_last.error->what = cause + ": " + m_last.error->what;
    if (!m_last.error && m_wanted.end.empty()) m_proven = typesOfInputs(m_last.inputs);
    m_state = m_last.state();
    m_live.reset();
    // Somebody may point into the former graph until he is told.
    const RunTypes before = std::exchange(m_types, std::move(result.types));
    m_watched = std::move(result.watched);
    m_problems.adopt(std::move(result.problems));
    if (number == m_number && before.graph != m_types.graph) m_observer.typesChanged();
    if (number == m_number && !m_last.doubt.empty())
        m_observer.told({base::Severity::Warning, doubtText(m_last.doubt), {}, {}, {}});
    if (const std::string text = m_watched.text(); number == m_number && !text.empty())
        m_observer.told({base::Severity::Info, text, {}, "raise the budget, or watch fewer nodes", {}});
    if (number == m_number) m_observer.runFinished();
}

/// There is no recording of this run, and values of an earlier one would look like its own.
void Runs::fail(base::Error error) {
    m_live.reset();
    m_last.recording.reset();
    m_last.summaries.clear();
    m_watched = {};
    m_last.error = std::move(error);
    // Shapes of an earlier run would look like those of this one. Somebody may point into them until he is told.
    const RunTypes before = std::exchange(m_types, {});
    const bool isKnown = m_fileError.has_value();
    const std::uint64_t number = m_number;
    if (!checkFiles() && isKnown) m_observer.fileChanged(*m_fileError, false);
    if (number == m_number && before.graph) m_observer.typesChanged();
    if (number != m_number) return;
    m_state = m_last.state();
    m_observer.runFinished();
}

void Runs::cancel() {
    if (!isRunning()) return;
    if (std::exchange(m_isWaiting, false)) {
        m_inputs.abandonReading();
        return fail(base::cancelled());
    }
    m_stop.stop();
}

/// What a user looks at is kept whole: there is little of it.
WatchKeeper::Nodes Runs::keptNodes() const {
    WatchKeeper::Nodes nodes{{m_lookedAt.begin(), m_lookedAt.end()}, {m_operands.begin(), m_operands.end()}, {}};
    for (const NodeId node : m_operands)
        if (!m_points.keeps(node) && !m_settings.watchAll) nodes.unwatched.insert(node);
    return nodes;
}

void Runs::setPolicy(const WatchPolicy& policy) {
    m_policy = policy;
    m_policy.sampleElements = std::clamp<std::int64_t>(policy.sampleElements, 1, WatchPolicy::kMaxSample);
}

const WatchSummary* Runs::summary(NodeId node) const {
    const auto found = m_last.summaries.find(node);
    return found == m_last.summaries.end() ? nullptr : &found->second;
}

std::unordered_map<NodeId, tensor::Value> Runs::takeOperands() { return std::exchange(m_watched.operands, {}); }

void Runs::setSettings(const RunSettings& settings) {
    if (settings.threads != m_settings.threads) m_runner.reset();
    m_settings = settings;
}

void Runs::setLive(bool live) {
    if (live == m_isLive) return;
    m_isLive = live;
    if (live && m_document && !isRunning()) run();
}

// --- giving inputs --------------------------------------------------------------------------------------------------

void Runs::readOrRun() {
    if (m_isLive) return run();
    m_inputs.read(isRunning() ? m_stop.token() : std::stop_token());
}

base::Result<void> Runs::give(std::string_view input, const InputSpec& spec) {
    SONDE_TRY(m_inputs.set(input, spec));
    readOrRun();
    return {};
}

base::Result<void> Runs::lend(std::string_view input, const InputSpec& spec) {
    SONDE_TRY(m_inputs.lend(input, spec));
    readOrRun();
    return {};
}

void Runs::giveFile(const std::string& path) {
    if (m_inputs.all().empty()) return;
    const Input& first = m_inputs.all().front();
    const InputSpec spec{path, first.spec.image};
    if (!spec.isArchive()) {
        (void)give(std::string(first.name), spec);  // there is an input of that name
        return;
    }
    m_inputs.fillFrom(path);
    readOrRun();
}

void Runs::giveValues(const std::vector<tensor::Value>& values) {
    m_inputs.setValues(values);
    if (m_isLive) run();
}

// --- files ----------------------------------------------------------------------------------------------------------

bool Runs::fileHasChanged() const {
    return m_document && (m_fileError || base::anyKnownChanged(graph::filesOf(m_document->graph)));
}

base::Error Runs::changedFile() const {
    base::Error error = *m_fileError;
    error.kind = base::ErrorKind::Run;
    return error;
}

bool Runs::checkFiles() {
    if (!m_document) return true;
    if (m_fileError) return false;
    const auto files = graph::checkFiles(m_document->graph);
    if (files) return true;
    m_fileError = files.error();
    m_last.recording.reset();
    m_last.summaries.clear();
    m_watched = {};
    m_last.inputs.clear();
    if (m_state != RunState::NotRun && !isRunning()) m_state = RunState::Failed;
    const std::uint64_t number = m_number;
    m_observer.fileChanged(base::Error(*m_fileError), true);
    // Everybody who shows values looks for them again, and finds none.
    if (number == m_number && !isRunning()) m_observer.runFinished();
    return false;
}

// --- what the last run left -----------------------------------------------------------------------------------------

std::string Runs::staleReason() const {
    if (!m_last.recording) return {};
    if (std::string text = m_inputs.changedFileText(); !text.empty()) return text;
    return same(m_last.inputs, m_inputs.values()) ? std::string() : "the inputs were changed";
}

exec::ExprState Runs::exprState(ExprId expr) const {
    if (!expr.valid()) return exec::ExprState::NotReached;
    if (m_live) return m_live->state(expr);
    return m_last.recording ? m_last.recording->state(expr) : exec::ExprState::NotReached;
}

const exec::Failure* Runs::failure(ExprId expr) const {
    if (!m_last.recording || isRunning() || !expr.valid()) return nullptr;
    const graph::InternalGraph& graph = *m_document->graph;
    for (const exec::Failure& failure : m_last.recording->failures) {
        for (ExprId at = failure.expr; at.valid(); at = graph.body(graph.expr(at).body).owner)
            if (at == expr) return &failure;
    }
    return nullptr;
}

bool Runs::wasTaken(graph::BodyId body) const {
    if (!m_last.recording || !body.valid()) return false;
    const graph::InternalGraph& graph = *m_document->graph;
    const ExprId owner = graph.body(body).owner;
    if (!owner.valid()) return false;
    const std::vector<graph::BodyId>& bodies = graph.expr(owner).bodies;
    return std::ranges::any_of(m_last.recording->branches(owner),
                               [&](std::size_t branch) { return branch < bodies.size() && bodies[branch] == body; });
}

bool Runs::wasReached(NodeId node) const {
    if (!m_last.recording || !node.valid()) return true;
    const ExprId producer = m_document->graph->node(node).producer;
    if (producer.valid()) {
        const graph::Expr& expr = m_document->graph->expr(producer);
        if (expr.kind == graph::ExprKind::Input || layout::Outline::isConstant(expr)) return true;
    }
    return m_last.recording->computed(node);
}

}  // namespace sonde::session
