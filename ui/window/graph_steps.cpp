#include "ui/window/graph_steps.h"

#include <QAction>

#include <algorithm>
#include <set>
#include <utility>

#include "core/session/debugged_problems.h"
#include "ui/models/module_result.h"

namespace sonde::window {

GraphSteps::GraphSteps(context::InspectorContext& context, const actions::ActionRegistry& actions)
    : m_context(context), m_actions(actions) {
    connect(&context.navigation(), &context::Navigation::selectionChanged, this, [this] {
        m_worst = {};
        m_isSelectionOlder = false;
    });
    const auto begin = [this] {
        const context::Comparison& comparison = m_context.comparison();
        m_worst = {};
        m_isSelectionOlder = comparison.isKnown() && !comparison.isStale();
    };
    connect(&context.comparison(), &context::Comparison::changed, this, begin);
    connect(&context.model(), &context::OpenModel::documentOpened, this, begin);
}

graph::NodeId GraphSteps::actedOn() const {
    return models::resultOf(m_context.model(), m_context.navigation().selection());
}

void GraphSteps::goToProducer() {
    const context::Selection& selection = m_context.navigation().selection();
    if (!selection.expr.valid()) return;
    // The first input that is no weight: the way the data came.
    const graph::InternalGraph& graph = m_context.model().graph();
    const graph::Expr& expr = graph.expr(selection.expr);
    for (const graph::NodeId input : expr.inputs) {
        const graph::ExprId producer = graph.node(input).producer;
        if (producer.valid() && layout::Outline::isConstant(graph.expr(producer))) continue;
        return m_context.navigation().navigateTo(input);
    }
    if (!expr.inputs.empty()) m_context.navigation().navigateTo(expr.inputs.front());
}

void GraphSteps::goToConsumer() {
    const graph::NodeId node = actedOn();
    if (!node.valid()) return;
    const std::vector<graph::ExprId>& users = m_context.model().graph().node(node).users;
    if (!users.empty()) m_context.navigation().navigateTo(m_context.navigation().selectionOf(users.front()));
}

/// To the node after or before the selected one, round and round; from elsewhere, and where it `begins`, to the first
/// or the last.
void GraphSteps::goAround(const std::vector<graph::NodeId>& nodes, int step, bool begins) {
    const int count = static_cast<int>(nodes.size());
    const auto found =
        begins ? nodes.end() : std::find(nodes.begin(), nodes.end(), m_context.navigation().selection().node);
    const int at = found == nodes.end() ? (step > 0 ? -1 : 0) : static_cast<int>(found - nodes.begin());
    m_context.navigation().navigateTo(nodes[static_cast<std::size_t>(((at + step) % count + count) % count)]);
}

QString GraphSteps::keyOf(const char* action) const {
    return m_actions.action(QLatin1String(action))->shortcut().toString(QKeySequence::NativeText);
}

/// That no problem is known says something of a run that ended, and nothing where there is none.
QString GraphSteps::noProblemText() const {
    const context::Runs& runs = m_context.runs();
    if (runs.isRunning()) return tr("The run has not ended yet");
    if (const auto& refusal = runs.refusal())
        return tr("The run was refused: %1").arg(QString::fromStdString(refusal->what));
    if (!runs.recording())
        return runs.state() == context::RunState::Failed
                   ? tr("The run failed before anything was computed")
                   : tr("Nothing was run yet: %1 runs the model").arg(keyOf("run.start"));
    if (runs.state() == context::RunState::Cancelled)
        return tr("No node has a problem up to where the run was cancelled");
    if (const QString stale = runs.staleReason(); !stale.isEmpty())
        return tr("No node had a problem in the last run; since then %1").arg(stale);
    return tr("No node has a problem");
}

namespace {

/// Of the run that is shown: of a debugged one what it has come to.
std::vector<graph::NodeId> problemNodes(context::InspectorContext& context) {
    if (!context.debugger().isStopped()) return context.problems().nodes();
    std::vector<graph::NodeId> nodes;
    const session::RunProblems found =
        session::problemsSoFar(*context.session().debugger().run(), context.problems().accepted());
    for (const analysis::Problem& problem : found.all)
        if (problem.node.valid()) nodes.push_back(problem.node);
    return nodes;
}

}  // namespace

void GraphSteps::goToProblem(int step) {
    // Of the run first, with origins before carriers; then what was said of the model. Differences have keys of
    // their own.
    std::vector<graph::NodeId> problems = problemNodes(m_context);
    for (const context::Message& message : m_context.messages().all())
        if (const graph::NodeId node = m_context.messages().nodeOf(message);
            node.valid() && !message.isOfRun && !message.isDifference && message.severity != base::Severity::Info)
            problems.push_back(node);
    std::set<graph::NodeId> seen;
    std::erase_if(problems, [&seen](graph::NodeId node) { return !seen.insert(node).second; });
    if (problems.empty()) Q_EMIT said(noProblemText());
    else goAround(problems, step);
}

QString GraphSteps::noDifferenceText() const {
    const context::Comparison& comparison = m_context.comparison();
    if (comparison.isActive()) return tr("The comparison has not ended yet");
    if (comparison.isKnown()) {
        const QString remarks = comparison.remarks();
        return comparison.summary() + (remarks.isEmpty() ? QString() : QStringLiteral("; ") + remarks);
    }
    return tr("Nothing was compared yet: choose a reference in Run \u203a Compare (%1: a file)")
        .arg(keyOf("compare.file"));
}

void GraphSteps::goToDifference(int step) {
    m_worst = {};
    const std::vector<graph::NodeId>& nodes = m_context.comparison().diverging();
    if (nodes.empty()) return Q_EMIT said(noDifferenceText());
    goAround(nodes, step, std::exchange(m_isSelectionOlder, false));
    sayIfStale();
}

void GraphSteps::goToWorst() {
    const std::vector<graph::NodeId> nodes = m_context.comparison().worstFirst();
    if (nodes.empty()) return Q_EMIT said(noDifferenceText());
    const auto at = std::ranges::find(nodes, m_worst);
    const bool goesOn = m_worst.valid() && at != nodes.end() && at + 1 != nodes.end();
    const graph::NodeId next = goesOn ? *(at + 1) : nodes.front();
    m_isSelectionOlder = false;
    m_context.navigation().navigateTo(next);
    m_worst = next;  // selecting has cleared it
    sayIfStale();
}

/// The differences that commands go to may be those of other inputs than the present ones.
void GraphSteps::sayIfStale() {
    const context::Comparison& comparison = m_context.comparison();
    if (comparison.isStale())
        Q_EMIT said(
            tr("The comparison is stale, %1: %2 repeats it").arg(comparison.staleReason(), keyOf("compare.again")));
}

}  // namespace sonde::window
