#include "ui/context/findings.h"

#include <algorithm>
#include <set>

#include "core/session/model_info.h"
#include "core/session/session.h"
#include "ui/context/messages.h"
#include "ui/context/session_files.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

using graph::NodeId;
using session::Acceptance;
using session::FindingGroup;
using session::FindingReport;

Findings::Findings(session::Session& session, SessionFiles& files, Messages& messages)
    : m_session(session), m_files(files), m_messages(messages) {
    connect(&m_job, &Job::progressed, this, &Findings::progressed);
    connect(&m_job, &Job::finished, this, &Findings::finished);
}

FindingInputs findingInputs(const session::Session& session) {
    FindingInputs inputs{session.document(), session.inputs().all(), {}, session.problems().accepted(), 0, 0};
    if (const auto accepted = session::acceptancesOf(session.fileBase())) inputs.acceptances = *accepted;
    inputs.seed = session.runs().settings().seed;
    inputs.threads = session.runs().settings().threads;
    return inputs;
}

session::FindingRequest FindingInputs::request(const base::WorkContext& work) const {
    session::FindingRequest request;
    request.acceptances = acceptances;
    request.acceptedValues = acceptedValues;
    request.seed = seed;
    request.threads = threads;
    const session::ReadInputsResult read = session::readInputs(*document, rows, {}, work);
    std::vector<tensor::Value> values;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& now = read.inputs[i];
        const std::optional<base::Error> error = !now.value ? std::optional(now.value.error()) : now.conflict;
        if (!rows[i].value && error) {
            request.withoutCases = windowText(*error).toStdString();
            return request;
        }
        values.push_back(rows[i].value ? *rows[i].value : *now.value);
    }
    request.cases.push_back(std::move(values));
    return request;
}

void Findings::look() {
    if (!m_session.document() || isActive()) return;
    m_isStale = false;
    m_job.start(
        [inputs = findingInputs(m_session)](const base::WorkContext& work) -> base::Result<FindingReport> {
            session::ModelInfoRequest about;
            about.hashes = false;
            SONDE_ASSIGN(const session::ModelInfo info,
                         session::modelInfo(*inputs.document, about, base::WorkContext{work.stop, {}}));
            const session::FindingRequest request = inputs.request(base::WorkContext{work.stop, {}});
            return session::findFindings(*inputs.document, info, request, work);
        },
        [this](base::Result<FindingReport> report) { take(std::move(report)); });
    Q_EMIT started();
}

void Findings::take(base::Result<FindingReport> report) {
    if (!report) {
        if (report.error().kind != base::ErrorKind::Cancelled) m_messages.report(report.error());
        return;
    }
    // Another model was opened meanwhile.
    if (!m_session.document() || report->graph != m_session.document()->graph) return;
    m_report = std::move(*report);
    for (const std::string& note : m_report->notes)
        m_messages.report(Message{base::Severity::Info, QString::fromStdString(note), {}, {}, {}});
    session::accept(*m_report, acceptances());
    regroup();
}

void Findings::regroup() {
    m_groups = m_report ? session::groupsOf(*m_report) : std::vector<FindingGroup>();
    std::set<NodeId> nodes;
    for (const FindingGroup& group : m_groups) {
        if (group.accepted) continue;
        for (const NodeId node : nodesOf(group)) nodes.insert(node);
    }
    m_nodes.assign(nodes.begin(), nodes.end());
    Q_EMIT changed();
}

std::vector<NodeId> Findings::nodesOf(const FindingGroup& group) const {
    std::vector<NodeId> nodes;
    std::set<NodeId> known;
    for (const std::size_t index : group.members)
        for (const NodeId node : m_report->findings[index].finding.nodes)
            if (known.insert(node).second) nodes.push_back(node);
    return nodes;
}

QString Findings::countText() const {
    if (!m_report) return {};
    const std::size_t open = m_report->openCount();
    if (open == 0) return {};
    QString text = open == 1 ? tr("1 finding") : tr("%1 findings").arg(open);
    const std::size_t errors = m_report->count(base::Severity::Error),
                      warnings = m_report->count(base::Severity::Warning);
    QStringList parts;
    if (errors > 0) parts << (errors == 1 ? tr("1 error") : tr("%1 errors").arg(errors));
    if (warnings > 0) parts << (warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(warnings));
    return parts.isEmpty() ? text : text + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

std::vector<Acceptance> Findings::acceptances() const {
    auto accepted = session::acceptancesOf(m_session.fileBase());
    return accepted ? std::move(*accepted) : std::vector<Acceptance>();
}

void Findings::store(const std::vector<Acceptance>& acceptances) {
    io::SessionFile base = m_session.fileBase();
    session::storeAcceptances(base, acceptances);
    m_session.setFileBase(std::move(base), m_session.fileFolder());
    m_files.saveSoon();
    session::accept(*m_report, acceptances);
    regroup();
}

void Findings::accept(int group, const QString& reason) {
    if (group < 0 || group >= static_cast<int>(m_groups.size()) || reason.trimmed().isEmpty()) return;
    const FindingGroup& chosen = m_groups[static_cast<std::size_t>(group)];
    std::vector<Acceptance> all = session::withoutGroup(*m_report, chosen, acceptances());
    all.push_back({chosen.id, chosen.names, reason.trimmed().toStdString()});
    store(all);
}

void Findings::takeBack(int group) {
    if (group < 0 || group >= static_cast<int>(m_groups.size())) return;
    store(session::withoutGroup(*m_report, m_groups[static_cast<std::size_t>(group)], acceptances()));
}

void Findings::reset() {
    m_job.abandon();
    m_isStale = false;
    if (!m_report) return;
    m_report.reset();
    regroup();
}

void Findings::noteInputs() {
    if (!m_report || m_isStale) return;
    m_isStale = true;
    Q_EMIT changed();
}

}  // namespace sonde::context
