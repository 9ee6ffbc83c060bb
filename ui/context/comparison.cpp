#include "ui/context/comparison.h"

#include <QFileInfo>

#include <algorithm>
#include <cmath>

#include "core/document/reference.h"
#include "core/graph/source_files.h"
#include "ui/context/count_text.h"
#include "ui/context/input_values.h"
#include "ui/context/inspector_context.h"

namespace sonde::context {

using analysis::MeasuredRun;
using analysis::NodeDifference;
using analysis::RunDifferences;

namespace {

/// The inputs of one graph for another: by name, else by position; values of other inputs are left out.
std::vector<tensor::Value> inputsFor(const graph::InternalGraph& graph, const MeasuredRun& given) {
    std::vector<tensor::Value> values(graph.inputs().size());
    const std::vector<graph::NodeId>& theirs = given.graph->inputs();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& name = graph.node(graph.inputs()[i]).name;
        const auto same = std::find_if(theirs.begin(), theirs.end(),
                                       [&](graph::NodeId node) { return given.graph->node(node).name == name; });
        const std::size_t at = same != theirs.end() ? static_cast<std::size_t>(same - theirs.begin()) : i;
        if (at < given.inputs.size()) values[i] = given.inputs[at];
    }
    return values;
}

std::vector<InputSpec> specsOf(const InspectorContext& context) {
    std::vector<InputSpec> specs;
    for (const ModelInput& input : context.inputs()) specs.push_back(input.spec);
    return specs;
}

}  // namespace

Comparison::Comparison(InspectorContext& context) : QObject(&context), m_context(context) {
    connect(&context, &InspectorContext::documentLeft, this, &Comparison::leave);
    connect(&context, &InspectorContext::documentOpened, this, [this] {
        if (m_context.document()->location != m_leftModel) m_again = nullptr;
    });
    connect(&context, &InspectorContext::inputsChanged, this, &Comparison::followInputs);
    connect(&context, &InspectorContext::runStarted, this, [this] { makeStale(tr("the model was run again")); });
    connect(&context, &InspectorContext::runFinished, this, &Comparison::followRun);
    connect(&context, &InspectorContext::fileChanged, this, &Comparison::leave);
    connect(&context, &InspectorContext::selectionChanged, this, &Comparison::checkFiles);
    connect(&m_watch, &FileWatch::touched, this, &Comparison::checkFiles);
}

Comparison::~Comparison() { m_job.abandon(); }

Comparison::Outcome Comparison::failed(base::Error error) {
    Outcome outcome;
    outcome.error = std::move(error);
    return outcome;
}

QString Comparison::summary() const {
    QString text;
    if (compared() == 0)
        text = m_known->error ? tr("Nothing was compared with %1: the run failed first").arg(m_title)
                              : tr("Nothing was compared: no node has a counterpart in %1").arg(m_title);
    else if (m_known->error)
        text = tr("Compared with %1 only as far as it ran: %2 of %3 values differ")
                   .arg(m_title, countText(differing()), countText(compared()));
    else if (differing() > 0)
        text = tr("%1 of %2 values differ from %3").arg(countText(differing()), countText(compared()), m_title);
    else text = tr("%1 values agree with %2").arg(countText(compared()), m_title);
    QStringList inputs;
    for (const graph::NodeId node : differingInputs())
        inputs << QString::fromStdString(m_context.graph().node(node).name);
    if (!inputs.isEmpty()) text += tr(", which was run on other values of %1").arg(inputs.join(QStringLiteral(", ")));
    if (keptTolerance()) text += tr(" (tolerance %1)").arg(QString::number(m_tolerances.float32, 'g', 6));
    return text;
}

QString Comparison::runText() const {
    return isKnown() && !isStale() ? tr("compared with %1").arg(m_title) : QString();
}

const NodeDifference* Comparison::lastOf(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->ofNode.size()) return nullptr;
    const auto& found = m_known->ofNode[node.index()];
    return found ? &*found : nullptr;
}

const std::vector<graph::NodeId>& Comparison::diverging() const {
    static const std::vector<graph::NodeId> none;
    return m_known ? m_known->diverging : none;
}

const std::vector<graph::NodeId>& Comparison::differingInputs() const {
    static const std::vector<graph::NodeId> none;
    return m_known ? m_known->differingInputs : none;
}

