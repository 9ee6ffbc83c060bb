#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/parameters.h"
#include "core/analysis/profile/profile_json.h"
#include "core/base/visible_text.h"
#include "core/session/profile/profile_run.h"

namespace sonde::session {

using analysis::bytesText;
using analysis::RunProfile;

namespace {

double millisecondsOf(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

double percentOf(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string rateText(const std::optional<double>& perSecond, const char* unit) {
    return perSecond ? fmt::format("{:.2f} {}", *perSecond / 1e9, unit) : std::string("-");
}

std::string nodeTable(const RunProfile& profile, std::size_t lines) {
    std::vector<const analysis::ProfiledExpr*> slowest;
    for (const auto& entry : profile.exprs) slowest.push_back(&entry);
    std::ranges::stable_sort(slowest, [](const auto* a, const auto* b) { return a->selfNs > b->selfNs; });
    std::string text = fmt::format("{:>10} {:>6} {:>10} {:>13} {:>11} {:>8} {:>10}  node\n", "self ms", "%", "total ms",
                                   "FLOP/s", "bytes/s", "threads", "values");
    for (std::size_t i = 0; i < std::min(lines, slowest.size()); ++i) {
        const auto& entry = *slowest[i];
        const std::string name = base::visibleText(profile.nameOf(entry.expr));
        text += fmt::format("{:10.3f} {:6.1f} {:10.3f} {:>13} {:>11} {:7.0f}% {:>10}  {} ({})\n",
                            millisecondsOf(entry.selfNs), percentOf(entry.selfNs, profile.totalNs),
                            millisecondsOf(entry.totalNs), rateText(entry.cost.flopRate(entry.costNs()), "GFLOP/s"),
                            rateText(entry.cost.byteRate(entry.costNs()), "GB/s"), 100 * entry.threadUse,
                            bytesText(entry.memory.valueBytes), name,
                            base::visibleText(analysis::operatorTitle(profile.graph->expr(entry.expr))));
    }
    if (slowest.size() > lines) text += fmt::format("{} more nodes (--json)\n", slowest.size() - lines);
    return text;
}

std::string moduleTable(const RunProfile& profile, std::size_t lines) {
    std::vector<std::size_t> modules;
    for (std::size_t i = 0; i < profile.modules.size(); ++i)
        if (profile.modules[i].operations > 0) modules.push_back(i);
    std::ranges::stable_sort(
        modules, [&](std::size_t a, std::size_t b) { return profile.modules[a].totalNs > profile.modules[b].totalNs; });
    std::string text = fmt::format("{:>10} {:>6} {:>10}  module\n", "total ms", "%", "self ms");
    for (std::size_t i = 0; i < std::min(lines, modules.size()); ++i) {
        const auto& entry = profile.modules[modules[i]];
        const auto& module = profile.tree->module(modules[i]);
        text += fmt::format("{:10.3f} {:6.1f} {:10.3f}  {} {}\n", millisecondsOf(entry.totalNs),
                            percentOf(entry.totalNs, profile.totalNs), millisecondsOf(entry.selfNs),
                            module.qualname.empty() ? "(root)" : base::visibleText(module.qualname),
                            base::visibleText(module.moduleClass));
    }
    if (modules.size() > lines) text += fmt::format("{} more modules (--json)\n", modules.size() - lines);
    return text;
}

std::string peakText(const RunProfile& profile, std::size_t lines) {
    const analysis::MemoryProfile& memory = profile.memory;
    std::string text =
        fmt::format("peak memory {} at {:.3f} ms", bytesText(memory.peak.total()), millisecondsOf(memory.peak.atNs));
    if (memory.peakExpr.valid()) text += ", in " + base::visibleText(profile.nameOf(memory.peakExpr));
    if (profile.growthBytes > 0)
        text += fmt::format("; the process grew by {}", bytesText(static_cast<std::int64_t>(profile.growthBytes)));
    text += "\n";
    if (memory.peak.unused() > 0)
        text += fmt::format("{:>12}  free blocks, kept for values to come\n", bytesText(memory.peak.unused()));
    for (std::size_t i = 0; i < std::min(lines, memory.alive.size()); ++i)
        text += fmt::format("{:>12}  {}\n", bytesText(memory.alive[i].bytes),
                            base::visibleText(analysis::aliveText(profile, memory.alive[i])));
    if (memory.alive.size() > lines) {
        std::int64_t rest = 0;
        for (std::size_t i = lines; i < memory.alive.size(); ++i) rest += memory.alive[i].bytes;
        text += fmt::format("{:>12}  in {} more (--json)\n", bytesText(rest), memory.alive.size() - lines);
    }
    return text;
}

}  // namespace

std::string profileText(const RunProfile& profile, std::size_t lines) {
    std::string text = fmt::format("{}: {:.3f} ms on {} thread{}, {}; {:.3f} ms between operations\n", profile.model,
                                   millisecondsOf(profile.totalNs), profile.threads, profile.threads == 1 ? "" : "s",
                                   profile.isFused ? "operations fused as in a plain run" : "each operation by itself",
                                   millisecondsOf(profile.betweenNs));
    if (profile.limits)
        text += fmt::format(
            "this machine reaches {:.1f} GFLOP/s and {:.1f} GB/s: above {:.1f} FLOPs by byte "
            "arithmetic is the limit\n",
            profile.limits->flopsPerSecond / 1e9, profile.limits->bytesPerSecond / 1e9, profile.limits->ridge());
    text += "\n" + nodeTable(profile, lines) + "\n" + moduleTable(profile, lines) + "\n" + peakText(profile, lines);
    for (const std::string& note : profile.notes) text += "note: " + base::visibleText(note) + "\n";
    return text;
}

}  // namespace sonde::session
