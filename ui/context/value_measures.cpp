#include "ui/context/value_measures.h"

#include "ui/context/inspector_context.h"

namespace sonde::context {

ValueMeasures::ValueMeasures(InspectorContext& context) : QObject(&context), m_context(context) {
    const auto leave = [this] {
        m_wanted = false;
        forget();
    };
    connect(&context, &InspectorContext::documentLeft, this, leave);
    connect(&context, &InspectorContext::runStarted, this, &ValueMeasures::forget);
    connect(&context, &InspectorContext::fileChanged, this, &ValueMeasures::forget);
    connect(&context, &InspectorContext::runFinished, this, [this] {
        if (m_wanted) compute();
    });
}

ValueMeasures::~ValueMeasures() { m_job.abandon(); }

void ValueMeasures::forget() {
    m_job.abandon();
    if (!m_known) return;
    m_known.reset();
    Q_EMIT changed();
}

const analysis::TensorStats* ValueMeasures::of(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->ofNode.size()) return nullptr;
    const auto& stats = m_known->ofNode[node.index()];
    return stats ? &*stats : nullptr;
}

void ValueMeasures::compute() {
    m_wanted = true;
    if (!m_context.hasModel() || !m_context.recording() || m_context.isRunning() || m_known || m_job.isActive()) return;
    m_job.start(
        [run = analysis::MeasuredRun{m_context.document()->graph, m_context.runInputs()},
         threads = m_context.threads()](const base::WorkContext& work) {
            exec::Runner runner(static_cast<std::size_t>(threads));
            return analysis::measureRun(run, runner, work);
        },
        [this](base::Result<analysis::RunStats> stats) {
            if (stats) m_known = std::make_shared<const analysis::RunStats>(std::move(stats).value());
            else if (stats.error().kind != base::ErrorKind::Cancelled) m_context.report(stats.error());
            Q_EMIT changed();
        });
}

}  // namespace sonde::context
