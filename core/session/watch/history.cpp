#include "core/session/watch/history.h"

#include <algorithm>

namespace sonde::session {

std::string_view name(Measure measure) {
    static constexpr std::string_view kNames[kMeasureCount] = {"min", "max", "mean", "std", "nan", "inf", "zero"};
    return kNames[static_cast<std::size_t>(measure)];
}

std::optional<double> valueOf(const analysis::TensorStats& stats, Measure measure) {
    if (measure == Measure::Nan) return static_cast<double>(stats.nanCount);
    if (measure == Measure::Inf) return static_cast<double>(stats.infCount);
    if (measure == Measure::Zero) return static_cast<double>(stats.zeroCount);
    if (stats.finiteCount() == 0) return std::nullopt;
    if (measure == Measure::Minimum) return stats.minimum;
    if (measure == Measure::Maximum) return stats.maximum;
    return measure == Measure::Mean ? stats.mean : stats.deviation;
}

void History::setLimit(std::size_t runs) {
    m_limit = std::clamp<std::size_t>(runs, 2, kMaxRuns);
    trim();
}

void History::add(Run run) {
    run.number = ++m_last;
    m_records += run.stats.size();
    m_runs.push_back(std::move(run));
    trim();
}

void History::trim() {
    while (m_runs.size() > m_limit || (m_records > kMaxRecords && m_runs.size() > 1)) {
        m_records -= m_runs.front().stats.size();
        m_runs.pop_front();
    }
}

void History::clear() {
    m_runs.clear();
    m_records = 0;
    m_last = 0;
}

void History::forget(int expression) {
    for (Run& run : m_runs) run.scalars.erase(expression);
}

std::vector<std::optional<double>> History::of(graph::NodeId node, Measure measure) const {
    std::vector<std::optional<double>> series;
    for (const Run& run : m_runs) {
        const auto found = run.stats.find(node);
        series.push_back(found == run.stats.end() ? std::nullopt : valueOf(found->second, measure));
    }
    return series;
}

std::vector<std::optional<double>> History::of(int expression) const {
    std::vector<std::optional<double>> series;
    for (const Run& run : m_runs) {
        const auto found = run.scalars.find(expression);
        series.push_back(found == run.scalars.end() ? std::nullopt : std::optional(found->second));
    }
    return series;
}

}  // namespace sonde::session
