#include "ui/context/precision.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/edited_values.h"
#include "core/document/without_writes.h"
#include "core/exec/flatten.h"
#include "core/session/diff/quantised_model.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"
#include "ui/context/background.h"
#include "ui/context/given_inputs.h"
#include "ui/context/open_model.h"

namespace sonde::context {

namespace precision = session::precision;
using graph::NodeId;

namespace {

struct Measured {
    precision::Report report;
    std::shared_ptr<const document::Document> document;
};

base::Result<Measured> measure(const std::shared_ptr<const document::Document>& document, const session::Edits& edits,
                               const Precision::Wanted& wanted, const precision::Request& request,
                               const base::WorkContext& work) {
    SONDE_ASSIGN(const auto edited, session::withEdits(document, edits));
    // What an operation reads must not be what another one wrote to meanwhile.
    SONDE_ASSIGN(const auto plain, document::withoutWrites(edited, work));
    if (wanted.type.isEmpty()) {
        SONDE_ASSIGN(const auto opened, document::open(wanted.quantised.toStdString(), {}, work));
        SONDE_ASSIGN(const auto quantised, document::withoutWrites(opened, work));
        SONDE_ASSIGN(auto report, session::measureQuantised(*plain, *quantised, request, work));
        return Measured{std::move(report), plain};
    }
    precision::SimulationOptions options;
    SONDE_ASSIGN(options.type, precision::numberType(wanted.type.toStdString()));
    options.perChannel = wanted.perChannel;
    for (const QString& query : wanted.queries) options.queries.push_back(query.toStdString());
    SONDE_ASSIGN(auto report, precision::measure(*plain, options, request, work));
    return Measured{std::move(report), plain};
}

}  // namespace

QString decibelText(double decibels) {
    if (std::isnan(decibels)) return QObject::tr("not finite");
    if (std::isinf(decibels)) return decibels > 0 ? QObject::tr("equal") : QObject::tr("only noise");
    return QObject::tr("%1 dB").arg(decibels, 0, 'f', 1);
}

Precision::Precision(session::Session& session, OpenModel& model) : m_session(session), m_model(model) {
    connect(&model, &OpenModel::documentLeft, this, &Precision::clear);
    connect(&m_job, &Job::progressed, this, [this](const base::Progress& progress) {
        m_progress = progress;
        Q_EMIT progressed(progress);
    });
}

Precision::~Precision() = default;

void Precision::start(const Wanted& wanted) {
    if (!m_session.document()) return;
    m_job.abandon();
    freeLater(std::exchange(m_report, {}));
    m_rowOf.clear();
    m_error.reset();
    m_progress = {};
    m_title = wanted.type.isEmpty() ? wanted.quantised.section(u'/', -1) : wanted.type;
    m_detail = wanted.perChannel ? tr(", a scale for each channel") : QString();
    m_edits = UsedEdits(m_session.edits());
    m_error = missingInput(m_session);
    if (!m_error) {
        precision::Request request;
        request.inputs = m_session.inputs().values();
        request.seed = m_session.runs().settings().seed;
        request.threads = m_session.runs().settings().threads;
        request.limits = m_session.debugger().limits();
        m_job.start([document = m_session.document(), edits = m_session.edits().quietCopy(), wanted, request](
                        const base::WorkContext& work) { return measure(document, edits, wanted, request, work); },
                    [this](base::Result<Measured> measured) {
                        if (measured) take(std::move(measured->report), *measured->document);
                        else m_error = std::move(measured).error();
                        Q_EMIT changed();
                    });
    }
    Q_EMIT started();
    Q_EMIT changed();
}

/// Nodes become those of the open model: a pass may have made others.
void Precision::take(Report report, const document::Document& measured) {
    const graph::InternalGraph& graph = m_model.graph();
    m_stages.clear();
    if (measured.graph.get() != m_session.document()->graph.get()) {
        const std::vector<analysis::EditedValue> edited = analysis::editedValues(*measured.graph);
        const auto editOf = [&](NodeId node) {
            return std::ranges::find_if(edited,
                                        [&](const auto& value) { return value.before == node || value.after == node; });
        };
        const auto here = [&](NodeId node) {
            if (!node.valid()) return NodeId();
            const auto edit = editOf(node);
            return graph.findNode(edit == edited.end() ? measured.graph->node(node).name : edit->name);
        };
        std::vector<std::size_t> moved(report.nodes.size(), report.nodes.size());
        std::vector<NodeError> kept;
        for (std::size_t i = 0; i < report.nodes.size(); ++i) {
            const NodeId there = report.nodes[i].node;
            report.nodes[i].node = here(there);
            if (!report.nodes[i].node.valid()) continue;
            const auto edit = editOf(there);
            m_stages.push_back(edit == edited.end()    ? Stage::Value
                               : edit->before == there ? Stage::BeforeEdits
                                                       : Stage::Edit);
            moved[i] = kept.size();
            kept.push_back(std::move(report.nodes[i]));
        }
        for (auto* list : {&report.worst, &report.growing}) {
            for (std::size_t& row : *list) row = moved[row];
            std::erase(*list, moved.size());
        }
        report.nodes = std::move(kept);
        const auto differs = [](const NodeError& error) { return error.note.empty() && error.error.maxAbs > 0; };
        const auto first = std::ranges::find_if(report.nodes, differs);
        report.begins = first == report.nodes.end() ? here(report.begins) : first->node;
    }
    const auto begins = std::ranges::find(report.nodes, report.begins, &NodeError::node);
    m_beginsRow = static_cast<std::size_t>(begins - report.nodes.begin());
    m_rowOf.assign(graph.nodeCount(), 0);
    for (std::size_t i = 0; i < report.nodes.size(); ++i) m_rowOf[report.nodes[i].node.index()] = i + 1;
    m_report = std::make_shared<const Report>(std::move(report));
}

const Precision::NodeError* Precision::of(NodeId node) const {
    if (!m_report || !node.valid() || node.index() >= m_rowOf.size() || m_rowOf[node.index()] == 0) return nullptr;
    return &m_report->nodes[m_rowOf[node.index()] - 1];
}

std::optional<double> Precision::relativeError(NodeId node) const {
    const NodeError* const error = of(node);
    if (!error || !error->note.empty()) return std::nullopt;
    if (std::isnan(error->error.sqnr)) return INFINITY;
    return std::pow(10.0, -error->error.sqnr / 20);  // 0 of what is equal, infinite of noise alone
}

QStringList Precision::summary() const {
    if (!m_report || !m_model.isOpen()) return {};
    const graph::InternalGraph& graph = m_model.graph();
    const auto name = [&](NodeId node) { return QString::fromStdString(graph.node(node).name); };
    QString what = m_title;
    if (m_report->chosen > 0)
        what += m_report->chosen == 1 ? tr(" at 1 operation") : tr(" at %1 operations").arg(m_report->chosen);
    what += m_detail;
    if (const QString edits = m_edits.text(m_session.edits()); !edits.isEmpty()) what += tr(" (%1)").arg(edits);
    if (!m_report->begins.valid()) return {tr("%1: all values are equal").arg(what)};
    QStringList lines{tr("%1: the error begins at %2").arg(what, name(m_report->begins))};
    const std::vector<NodeId> sources = exec::valueSources(graph);
    for (const document::NamedNode& output : m_session.document()->outputs)
        if (const NodeError* const error = of(sources[output.node.index()]); error && error->note.empty())
            lines << tr("output %1: %2").arg(QString::fromStdString(output.name), decibelText(error->error.sqnr));
    return lines;
}

void Precision::clear() {
    const bool had = hasAny();
    m_job.abandon();
    freeLater(std::exchange(m_report, {}));
    m_rowOf.clear();
    m_error.reset();
    if (had) Q_EMIT changed();
}

}  // namespace sonde::context
