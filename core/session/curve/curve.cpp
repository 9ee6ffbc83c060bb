#include "core/session/curve/curve.h"

#include <algorithm>
#include <cmath>

#include "core/base/number_text.h"
#include "core/base/resident_memory.h"
#include "core/document/input_infos.h"
#include "core/exec/row_memory.h"
#include "core/session/curve/curve_key.h"
#include "core/session/run.h"

namespace sonde::session {

namespace {

constexpr std::size_t kWarmUp = 2;

/// So many nodes of the main body, evenly over what its operations compute.
std::vector<graph::NodeId> spreadNodes(const graph::InternalGraph& graph, std::size_t count) {
    std::vector<graph::NodeId> all, chosen;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const graph::NodeId node : graph.expr(id).outputs) all.push_back(node);
    count = std::min(count, all.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[(2 * i + 1) * all.size() / (2 * count)]);
    return chosen;
}

class Measuring {
  public:
    Measuring(const CurveRequest& request, const base::WorkContext& work) : m_request(request), m_work(work) {}

    base::Result<Curve> measure(const std::function<void(const CurvePoint&)>& told) {
        SONDE_ASSIGN(m_document, m_request.open(m_request.model));
        SONDE_ASSIGN(m_key, CurveKey::find(m_request.range.key, m_request.model, *m_document));
        for (const double at : m_request.range.at) SONDE_TRY(m_key.check(at));
        Curve curve{m_document->title, m_request.range.key, m_key.what(), m_request.repeat, {}};
        for (const double at : m_request.range.at) {
            auto point = measureAt(at);
            if (!point) {
                base::Error error = std::move(point).error();
                return std::move(error.withNote("at " + curve.key + '=' + base::roundedText(at, 15)));
            }
            curve.points.push_back(*point);
            told(*point);
        }
        return curve;
    }

  private:
    base::Result<CurvePoint> measureAt(double at) {
        if (m_key.kind() == CurveKey::Kind::Setting) {
            m_document = nullptr;  // one model at a time
            SONDE_ASSIGN(m_document, m_request.open(m_key.modelAt(m_request.model, at)));
        }
        RunTask task;
        task.graph = m_document->graph;
        task.points.watchAll = m_request.watchAll;
        task.points.exact = m_request.exact;
        if (m_key.kind() == CurveKey::Kind::Watches)
            task.points.watch = spreadNodes(*task.graph, static_cast<std::size_t>(at));
        SONDE_ASSIGN(task.inputs, inputsAt(at));
        const auto threads = m_key.kind() == CurveKey::Kind::Threads ? static_cast<std::size_t>(at) : m_request.threads;
        task.runner = std::make_shared<exec::Runner>(threads);
        CurvePoint point;
        point.at = at;
        base::resetResidentPeak();
        const auto before = base::residentMemory();
        SONDE_TRY(timeRuns(task, point));
        const auto after = base::residentMemory();
        if (before && after) point.grownBytes = static_cast<std::int64_t>(after->peak - before->now);
        SONDE_ASSIGN(const exec::Measurement measurement, exec::measure(*task.runner, *task.plan, task.inputs, m_work));
        point.valueBytes = exec::rowMemory(*task.plan, measurement).peakBytes;
        return point;
    }

    base::Result<std::vector<tensor::Value>> inputsAt(double at) const {
        const auto infos = m_key.inputsAt(document::requiredInputInfos(*m_document), at);
        SONDE_ASSIGN(auto cases, readSizedCases(*m_document, m_request.inputs, infos, m_work));
        return std::move(cases.front().values);
    }

    base::Result<void> timeRuns(RunTask& task, CurvePoint& point) const {
        std::vector<std::int64_t> times;
        for (std::size_t i = 0; i < kWarmUp + m_request.repeat; ++i) {
            const RunResult result = doRun(task, m_work);
            if (result.run.error) return *result.run.error;
            task.plan = result.run.plan;
            point.threads = result.run.threads;
            if (i >= kWarmUp) times.push_back(result.run.recording->totalNs);
        }
        std::ranges::sort(times);
        point.medianNs = times[times.size() / 2];
        point.minNs = times.front();
        point.maxNs = times.back();
        return {};
    }

    const CurveRequest& m_request;
    const base::WorkContext& m_work;
    std::shared_ptr<const document::Document> m_document;
    CurveKey m_key;
};

}  // namespace

base::Result<Curve> measureCurve(const CurveRequest& request, const std::function<void(const CurvePoint&)>& told,
                                 const base::WorkContext& work) {
    return Measuring(request, work).measure(told);
}

std::optional<double> growthExponent(const Curve& curve, const std::function<double(const CurvePoint&)>& value) {
    double count = 0, sumX = 0, sumY = 0, sumXX = 0, sumXY = 0;
    for (const CurvePoint& point : curve.points) {
        if (point.at <= 0) continue;
        const double measured = value(point);
        if (!(measured > 0)) return std::nullopt;
        const double x = std::log(point.at), y = std::log(measured);
        count += 1, sumX += x, sumY += y, sumXX += x * x, sumXY += x * y;
    }
    const double spread = count * sumXX - sumX * sumX;
    if (count < 2 || spread <= 1e-12 * count * sumXX) return std::nullopt;
    return (count * sumXY - sumX * sumY) / spread;
}

}  // namespace sonde::session
