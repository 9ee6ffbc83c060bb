#include "ui/models/node_stats.h"

#include <cmath>

#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"

namespace sonde::models {

using graph::NodeId;

NodeStats::NodeStats(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs, QObject* parent)
    : QObject(parent), m_opened(opened), m_runs(runs) {
    connect(&runs, &context::Runs::runFinished, this, [this] { forget(), compute(); });
    connect(&inputs, &context::Inputs::inputsChanged, this, [this] {
        if (!m_runs.recording()) forget(), compute();
    });
    connect(&opened, &context::OpenModel::documentOpened, this, [this] { forget(), compute(); });
    connect(&opened, &context::OpenModel::documentClosed, this, [this] { m_wanted.clear(), forget(); });
    connect(&runs, &context::Runs::valueArrived, this, [this] { compute(); });
}

void NodeStats::want(std::vector<NodeId> nodes) {
    m_wanted = std::move(nodes);
    compute();
}

const analysis::TensorStats* NodeStats::stats(NodeId node) const {
    const auto found = m_stats.find(node);
    return found == m_stats.end() ? nullptr : &found->second;
}

void NodeStats::forget() {
    m_job.abandon();
    m_stats.clear();
    Q_EMIT changed();
}

void NodeStats::compute() {
    if (!m_opened.isOpen()) return;
    std::vector<std::pair<NodeId, tensor::Tensor>> missing;
    for (const NodeId node : m_wanted) {
        if (node.index() >= m_opened.graph().nodeCount() || stats(node)) continue;
        const tensor::Value* value = m_runs.value(node);
        if (value && value->isTensor() && value->tensor().dtype() != tensor::DType::String)
            missing.emplace_back(node, value->tensor());
    }
    if (missing.empty()) return;
    using Found = std::vector<std::pair<NodeId, analysis::TensorStats>>;
    m_job.start(
        [missing = std::move(missing)](const base::WorkContext& work) {
            Found found;
            for (const auto& [node, tensor] : missing) {
                if (work.cancelled()) break;
                analysis::TensorStats stats = analysis::tensorStats(tensor, work.stop);
                if (!work.cancelled()) found.emplace_back(node, stats);
            }
            return found;
        },
        [this](Found found) {
            if (!m_opened.checkFiles()) return;  // they may be of another file's bytes
            for (const auto& [node, stats] : found) m_stats[node] = stats;
            Q_EMIT changed();
        });
}

QString numberText(double value) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value < 0 ? QStringLiteral("-Inf") : QStringLiteral("Inf");
    return QString::number(value, 'g', 6);
}

}  // namespace sonde::models
