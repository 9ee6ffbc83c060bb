#include "ui/context/problems.h"

#include <algorithm>

#include "ui/context/inspector_context.h"

namespace sonde::context {

RunProblems RunProblems::of(const graph::InternalGraph& graph, const exec::Recording& recording,
                            const std::vector<graph::NodeId>& accepted) {
    return {analysis::findProblems(graph, recording, accepted), analysis::summarizeBad(graph, recording, accepted)};
}

Problems::Problems(InspectorContext& context) : QObject(&context), m_context(context) {
    connect(&context, &InspectorContext::runStarted, this, &Problems::forget);
    connect(&context, &InspectorContext::documentLeft, this, &Problems::forget);
    connect(&context, &InspectorContext::fileChanged, this, &Problems::forget);
}

Problems::~Problems() { m_job.abandon(); }

void Problems::forget() {
    m_job.abandon();
    if (m_found.all.empty() && m_found.summary.accepted == 0) return;
    adopt({});
}

void Problems::adopt(RunProblems found) {
    m_found = std::move(found);
    m_bad = std::set(m_found.summary.nodes.begin(), m_found.summary.nodes.end());
    Q_EMIT changed();
}

QString Problems::summary() const {
    return m_context.hasModel() ? QString::fromStdString(m_found.summary.text(m_context.graph())) : QString();
}

const exec::BadValues* Problems::counted(graph::NodeId node) const {
    const auto& recording = m_context.recording();
    if (!recording) return nullptr;
    const auto found = recording->bad.find(node);
    return found == recording->bad.end() ? nullptr : &found->second;
}

const analysis::Problem* Problems::of(graph::NodeId node) const {
    const auto found = std::ranges::find(m_found.all, node, &analysis::Problem::node);
    return found == m_found.all.end() ? nullptr : &*found;
}

std::vector<graph::NodeId> Problems::nodes() const {
    std::vector<graph::NodeId> nodes;
    for (const analysis::Problem& problem : m_found.all)
        if (problem.node.valid()) nodes.push_back(problem.node);
    if (!m_context.hasModel()) return nodes;
    const graph::ModuleTree& modules = *m_context.document()->modules;
    for (const graph::ExprId id : m_context.graph().main().order) {
        const graph::Expr& expr = m_context.graph().expr(id);
        if (expr.kind != graph::ExprKind::CallModule || expr.outputs.empty()) continue;
        if (const auto module = modules.find(expr.target); module && !modules.module(*module).failure.empty())
            nodes.push_back(expr.outputs.front());
    }
    return nodes;
}

bool Problems::isAccepted(graph::NodeId node) const { return std::ranges::find(m_accepted, node) != m_accepted.end(); }

void Problems::setAccepted(graph::NodeId node, bool accepted) {
    if (!node.valid() || accepted == isAccepted(node)) return;
    if (accepted) m_accepted.push_back(node);
    else std::erase(m_accepted, node);
    m_context.keep();
    if (!m_context.recording() || m_context.isRunning()) {
        Q_EMIT changed();
        return;
    }
    m_job.start([graph = m_context.document()->graph, recording = m_context.recording(),
                 nodes = m_accepted](const base::WorkContext&) { return RunProblems::of(*graph, *recording, nodes); },
                [this](RunProblems found) { adopt(std::move(found)); });
}

}  // namespace sonde::context
