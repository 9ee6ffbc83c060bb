#include "ui/context/comparison.h"

#include <QFileInfo>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/io/npz/npz.h"
#include "ui/context/count_text.h"
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
        const auto same = std::find_if(theirs.begin(), theirs.end(), [&](graph::NodeId node) { return given.graph->node(node).name == name; });
        const std::size_t at = same != theirs.end() ? static_cast<std::size_t>(same - theirs.begin()) : i;
        if (at < given.inputs.size()) values[i] = given.inputs[at];
    }
    return values;
}

/// The values of a reference file by node; every case counts, the worst of each node stands.
RunDifferences ofReference(const graph::InternalGraph& graph, const std::vector<analysis::ComparedCase>& cases) {
    RunDifferences result;
    result.ofNode.resize(graph.nodeCount());
    for (const analysis::ComparedCase& one : cases) {
        if (one.error && !result.error) result.error = one.error;
        for (const analysis::ComparedValue& value : one.values) {
            if (!value.node.valid() || value.node.index() >= result.ofNode.size()) continue;
            auto& known = result.ofNode[value.node.index()];
            if (!known) known.emplace();
            known->maxAbsolute = std::max(known->maxAbsolute, value.maxAbsolute);
            known->maxRelative = std::max(known->maxRelative, value.maxRelative);
            known->ok = known->ok && value.ok;
            if (known->note.empty()) known->note = value.note;
        }
    }
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const graph::NodeId node : graph.expr(id).outputs) {
            const auto& known = result.ofNode[node.index()];
            if (!known) continue;
            ++result.compared;
            if (!known->ok && result.differing++ == 0) result.firstDiverging = node;
        }
    return result;
}

base::Result<RunDifferences> compareWithReference(const document::Document& document, const std::string& path,
                                                  const analysis::Tolerance& tolerance, exec::Runner& runner, const base::WorkContext& work) {
    SONDE_ASSIGN(const auto npz, io::NpzFile::open(path));
    analysis::ComparedModel model;
    model.graph = document.graph;
    model.looseNames = document.format == "TorchScript";
    for (const document::NamedNode& input : document.inputs) model.inputs.emplace_back(input.name, input.node);
    for (const document::NamedNode& output : document.outputs) model.outputs.emplace_back(output.name, output.node);
    const analysis::ReferenceValues reference{npz.keys(), [&](const std::string& key) { return npz.read(key); }};
    SONDE_ASSIGN(const auto cases, analysis::compare(model, reference, tolerance, runner, work));
    return ofReference(*document.graph, cases);
}

}  // namespace

Comparison::Comparison(InspectorContext& context) : QObject(&context), m_context(context) {
    connect(&context, &InspectorContext::documentLeft, this, &Comparison::clear);
    connect(&context, &InspectorContext::runFinished, this, [this] {
        if (m_again && m_context.runState() == RunState::Finished) m_again();
    });
}

Comparison::~Comparison() { m_job.abandon(); }

const NodeDifference* Comparison::of(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->ofNode.size()) return nullptr;
    const auto& found = m_known->ofNode[node.index()];
    return found ? &*found : nullptr;
}

std::vector<graph::NodeId> Comparison::worstFirst() const {
    std::vector<graph::NodeId> nodes;
    for (std::size_t i = 0; m_known && i < m_known->ofNode.size(); ++i)
        if (m_known->ofNode[i] && !m_known->ofNode[i]->ok) nodes.emplace_back(i);
    std::stable_sort(nodes.begin(), nodes.end(), [this](graph::NodeId a, graph::NodeId b) { return of(a)->maxAbsolute > of(b)->maxAbsolute; });
    return nodes;
}

void Comparison::setTolerance(const analysis::Tolerance& tolerance) {
    if (tolerance.relative == m_tolerance.relative && tolerance.absolute == m_tolerance.absolute) return;
    m_tolerance = tolerance;
    if (m_again) m_again();
}