std::vector<graph::NodeId> Comparison::worstFirst() const {
    std::vector<graph::NodeId> nodes = diverging();
    const auto worse = [this](graph::NodeId a, graph::NodeId b) {
        const NodeDifference &one = *lastOf(a), &other = *lastOf(b);
        if (std::isinf(one.maxAbsolute) != std::isinf(other.maxAbsolute)) return std::isinf(one.maxAbsolute);
        return one.maxAbsolute > other.maxAbsolute;
    };
    std::stable_sort(nodes.begin(), nodes.end(), worse);
    return nodes;
}

void Comparison::setTolerances(const analysis::Tolerances& tolerances) {
    const auto fixed = [](const analysis::Tolerances& of) {
        return of.fixed.value_or(analysis::Tolerance{-1, -1, -1});
    };
    const analysis::Tolerance before = fixed(m_tolerances), now = fixed(tolerances);
    const bool equal =
        before.relative == now.relative && before.absolute == now.absolute && before.ofLargest == now.ofLargest;
    if (equal && tolerances.float32 == m_tolerances.float32) return;
    m_tolerances = tolerances;
    m_context.keep();
    const bool isCurrent = isKnown() && !isStale();
    if (isKnown()) makeStaleForGood(tr("the tolerance was changed"));
    else Q_EMIT changed();
    // One with a reference would take its inputs again, in place of what the user has given since.
    if (isCurrent || m_followsRuns) again();
}

bool Comparison::hasUsualTolerances() const {
    return !m_tolerances.fixed && m_tolerances.float32 == analysis::Tolerances::kFloat32;
}

std::optional<double> Comparison::keptTolerance() const {
    return m_tolerances.fixed || hasUsualTolerances() ? std::nullopt : std::optional(m_tolerances.float32);
}

void Comparison::restoreTolerance(std::optional<double> float32) {
    m_tolerances = {};
    if (float32 && *float32 >= 0) m_tolerances.float32 = *float32;
}

void Comparison::again() {
    if (const auto again = m_again) again();
    else
        m_context.report(Message{
            base::Severity::Info, tr("Nothing was compared yet"), {}, tr("Run \u203a Compare says with what"), {}});
}

void Comparison::keepRun() {
    if (!m_context.hasModel()) return;
    m_kept = {m_context.document()->graph, m_context.recording() ? m_context.runInputs() : m_context.inputValues()};
    m_context.report(Message{base::Severity::Info, tr("This run is now the baseline"), {}, {}, {}});
    Q_EMIT changed();
}

void Comparison::withKeptRun() {
    if (!hasKeptRun()) return;
    compareWith(tr("the baseline"), [kept = m_kept](const MeasuredRun&) { return kept; });
    m_again = [this] { withKeptRun(); };
}

void Comparison::withBeforePasses() {
    const auto& whole = m_context.wholeDocument();
    if (!whole || !whole->original) return;
    compareWith(tr("the model before passes"), [original = whole->original](const MeasuredRun& actual) {
        return MeasuredRun{original, inputsFor(*original, actual)};
    });
    m_again = [this] { withBeforePasses(); };
}

void Comparison::withFile(const QString& path) {
    if (!m_context.hasModel()) return;
    path.endsWith(QLatin1String(".npz"), Qt::CaseInsensitive) ? withReference(path) : withModel(path);
    m_again = [this, path] { withFile(path); };
}

void Comparison::withModel(const QString& path) {
    m_followsRuns = true;
    whenRun([this, path] {
        begin(QFileInfo(path).fileName(),
              [actual = MeasuredRun{m_context.document()->graph, m_context.runInputs()}, file = path.toStdString(),
               tolerances = m_tolerances, threads = m_context.threads()](const base::WorkContext& work) -> Outcome {
                  auto other = document::open(file, {}, work);
                  if (!other) return failed(std::move(other).error());
                  exec::Runner runner(static_cast<std::size_t>(threads));
                  auto found = analysis::compareRuns(actual, {(*other)->graph, inputsFor(*(*other)->graph, actual)},
                                                     tolerances, runner, work);
                  if (!found) return failed(std::move(found).error());
                  Outcome outcome{std::make_shared<const RunDifferences>(std::move(*found))};
                  outcome.files = graph::filesOf((*other)->graph);
                  outcome.inputValues = actual.inputs;
                  return outcome;
              });
    });
}

