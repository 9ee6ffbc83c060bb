#include "ui/context/problems.h"

#include "core/session/problem_report.h"
#include "core/session/session.h"

namespace sonde::context {

Problems::Problems(session::Session& session) : m_session(session) {}

const std::vector<analysis::Problem>& Problems::all() const { return m_session.problems().all(); }

const std::vector<analysis::Problem>& Problems::rows() const { return m_session.problems().withDivergence(); }

QString Problems::countText() const { return QString::fromStdString(m_session.problems().countText()); }

graph::NodeId Problems::firstBad() const {
    using analysis::ProblemKind;
    for (const analysis::Problem& problem : all())
        if (problem.kind == ProblemKind::Nan || problem.kind == ProblemKind::Inf ||
            problem.kind == ProblemKind::Overflow)
            return problem.node;
    return {};
}

QString Problems::summary() const {
    const auto& graph = m_session.runs().graph();
    return graph ? QString::fromStdString(m_session.problems().summary().text(*graph)) : QString();
}

const std::set<graph::NodeId>& Problems::bad() const { return m_session.problems().bad(); }

const exec::BadValues* Problems::counted(graph::NodeId node) const {
    const auto& recording = m_session.runs().last().recording;
    if (!recording) return nullptr;
    const auto found = recording->bad.find(node);
    return found == recording->bad.end() ? nullptr : &found->second;
}

const analysis::Problem* Problems::of(graph::NodeId node) const { return m_session.problems().of(node); }

std::vector<graph::NodeId> Problems::nodes() const {
    std::vector<graph::NodeId> nodes;
    for (const analysis::Problem& problem : all())
        if (problem.node.valid()) nodes.push_back(problem.node);
    if (!m_session.document()) return nodes;
    const graph::ModuleTree& modules = *m_session.document()->modules;
    const graph::InternalGraph& graph = *m_session.document()->graph;
    for (const graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.kind != graph::ExprKind::CallModule || expr.outputs.empty()) continue;
        if (const auto module = modules.find(expr.target); module && !modules.module(*module).failure.empty())
            nodes.push_back(expr.outputs.front());
    }
    return nodes;
}

base::Result<void> Problems::save(const QString& path) const {
    if (!m_session.document()) return base::usageError("no model is open");
    const document::Document& document = *m_session.document();
    return session::ProblemReport{document.title, document.graph, rows()}.write(path.toStdString());
}

const std::vector<graph::NodeId>& Problems::accepted() const { return m_session.problems().accepted(); }
bool Problems::isAccepted(graph::NodeId node) const { return m_session.problems().isAccepted(node); }

void Problems::setAccepted(graph::NodeId node, bool accepted) {
    if (!node.valid() || accepted == isAccepted(node)) return;
    m_session.setAccepted(node, accepted);
    Q_EMIT acceptedChanged();
}

}  // namespace sonde::context