void Comparison::keepRun() {
    if (!m_context.hasModel()) return;
    m_kept = {m_context.document()->graph, m_context.recording() ? m_context.runInputs() : m_context.inputValues()};
    m_context.report(Message{base::Severity::Info, tr("This run is kept for comparing"), {}, {}, {}});
    Q_EMIT changed();
}

void Comparison::withKeptRun() {
    if (!hasKeptRun() || !m_context.hasModel()) return;
    compareWith(tr("the kept run"), m_kept);
    m_again = [this] { withKeptRun(); };
}

void Comparison::withBeforePasses() {
    const auto& whole = m_context.wholeDocument();
    if (!whole || !whole->original) return;
    const MeasuredRun given{m_context.document()->graph, m_context.inputValues()};
    compareWith(tr("the model before its passes"), {whole->original, inputsFor(*whole->original, given)});
    m_again = [this] { withBeforePasses(); };
}

void Comparison::withFile(const QString& path) {
    if (!m_context.hasModel()) return;
    const MeasuredRun actual{m_context.document()->graph, m_context.inputValues()};
    begin(QFileInfo(path).fileName(), [actual, document = m_context.document(), file = path.toStdString(), tolerance = m_tolerance,
                                       threads = m_context.threads(), npz = path.endsWith(QLatin1String(".npz"), Qt::CaseInsensitive)](const base::WorkContext& work) -> Outcome {
        exec::Runner runner(static_cast<std::size_t>(threads));
        const auto compared = [&]() -> base::Result<RunDifferences> {
            if (npz) return compareWithReference(*document, file, tolerance, runner, work);
            SONDE_ASSIGN(const auto other, document::open(file, {}, work));
            return analysis::compareRuns(actual, {other->graph, inputsFor(*other->graph, actual)}, tolerance, runner, work);
        };
        base::Result<RunDifferences> found = compared();
        if (!found) return {nullptr, std::move(found).error()};
        return {std::make_shared<const RunDifferences>(std::move(found).value()), {}};
    });
    m_again = [this, path] { withFile(path); };
}

void Comparison::compareWith(const QString& title, MeasuredRun reference) {
    begin(title, [actual = MeasuredRun{m_context.document()->graph, m_context.inputValues()}, reference = std::move(reference),
                  tolerance = m_tolerance, threads = m_context.threads()](const base::WorkContext& work) -> Outcome {
        exec::Runner runner(static_cast<std::size_t>(threads));
        auto found = analysis::compareRuns(actual, reference, tolerance, runner, work);
        if (!found) return {nullptr, std::move(found).error()};
        return {std::make_shared<const RunDifferences>(std::move(found).value()), {}};
    });
}

void Comparison::begin(const QString& title, std::function<Outcome(const base::WorkContext&)> work) {
    m_wantedTitle = title;
    m_job.start(std::move(work), [this](Outcome outcome) { take(std::move(outcome)); });
}

void Comparison::take(Outcome outcome) {
    if (outcome.error) {
        if (outcome.error->kind != base::ErrorKind::Cancelled) m_context.report(*outcome.error);
        return;
    }
    m_known = std::move(outcome.known);
    m_title = m_wantedTitle;
    Message message;
    message.severity = differing() > 0 ? base::Severity::Warning : base::Severity::Info;
    message.text = differing() > 0 ? tr("%1 of %2 values differ from %3").arg(countText(differing()), countText(compared()), m_title)
                                   : tr("%1 values agree with %2").arg(countText(compared()), m_title);
    message.node = firstDiverging();
    if (message.node.valid()) message.where = tr("first: %1").arg(QString::fromStdString(m_context.graph().node(message.node).name));
    m_context.report(message);
    if (m_known->error) m_context.report(*m_known->error);
    Q_EMIT changed();
}

void Comparison::clear() {
    m_job.abandon();
    m_again = nullptr;
    m_title.clear();
    if (!m_known) return;
    m_known.reset();
    Q_EMIT changed();
}

}  // namespace sonde::context