void Comparison::withReference(const QString& path) {
    m_followsRuns = false;
    begin(
        QFileInfo(path).fileName(),
        [document = m_context.document(), path, tolerances = m_tolerances,
         threads = m_context.threads()](const base::WorkContext& work) -> Outcome {
            exec::Runner runner(static_cast<std::size_t>(threads));
            auto compared = document::compareWithReference(*document, path.toStdString(), tolerances, runner, {}, work);
            if (!compared) return failed(std::move(compared).error());
            std::vector<analysis::ComparedCase>& cases = compared->cases;
            // The run is that of one case: the first that differs. A sequence has many runs.
            const std::size_t inputs = document->graph->inputs().size(), all = cases.size();
            std::erase_if(cases, [inputs](const analysis::ComparedCase& one) { return one.inputs.size() != inputs; });
            if (cases.empty())
                return failed(base::usageError(
                    "the file holds only a sequence, and a comparison here takes a single run", path.toStdString()));
            auto shown =
                std::find_if(cases.begin(), cases.end(), [](const analysis::ComparedCase& one) { return !one.ok(); });
            if (shown == cases.end()) shown = cases.begin();
            const bool isFirst = shown->label == "case 0";
            Outcome outcome{std::make_shared<const RunDifferences>(analysis::differencesOf(*document->graph, *shown))};
            outcome.furtherCases = all - 1;
            outcome.files = std::move(compared->files);
            outcome.inputs =
                InputSpec{isFirst ? path : path + QLatin1Char('#') + QString::fromStdString(shown->label), {}};
            outcome.inputValues = std::move(shown->inputs);
            return outcome;
        });
}

void Comparison::compareWith(const QString& title, const std::function<MeasuredRun(const MeasuredRun&)>& reference) {
    if (!m_context.hasModel()) return;
    m_followsRuns = true;
    whenRun([this, title, reference] {
        const MeasuredRun actual{m_context.document()->graph, m_context.runInputs()};
        begin(title,
              [actual, reference, tolerances = m_tolerances,
               threads = m_context.threads()](const base::WorkContext& work) -> Outcome {
                  exec::Runner runner(static_cast<std::size_t>(threads));
                  auto found = analysis::compareRuns(actual, reference(actual), tolerances, runner, work);
                  if (!found) return failed(std::move(found).error());
                  Outcome outcome{std::make_shared<const RunDifferences>(std::move(*found))};
                  outcome.inputValues = actual.inputs;
                  return outcome;
              });
    });
}

void Comparison::whenRun(std::function<void()> then) {
    const bool isThere = !m_context.isRunning() && m_context.recording() &&
                         m_context.runState() != RunState::Cancelled && m_context.staleReason().isEmpty();
    if (isThere) return then();
    m_job.abandon();
    m_afterRun = std::move(then);
    if (!m_context.isRunning()) m_context.run();
}

void Comparison::begin(const QString& title, Work work) {
    m_wantedTitle = title;
    m_job.start(std::move(work), [this](Outcome outcome) { take(std::move(outcome)); });
    Q_EMIT changed();
}

void Comparison::take(Outcome outcome) {
    if (outcome.error) {
        // What is known is of an earlier comparison, and stands below this error.
        if (outcome.error->kind != base::ErrorKind::Cancelled) {
            m_context.report(*outcome.error);
            makeStaleForGood(tr("it could not be compared with %1 again").arg(m_wantedTitle));
        }
        Q_EMIT changed();
        return;
    }
    if (outcome.inputs) return adoptInputs(std::move(outcome));
    publish(std::move(outcome));
}

