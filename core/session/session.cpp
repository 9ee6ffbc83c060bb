#include "core/session/session.h"

#include <array>

namespace sonde::session {

using graph::NodeId;

Session::Session(base::WorkContext work)
    : m_work(std::move(work)), m_inline(std::make_unique<InlineExecutor>(m_work)), m_executor(*m_inline),
      m_observer(&m_nobody), m_inputs(m_executor, *this), m_problems(m_executor, *this),
      m_runs(m_executor, *this, m_inputs, m_points, m_problems), m_values(m_executor, *this, m_inputs, m_runs),
      m_comparison(m_executor, *this, m_inputs, m_runs, m_edits), m_testCases(m_executor, *this, m_runs, m_comparison),
      m_statistics(m_executor, *this, m_runs), m_edits([this] { editsChanged(); }),
      m_debugger(m_executor, *this, m_inputs, m_runs, m_points, m_edits),
      m_expressions(m_executor, *this, m_runs, m_values, m_points) {}

Session::Session(Executor& executor, Observer* observer)
    : m_executor(executor), m_observer(observer ? observer : &m_nobody), m_inputs(m_executor, *this),
      m_problems(m_executor, *this), m_runs(m_executor, *this, m_inputs, m_points, m_problems),
      m_values(m_executor, *this, m_inputs, m_runs), m_comparison(m_executor, *this, m_inputs, m_runs, m_edits),
      m_testCases(m_executor, *this, m_runs, m_comparison), m_statistics(m_executor, *this, m_runs),
      m_edits([this] { editsChanged(); }), m_debugger(m_executor, *this, m_inputs, m_runs, m_points, m_edits),
      m_expressions(m_executor, *this, m_runs, m_values, m_points) {}

/// Nobody is there any more for what still goes on.
Session::~Session() {
    for (std::size_t i = 0; i < kActivityCount; ++i) m_executor.abandon(static_cast<Activity>(i));
}

void Session::setObserver(Observer* observer) { m_observer = observer ? observer : &m_nobody; }

// --- the document ---------------------------------------------------------------------------------------------------

base::Result<void> Session::open(const std::string& model, const document::OpenOptions& options) {
    SONDE_ASSIGN(auto document, document::open(model, options, m_work));
    show(std::move(document));
    return {};
}

void Session::show(std::shared_ptr<const document::Document> document,
                   std::shared_ptr<const document::Document> whole) {
    const std::shared_ptr<const document::Document> before = m_document;
    leave();
    m_executor.abandon(Activity::Edits);
    m_document = std::move(document);
    m_executor.discard(std::exchange(m_whole, whole ? std::move(whole) : m_document));
    m_points.watched.bind(*m_document->graph, before ? before->graph.get() : nullptr);
    m_points.ends.bind(*m_document->graph, before ? before->graph.get() : nullptr);
    m_notes.bind(*m_document->graph, before ? before->graph.get() : nullptr);
    m_inputs.bind(m_document);
    m_problems.bind(m_document->graph);
    m_runs.bind(m_document);
    m_comparison.bind(m_document, m_whole);
    m_testCases.bind(m_document);
    m_statistics.bind(m_document);
    m_edits.bind(m_document);
    m_debugger.bind(m_document);
    m_points.groups.bind(*m_document, facts());
    m_expressions.bind(m_document, before);
    m_executor.discard(before);
    documentOpened();
    tellFound(m_points.watched, "watch points");
    tellFound(m_points.ends, "end points");
}

void Session::close() {
    leave();
    m_executor.abandon(Activity::Edits);
    m_points = {};
    m_notes.clear();
    setFileBase({});
    m_inputs.bind(nullptr);
    m_problems.bind(nullptr);
    m_runs.bind(nullptr);
    m_comparison.bind(nullptr, nullptr);
    m_testCases.bind(nullptr);
    m_statistics.bind(nullptr);
    (void)m_edits.restore({});
    m_edits.bind(nullptr);
    m_debugger.bind(nullptr);
    m_expressions.bind(nullptr, nullptr);
    m_executor.discard(std::exchange(m_whole, {}));
}

void Session::leave() {
    if (!m_document) return;
    documentLeft();
    m_values.bind();
    m_executor.discard(std::exchange(m_document, {}));
}

// --- watch and end points -------------------------------------------------------------------------------------------

void Session::setWatched(NodeId node, bool watched) {
    if (!m_document || !m_points.watched.set(*m_document->graph, node, watched)) return;
    watchChanged();
    if (watched) m_values.request(node);
}

void Session::setEnd(NodeId node, bool end) {
    if (m_document && m_points.ends.set(*m_document->graph, node, end)) endChanged();
}

void Session::clearWatched() {
    const bool hadPoints = m_points.watched.clear();
    if (m_points.groups.clear() || hadPoints) watchChanged();
}

void Session::clearEnds() {
    if (m_points.ends.clear()) endChanged();
}

void Session::restorePoints(const std::vector<NodeId>& watched, const std::vector<NodeId>& ends) {
    if (!m_document) return;
    m_points.watched.assign(*m_document->graph, watched);
    m_points.ends.assign(*m_document->graph, ends);
}

void Session::restorePoints(const std::vector<NodeIdentity>& watched, const std::vector<NodeIdentity>& ends) {
    if (!m_document) return;
    m_points.watched.assign(*m_document->graph, watched);
    m_points.ends.assign(*m_document->graph, ends);
}

void Session::restorePoints(PointSet watched, PointSet ends) {
    m_points.watched = std::move(watched);
    m_points.ends = std::move(ends);
}

void Session::forgetMissing(const NodeIdentity& missing) {
    if (m_points.watched.forget(missing)) watchChanged();
    if (m_points.ends.forget(missing)) endChanged();
}

/// What queries of watched groups may ask about.
WatchGroups::Facts Session::facts() {
    return [this] {
        analysis::QueryFacts facts;
        facts.recording = m_runs.last().recording.get();
        facts.value = [this](NodeId node) { return m_values.of(node); };
        facts.watched = [this](NodeId node) { return m_points.watched.contains(node); };
        return facts;
    };
}

void Session::setNote(NodeId node, std::string text) {
    if (m_document && m_notes.set(node, std::move(text))) notesChanged();
}

void Session::restoreNotes(const std::vector<Notes::Kept>& notes) {
    if (m_document) m_notes.restore(*m_document->graph, notes);
}

base::Result<void> Session::addEdit(NodeId target, Edit edit, EditPlace& place, const base::WorkContext& work) {
    if (m_debugger.isRunning()) return base::usageError("the run goes on", {}, "pause it first");
    const auto present = [&](NodeId node) -> std::optional<tensor::Value> {
        if (const Input* const input = m_inputs.of(node); input && input->value) return *input->value;
        if (!m_debugger.hasBegun()) return std::nullopt;
        auto value = m_debugger.valueSoFar(node, work);
        return value ? std::optional(std::move(*value)) : std::nullopt;
    };
    return m_edits.add(target, std::move(edit), present, place, work);
}

namespace {

struct EditOutcome {
    Edits edits;
    base::Result<void> changed;
    EditPlace place = {};
};

}  // namespace

void Session::changeEdits(EditChange change, EditChanged changed) {
    if (m_debugger.isRunning()) return changed(base::usageError("the run goes on", {}, "pause it first"), {});
    std::map<NodeId, tensor::Value> given;
    for (const Input& input : m_inputs.all())
        if (input.value) given.emplace(input.node, *input.value);
    const auto work = [edits = m_edits.quietCopy(), given = std::move(given), change = std::move(change)](
                          const debug::View* view, const base::WorkContext& context) {
        const auto present = [&](NodeId node) -> std::optional<tensor::Value> {
            if (const auto found = given.find(node); found != given.end()) return found->second;
            if (!view) return std::nullopt;
            auto value = view->value(node, context);
            return value ? std::optional(std::move(*value)) : std::nullopt;
        };
        auto outcome = std::make_shared<EditOutcome>(EditOutcome{edits, {}});
        outcome->changed = change(outcome->edits, present, outcome->place, context);
        if (context.cancelled()) outcome->changed = base::cancelled();
        return outcome;
    };
    const auto done = [this, number = m_edits.number(),
                       changed = std::move(changed)](const std::shared_ptr<EditOutcome>& outcome) {
        if (outcome->changed && number != m_edits.number())
            outcome->changed = base::usageError("the edits were changed meanwhile");
        if (outcome->changed) m_edits.adopt(std::move(outcome->edits));
        changed(std::move(outcome->changed), outcome->place);
    };
    if (m_debugger.hasBegun())
        return m_debugger.occupy(
            [work, done](const debug::View& view, const base::WorkContext& context) -> std::function<void()> {
                return [done, outcome = work(&view, context)] { done(outcome); };
            });
    m_editStop.renew();
    start(
        m_executor, Activity::Edits, m_editStop.token(),
        [work](const base::WorkContext& context) { return work(nullptr, context); }, done);
}

void Session::setFileBase(io::SessionFile base, std::optional<std::filesystem::path> folder) {
    m_fileBase = std::move(base);
    m_fileFolder = std::move(folder);
}

base::Result<void> Session::addWatchGroup(WatchGroup group) {
    if (!m_document) return base::usageError("no model is open");
    SONDE_TRY(m_points.groups.add(*m_document, std::move(group), facts()));
    watchChanged();
    return {};
}

base::Result<void> Session::changeWatchGroup(std::size_t index, WatchGroup group) {
    if (!m_document) return base::usageError("no model is open");
    if (index >= m_points.groups.entries().size())
        return base::usageError("there is no watched group " + std::to_string(index));
    SONDE_TRY(m_points.groups.change(*m_document, index, std::move(group), facts()));
    watchChanged();
    return {};
}

void Session::removeWatchGroup(std::size_t index) {
    if (m_points.groups.remove(index)) watchChanged();
}

void Session::restoreWatchGroups(std::vector<WatchGroup> groups) {
    m_points.groups.restore(std::move(groups));
    if (m_document) m_points.groups.bind(*m_document, facts());
}

/// "3 of 5 watch points were found by module, 1 by structure; 1 is missing": nothing if all have their names.
void Session::tellFound(const PointSet& points, const std::string& what) {
    std::array<std::size_t, 4> counts{};
    for (const PointSet::Entry& entry : points.entries()) ++counts[static_cast<std::size_t>(entry.by)];
    const auto count = [&](FoundBy by) { return counts[static_cast<std::size_t>(by)]; };
    std::string text;
    for (const FoundBy by : {FoundBy::Module, FoundBy::Structure})
        if (count(by) > 0)
            text += (text.empty() ? "" : ", ") + std::to_string(count(by)) + " found by " + std::string(name(by));
    if (count(FoundBy::Missing) > 0)
        text += (text.empty() ? "" : ", ") + std::to_string(count(FoundBy::Missing)) + " missing";
    if (text.empty()) return;
    const bool isMissing = count(FoundBy::Missing) > 0;
    told({isMissing ? base::Severity::Warning : base::Severity::Info,
          "of " + std::to_string(points.entries().size()) + " " + what + " in the model before: " + text,
          {},
          isMissing ? "those that are missing are kept, and come back with a model that has them" : "",
          {}});
}

// --- problems, scripts ----------------------------------------------------------------------------------------------

void Session::setAccepted(NodeId node, bool accepted) {
    if (!m_document || !m_problems.setAccepted(node, accepted)) return;
    m_problems.findAgain(m_document->graph, m_runs.isRunning() ? nullptr : m_runs.last().recording);
}

base::Result<std::vector<io::InputCase>> Session::readCases(const InputData& data) const {
    return session::readCases(*m_document, data, m_work);
}

base::Result<document::ReferenceComparison> Session::check(const std::string& reference,
                                                           const std::map<std::string, tensor::Tensor>& given) const {
    exec::Runner runner(m_runs.settings().threads);
    return document::compareWithReference(*m_document, reference, m_comparison.tolerances(), runner, given, m_work);
}

base::Result<std::vector<analysis::Problem>> Session::findDivergence(
    const document::ReferenceComparison& compared) const {
    exec::Runner runner(m_runs.settings().threads);
    return document::findDivergence(*m_document, compared, m_comparison.tolerances(), runner, m_work);
}

void Session::stop() {
    m_runs.stop();
    m_values.stop();
    m_comparison.stop();
    m_testCases.stop();
    m_statistics.stop();
    m_debugger.stop();
    m_editStop.stop();
    m_expressions.stop();
}

// --- events ---------------------------------------------------------------------------------------------------------

void Session::documentLeft() {
    m_testCases.forget();
    m_statistics.documentLeft();
    m_debugger.forget();
    m_expressions.documentLeft();
    m_comparison.documentLeft();
    m_problems.forget();
    m_observer->documentLeft();
}

void Session::fileChanged(const base::Error& error, bool isNew) {
    m_values.abandon();
    m_values.forget();
    m_testCases.forget();
    m_statistics.forget();
    m_debugger.forget();
    m_comparison.documentLeft();
    m_problems.forget();
    m_observer->fileChanged(error, isNew);
}

void Session::inputsChanged() {
    m_runs.inputsWereChanged();
    m_comparison.inputsChanged();
    m_debugger.inputsWereChanged();
    m_observer->inputsChanged();
}

void Session::inputsRead() {
    m_observer->inputsRead();
    m_runs.inputsWereRead();
    m_debugger.inputsWereRead();
}

void Session::runStarted() {
    m_values.abandon();
    m_comparison.runStarted();
    m_problems.forget();
    m_statistics.forget();
    m_observer->runStarted();
}

void Session::runFinished() {
    m_values.forget();
    m_observer->runFinished();
    m_comparison.runFinished();
    m_statistics.runFinished();
    m_expressions.runFinished();
}

/// Shapes that a run has shown may be what a query asks for.
void Session::typesChanged() {
    m_observer->typesChanged();
    if (m_document && m_points.groups.bind(*m_document, facts())) watchChanged();
}

void Session::documentOpened() { m_observer->documentOpened(); }
void Session::watchChanged() { m_observer->watchChanged(); }
void Session::endChanged() { m_observer->endChanged(); }
void Session::valueArrived(NodeId node) {
    m_observer->valueArrived(node);
    m_expressions.valueArrived(node);
}
void Session::problemsChanged() { m_observer->problemsChanged(); }
void Session::comparisonStarted() { m_observer->comparisonStarted(); }
void Session::comparisonMade() { m_observer->comparisonMade(); }
void Session::testCasesChanged() { m_observer->testCasesChanged(); }
void Session::statisticsChanged() { m_observer->statisticsChanged(); }
void Session::expressionsChanged() { m_observer->expressionsChanged(); }
void Session::debuggerChanged() { m_observer->debuggerChanged(); }
void Session::breakpointsChanged() { m_observer->breakpointsChanged(); }
void Session::notesChanged() { m_observer->notesChanged(); }
void Session::editsChanged() {
    m_debugger.editsWereChanged();
    m_comparison.editsChanged();
    m_observer->editsChanged();
}
void Session::comparisonChanged() {
    m_problems.setDivergence(m_comparison.divergence());
    m_observer->comparisonChanged();
}
void Session::told(const Notice& notice) { m_observer->told(notice); }
void Session::failed(const base::Error& error) { m_observer->failed(error); }

}  // namespace sonde::session
