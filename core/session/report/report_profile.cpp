#include "core/session/report/report_profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/analysis/model_cost.h"
#include "core/analysis/parameters.h"
#include "core/analysis/profile/profile_json.h"
#include "core/session/profile/profile_run.h"
#include "core/session/report/report_blocks.h"

namespace sonde::session {

namespace {

using analysis::bytesText;
using analysis::ProfiledExpr;
using analysis::RunProfile;

constexpr std::size_t kRuns = 4;  ///< the first one touches memory and weights for the first time
constexpr std::size_t kMaxTimedNodes = 40;
constexpr std::size_t kMaxAlive = 20;

/// Of an operator, or of a module.
struct Time {
    std::string name;
    std::int64_t ns = 0;
    std::size_t count = 0;  ///< operations
};

std::string timeText(std::int64_t ns) { return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6); }

std::string shareText(std::int64_t ns, std::int64_t total) {
    return total > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(ns) / static_cast<double>(total)) : "";
}

std::string rateText(const std::optional<double>& perSecond, const char* unit) {
    return perSecond ? fmt::format("{:.2f} {}", *perSecond / 1e9, unit) : std::string();
}

/// Self times: together with the time between operations they are that of the run.
std::vector<Time> byOperator(const RunProfile& profile) {
    std::map<std::string, Time> named;
    for (const ProfiledExpr& entry : profile.exprs) {
        const std::string title = analysis::operatorTitle(profile.graph->expr(entry.expr));
        Time& time = named.try_emplace(title, Time{title, 0, 0}).first->second;
        time.ns += entry.selfNs;
        ++time.count;
    }
    std::vector<Time> times;
    for (auto& [title, time] : named) times.push_back(std::move(time));
    std::ranges::stable_sort(times, std::greater(), &Time::ns);
    return times;
}

/// Those that are called from the root, and what the root does itself.
std::vector<Time> byModule(const RunProfile& profile) {
    std::vector<Time> times;
    for (std::size_t i = 0; i < profile.modules.size(); ++i) {
        const analysis::ProfiledModule& module = profile.modules[i];
        const std::string& qualname = profile.tree->module(i).qualname;
        if (i == 0 && module.ownOperations > 0) times.push_back({"(model)", module.selfNs, module.ownOperations});
        else if (i > 0 && module.operations > 0 && qualname.find('.') == std::string::npos)
            times.push_back({qualname, module.totalNs, module.operations});
    }
    std::ranges::stable_sort(times, std::greater(), &Time::ns);
    return times;
}

ReportTable timeTable(std::string title, const char* what, const std::vector<Time>& times, std::int64_t total) {
    ReportTable table{std::move(title), {{what}, {"operations", true}, {"time", true}, {"of the run", true}}, {}, {}};
    for (const Time& time : times)
        table.rows.push_back({time.name, fmt::format("{}", time.count), timeText(time.ns), shareText(time.ns, total)});
    cutRows(table, "sonde profile --json");
    return table;
}

ReportChart timeChart(std::string title, const std::vector<Time>& times) {
    std::vector<ReportChart::Bar> bars;
    for (const Time& time : times) bars.push_back({time.name, static_cast<double>(time.ns), timeText(time.ns)});
    return barChart(std::move(title), std::move(bars));
}

ReportTable nodeTable(const RunProfile& profile) {
    std::vector<const ProfiledExpr*> longest;
    for (const ProfiledExpr& entry : profile.exprs) longest.push_back(&entry);
    std::ranges::stable_sort(longest, [](const auto* a, const auto* b) { return a->selfNs > b->selfNs; });
    ReportTable table{
        "Operations that take longest",
        {{"node"}, {"module"}, {"operator"}, {"time", true}, {"of the run", true}, {"FLOP/s", true}, {"bytes/s", true}},
        {},
        {}};
    for (std::size_t i = 0; i < std::min(longest.size(), kMaxTimedNodes); ++i) {
        const ProfiledExpr& entry = *longest[i];
        const graph::Expr& expr = profile.graph->expr(entry.expr);
        table.rows.push_back({profile.nameOf(entry.expr), expr.qualname.value_or(std::string()),
                              analysis::operatorTitle(expr), timeText(entry.selfNs),
                              shareText(entry.selfNs, profile.totalNs),
                              rateText(entry.cost.flopRate(entry.costNs()), "GFLOP/s"),
                              rateText(entry.cost.byteRate(entry.costNs()), "GB/s")});
    }
    return table;
}

