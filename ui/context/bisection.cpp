#include "ui/context/bisection.h"

#include <algorithm>
#include <utility>

#include "core/analysis/edited_values.h"
#include "core/graph/edit_origin.h"
#include "core/session/edits/edit_count.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"
#include "ui/context/background.h"
#include "ui/context/given_inputs.h"
#include "ui/context/open_model.h"

namespace sonde::context {

namespace bisection = session::bisection;

namespace {

constexpr int kEngineSeconds = 600;  ///< for one run

bool isReference(const QString& path) {
    return path.section(u'#', 0, 0).endsWith(QLatin1String(".npz")) || path.endsWith(QLatin1String(".npz"));
}

base::Result<bisection::Target> targetOf(const Bisection::Wanted& wanted, std::size_t threads,
                                         const base::WorkContext& work) {
    using Kind = Bisection::Wanted::Kind;
    const std::string path = wanted.path.toStdString();
    if (wanted.kind == Kind::Engine)
        return bisection::Target(
            bisection::OtherEngine{{path, wanted.allowNative, threads, std::chrono::seconds(kEngineSeconds), {}}});
    if (wanted.kind == Kind::Precision) {
        bisection::LowerPrecision lower;
        SONDE_ASSIGN(lower.options.type, session::precision::numberType(wanted.type.toStdString()));
        for (const QString& query : wanted.queries) lower.options.queries.push_back(query.toStdString());
        return bisection::Target(std::move(lower));
    }
    if (isReference(wanted.path)) return bisection::Target(bisection::ReferenceFile{path});
    work.report("opening " + path);
    SONDE_ASSIGN(auto other, document::open(path, {}, work));
    return bisection::Target(bisection::OtherModel{std::move(other)});
}

}  // namespace

Bisection::Bisection(session::Session& session, OpenModel& model) : m_session(session), m_model(model) {
    connect(&model, &OpenModel::documentLeft, this, &Bisection::clear);
    connect(&m_job, &Job::progressed, this, [this](const base::Progress& progress) {
        m_progress = progress;
        Q_EMIT progressed(progress);
    });
}

Bisection::~Bisection() = default;

void Bisection::start(const Wanted& wanted) {
    if (!m_session.document()) return;
    bisection::Request request{m_session.document(), m_session.inputs().values(), m_session.runs().settings().seed,
                               m_session.comparison().tolerances(), m_session.runs().settings().threads};
    m_edits = UsedEdits(m_session.edits());
    m_hasOwnInputs = wanted.kind != Wanted::Kind::File || !isReference(wanted.path);
    m_inputs = m_hasOwnInputs ? inputsText() : tr("those of %1").arg(wanted.path.section(u'/', -1));
    m_job.abandon();
    freeLater(std::exchange(m_outcome, {}));
    m_part.clear();
    m_differing.clear();
    m_error.reset();
    m_progress = {};
    using Found = base::Result<std::shared_ptr<const Outcome>>;
    if (m_hasOwnInputs && (m_error = missingInput(m_session))) {
        Q_EMIT started();
        Q_EMIT changed();
        return;
    }
    m_job.start(
        [request = std::move(request), wanted,
         edits = m_session.edits().quietCopy()](const base::WorkContext& work) mutable -> Found {
            SONDE_ASSIGN(request.document, session::withEdits(request.document, edits));
            request.hasEdits = session::countingEdits(edits) > 0;
            SONDE_ASSIGN(const bisection::Target target, targetOf(wanted, request.threads, work));
            SONDE_ASSIGN(Outcome outcome, bisection::bisect(request, target, work));
            return std::make_shared<const Outcome>(std::move(outcome));
        },
        [this](Found found) {
            if (found) take(std::move(*found));
            else m_error = std::move(found).error();
            Q_EMIT changed();
        });
    Q_EMIT started();
    Q_EMIT changed();
}

/// "x: cat.png, mask: #rand(0,1)".
QString Bisection::inputsText() const {
    QStringList texts;
    for (const session::Input& input : m_session.inputs().all()) {
        const QString source = QString::fromStdString(input.spec.source);
        texts << tr("%1: %2").arg(QString::fromStdString(input.name),
                                  source.isEmpty() ? tr("default") : source.section(u'/', -1));
    }
    return texts.join(QStringLiteral(", "));
}

QString Bisection::basis() const {
    QString text = tr("inputs %1").arg(m_inputs);
    if (m_hasOwnInputs && m_inputs != inputsText()) text += tr(", others are given now");
    if (const QString edits = editsText(); !edits.isEmpty()) text += QStringLiteral("; ") + edits;
    return text;
}

QString Bisection::editsText() const { return m_edits.text(m_session.edits()); }

void Bisection::take(std::shared_ptr<const Outcome> outcome) {
    m_outcome = std::move(outcome);
    if (!m_outcome->found.differs) return;
    const std::vector<analysis::EditedValue> edited = analysis::editedValues(*m_outcome->document->graph);
    const auto add = [&](std::vector<graph::NodeId>& to, graph::NodeId node) {
        graph::NodeId here = nodeOf(node);
        // Before its edits a value has no node of its own here: the operation that gives it is where it is marked.
        if (const auto found = std::ranges::find(edited, node, &analysis::EditedValue::before); found != edited.end())
            here = m_model.isOpen() ? m_model.graph().findNode(found->name) : graph::NodeId();
        if (here.valid()) to.push_back(here);
    };
    for (const graph::NodeId node : m_outcome->found.all) add(m_differing, node);
    for (const graph::ExprId id : m_outcome->found.operations)
        for (const graph::NodeId node : m_outcome->document->graph->expr(id).outputs) add(m_part, node);
    if (m_part.empty()) m_part = m_differing;  // an input that the other model has an edit of
}

graph::NodeId Bisection::nodeOf(graph::NodeId node) const {
    if (!m_outcome || !node.valid() || !m_model.isOpen()) return {};
    if (m_outcome->document->graph.get() == m_session.document()->graph.get()) return node;
    const graph::Node& there = m_outcome->document->graph->node(node);
    const std::string edited = graph::editedNodeOf(m_outcome->document->graph->expr(there.producer));
    return m_model.graph().findNode(edited.empty() ? there.name : edited);
}

void Bisection::showValues() {
    const graph::NodeId node = m_outcome ? nodeOf(m_outcome->found.node) : graph::NodeId();
    if (node.valid()) Q_EMIT valuesRequested(node);
}

void Bisection::clear() {
    const bool had = hasAny();
    m_job.abandon();
    freeLater(std::exchange(m_outcome, {}));
    m_error.reset();
    m_part.clear();
    m_differing.clear();
    if (had) Q_EMIT changed();
}

void Bisection::savePiece(const QString& path) {
    if (!m_outcome) return;
    using Written = base::Result<exporting::WrittenPiece>;
    m_saveJob.start(
        [outcome = m_outcome, path = path.toStdString()](const base::WorkContext& work) -> Written {
            return bisection::writePiece(*outcome, path, work);
        },
        [this](Written written) {
            if (written) Q_EMIT saved(QString::fromStdString(written->model.string()), written->maxAbsolute);
            else Q_EMIT failed(written.error());
            Q_EMIT changed();
        });
    Q_EMIT changed();
}

}  // namespace sonde::context