/// The model's own inputs become those of the reference, and the run of them is what all panels show.
void Comparison::adoptInputs(Outcome outcome) {
    QStringList names;
    for (const ModelInput& input : m_context.inputs()) names << input.name;
    const auto arrived = [this, outcome] {
        if (same(m_context.runInputs(), outcome.inputValues)) return publish(outcome);
        m_context.report(
            Message{base::Severity::Warning,
                    tr("Not compared with %1: the run and the reference have different inputs").arg(m_wantedTitle),
                    {},
                    {},
                    {}});
        makeStaleForGood(tr("the run and %1 have different inputs").arg(m_wantedTitle));
        Q_EMIT changed();
    };
    m_afterRun = nullptr;
    for (const QString& name : names)
        if (const ModelInput* input = m_context.input(name); input && !(input->spec == *outcome.inputs))
            m_context.setInputSpec(name, *outcome.inputs);
    m_afterRun = arrived;
    m_context.run();
}

void Comparison::publish(Outcome outcome) {
    m_known = std::move(outcome.known);
    m_inputs = std::move(outcome.inputValues);
    m_specs = specsOf(m_context);
    m_runReason.clear();
    m_lastingReason.clear();
    m_title = m_wantedTitle;
    m_files = std::move(outcome.files);
    QStringList paths;
    for (const auto& file : m_files) paths << QString::fromStdString(file->path().string());
    m_watch.watch({}, paths);
    Message message;
    message.severity = differing() > 0 || compared() == 0 ? base::Severity::Warning : base::Severity::Info;
    message.text = summary();
    if (m_known->error) message.severity = base::Severity::Error;
    if (outcome.furtherCases > 0)
        message.hint = tr("This is one of %1 cases of the file").arg(outcome.furtherCases + 1);
    message.node = firstDiverging();
    if (message.node.valid() && differingInputs().empty())
        message.where = tr("first: %1").arg(QString::fromStdString(m_context.graph().node(message.node).name));
    m_context.report(message);
    if (m_known->error) m_context.report(*m_known->error);
    Q_EMIT changed();
    checkFiles();  // it may have changed between reading and watching
}

void Comparison::checkFiles() {
    if (!isKnown()) return;
    for (const auto& file : m_files)
        if (file->hasChanged())
            return makeStaleForGood(
                tr("%1 changed on disk").arg(QString::fromStdString(file->path().filename().string())));
}

void Comparison::followInputs() {
    if (!isKnown() || m_afterRun) return;
    if (specsOf(m_context) != m_specs) makeStale(tr("the inputs were changed"));
    else if (const QString reason = m_context.staleReason(); !reason.isEmpty()) makeStale(reason);
}

/// A run on the same inputs has the same values: what was compared holds for it. Of a run on others it is made again,
/// unless what it was compared with belongs to its own inputs.
void Comparison::followRun() {
    checkFiles();
    const bool isFinished = m_context.runState() == RunState::Finished;
    if (const auto then = std::exchange(m_afterRun, nullptr)) {
        if (m_context.recording() && (isFinished || m_context.runState() == RunState::Failed)) return then();
        makeStale(tr("the run did not finish"));
        Q_EMIT changed();
        return;
    }
    if (!isKnown()) return;
    if (isFinished && same(m_context.runInputs(), m_inputs)) {
        m_specs = specsOf(m_context);
        m_runReason.clear();
        Q_EMIT changed();
    } else if (isFinished && m_followsRuns) {
        again();
    } else {
        makeStale(isFinished ? tr("the model was run on different inputs") : tr("the run did not finish"));
    }
}

void Comparison::makeStale(const QString& reason) {
    if (!isKnown() || m_runReason == reason) return;
    m_runReason = reason;
    Q_EMIT changed();
}

void Comparison::makeStaleForGood(const QString& reason) {
    if (!isKnown() || m_lastingReason == reason) return;
    m_lastingReason = reason;
    Q_EMIT changed();
}

void Comparison::cancel() {
    m_afterRun = nullptr;
    m_job.cancel();
}

void Comparison::clear() {
    m_again = nullptr;
    leave();
}

/// What was compared goes with its model; should the same be opened again, it can be compared again.
void Comparison::leave() {
    m_job.abandon();
    m_leftModel = m_context.hasModel() ? m_context.document()->location : std::string();
    m_afterRun = nullptr;
    m_title.clear();
    m_runReason.clear();
    m_lastingReason.clear();
    m_inputs.clear();
    m_specs.clear();
    m_files.clear();
    m_watch.watch({});
    if (!m_known) return;
    m_known.reset();
    Q_EMIT changed();
}

}  // namespace sonde::context
