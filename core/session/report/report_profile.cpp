#include "core/session/report/report_profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <thread>

#include "core/analysis/model_cost.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"
#include "core/session/report/report_blocks.h"

namespace sonde::session {

namespace {

using graph::ExprId;
using graph::InternalGraph;

constexpr std::size_t kRuns = 4;  ///< the first one touches memory and weights for the first time
constexpr std::size_t kMaxTimedNodes = 40;

std::string timeText(std::int64_t ns) { return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6); }

std::string shareText(std::int64_t ns, std::int64_t total) {
    return total > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(ns) / static_cast<double>(total)) : "";
}

void sortLongest(std::vector<ReportedProfile::Time>& times) {
    std::ranges::stable_sort(times, std::greater(), &ReportedProfile::Time::ns);
}

std::vector<ReportedProfile::Time> timesOf(std::map<std::string, ReportedProfile::Time> named) {
    std::vector<ReportedProfile::Time> times;
    for (auto& [name, time] : named) {
        time.name = name;
        times.push_back(std::move(time));
    }
    sortLongest(times);
    return times;
}

/// Calls, branches and loops contain the time of what is in them, which counts there.
void fill(ReportedProfile& profile, const InternalGraph& graph, const exec::Recording& recording) {
    std::map<std::string, ReportedProfile::Time> operators, modules;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        const std::int64_t ns = recording.elapsedNs(id);
        if (!expr.bodies.empty() || expr.callable || ns <= 0) continue;
        const std::string title = analysis::operatorTitle(expr), where = expr.qualname.value_or(std::string());
        const auto add = [ns](ReportedProfile::Time& time) { time.ns += ns, ++time.count; };
        add(operators[title]);
        add(modules[where.empty() ? "(model)" : where.substr(0, where.find('.'))]);
        if (!expr.outputs.empty())
            profile.nodes.push_back({graph.node(expr.outputs.front()).name, where, title, ns, 1});
    }
    profile.byOperator = timesOf(std::move(operators));
    profile.byModule = timesOf(std::move(modules));
    sortLongest(profile.nodes);
    if (profile.nodes.size() > kMaxTimedNodes) profile.nodes.resize(kMaxTimedNodes);
}

ReportTable timeTable(std::string title, const char* what, const std::vector<ReportedProfile::Time>& times,
                      std::int64_t total) {
    ReportTable table{std::move(title), {{what}, {"operations", true}, {"time", true}, {"of the run", true}}, {}, {}};
    for (const ReportedProfile::Time& time : times)
        table.rows.push_back({time.name, fmt::format("{}", time.count), timeText(time.ns), shareText(time.ns, total)});
    cutRows(table);
    return table;
}

ReportChart timeChart(std::string title, const std::vector<ReportedProfile::Time>& times) {
    std::vector<ReportChart::Bar> bars;
    for (const ReportedProfile::Time& time : times)
        bars.push_back({time.name, static_cast<double>(time.ns), timeText(time.ns)});
    return barChart(std::move(title), std::move(bars));
}

}  // namespace

base::Result<ReportedProfile> reportedProfile(const document::Document& document,
                                              const std::vector<tensor::Value>& inputs, std::uint64_t seed,
                                              std::size_t threads, const base::WorkContext& work) {
    const std::vector<graph::NodeId>& given = document.graph->inputs();
    std::vector<tensor::Value> ordered(given.size());
    for (std::size_t i = 0; i < document.inputs.size() && i < inputs.size(); ++i) {
        const auto at = std::ranges::find(given, document.inputs[i].node);
        if (at != given.end()) ordered[static_cast<std::size_t>(at - given.begin())] = inputs[i];
    }
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, {}));
    exec::Runner runner(threads);
    exec::RunOptions options;
    options.seed = seed;
    ReportedProfile profile;
    profile.threads = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
    std::optional<exec::Recording> fastest;
    for (profile.runs = 0; profile.runs < kRuns; ++profile.runs) {
        work.report("measuring times", profile.runs, kRuns);
        exec::Recording recording = runner.run(*plan, ordered, base::WorkContext{work.stop, {}}, options);
        if (work.cancelled()) return base::cancelled("measuring times");
        if (recording.error) return *recording.error;
        if (!fastest || recording.totalNs < fastest->totalNs) fastest = std::move(recording);
    }
    profile.totalNs = fastest->totalNs;
    fill(profile, *document.graph, *fastest);
    return profile;
}

ReportSection profileSection(const ReportedProfile& profile) {
    ReportSection section{"profile", "Measured times", {}};
    section.blocks.emplace_back(
        ReportText{"Times depend on the machine and on what else it does: another report has others. All are of the "
                   "fastest run; the time of a module or a branch is that of its operations."});
    section.blocks.emplace_back(factTable({{"runs", fmt::format("{}", profile.runs)},
                                           {"threads", fmt::format("{}", profile.threads)},
                                           {"fastest run", timeText(profile.totalNs)}}));
    section.blocks.emplace_back(timeChart("Time by operator", profile.byOperator));
    section.blocks.emplace_back(timeTable("By operator", "operator", profile.byOperator, profile.totalNs));
    section.blocks.emplace_back(timeTable("By module", "module", profile.byModule, profile.totalNs));
    ReportTable nodes{"Operations that take longest",
                      {{"node"}, {"module"}, {"operator"}, {"time", true}, {"of the run", true}},
                      {},
                      {}};
    for (const ReportedProfile::Time& time : profile.nodes)
        nodes.rows.push_back(
            {time.name, time.where, time.operation, timeText(time.ns), shareText(time.ns, profile.totalNs)});
    section.blocks.emplace_back(std::move(nodes));
    return section;
}

}  // namespace sonde::session