ReportTable memoryTable(const RunProfile& profile) {
    ReportTable table{"Memory at the peak", {{"bytes", true}, {"what"}}, {}, {}};
    const analysis::MemoryProfile& memory = profile.memory;
    if (memory.peak.unused() > 0)
        table.rows.push_back({bytesText(memory.peak.unused()), "free blocks, kept for values to come"});
    std::int64_t rest = 0;
    for (std::size_t i = 0; i < memory.alive.size(); ++i) {
        if (i < kMaxAlive)
            table.rows.push_back({bytesText(memory.alive[i].bytes), analysis::aliveText(profile, memory.alive[i])});
        else rest += memory.alive[i].bytes;
    }
    if (memory.alive.size() > kMaxAlive)
        table.rows.push_back({bytesText(rest), fmt::format("in {} more", memory.alive.size() - kMaxAlive)});
    return table;
}

}  // namespace

base::Result<ReportedProfile> reportedProfile(const document::Document& document,
                                              const std::vector<tensor::Value>& inputs, std::uint64_t seed,
                                              std::size_t threads, const base::WorkContext& work) {
    const std::vector<graph::NodeId>& given = document.graph->inputs();
    ProfileRequest request;
    request.inputs.resize(given.size());
    for (std::size_t i = 0; i < document.inputs.size() && i < inputs.size(); ++i) {
        const auto at = std::ranges::find(given, document.inputs[i].node);
        if (at != given.end()) request.inputs[static_cast<std::size_t>(at - given.begin())] = inputs[i];
    }
    request.threads = threads;
    request.seed = seed;
    request.repeat = kRuns;
    work.report("measuring times");
    ReportedProfile profile{kRuns, nullptr};
    SONDE_ASSIGN(profile.profile, profileRun(document, request, base::WorkContext{work.stop, {}}));
    return profile;
}

ReportSection profileSection(const ReportedProfile& reported) {
    const RunProfile& profile = *reported.profile;
    ReportSection section{"profile", "Measured times", {}};
    section.blocks.emplace_back(ReportText{
        "Times depend on the machine and on what else it does: another report has others. Each operation ran by itself, "
        "so that it has a time of its own; a plain run fuses operations and takes less. The time of an operation is that "
        "without what runs inside of it, the time of a module that of all its operations."});
    std::vector<std::vector<std::string>> facts{{"runs", fmt::format("{}, the last one is told", reported.runs)},
                                                {"threads", fmt::format("{}", profile.threads)},
                                                {"time of the run", timeText(profile.totalNs)},
                                                {"between operations", timeText(profile.betweenNs)}};
    if (profile.limits)
        facts.push_back(
            {"this machine reaches", fmt::format("{:.1f} GFLOP/s and {:.1f} GB/s", profile.limits->flopsPerSecond / 1e9,
                                                 profile.limits->bytesPerSecond / 1e9)});
    std::string peak = bytesText(profile.memory.peak.total());
    if (profile.memory.peakExpr.valid()) peak += ", in " + profile.nameOf(profile.memory.peakExpr);
    facts.push_back({"peak memory", std::move(peak)});
    section.blocks.emplace_back(factTable(std::move(facts)));
    const std::vector<Time> operators = byOperator(profile);
    section.blocks.emplace_back(timeChart("Time by operator", operators));
    section.blocks.emplace_back(timeTable("By operator", "operator", operators, profile.totalNs));
    section.blocks.emplace_back(timeTable("By module", "module", byModule(profile), profile.totalNs));
    section.blocks.emplace_back(nodeTable(profile));
    section.blocks.emplace_back(memoryTable(profile));
    for (const std::string& note : profile.notes) section.blocks.emplace_back(ReportText{note});
    return section;
}

}  // namespace sonde::session
