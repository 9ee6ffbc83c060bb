#include "core/analysis/profile/profile_json.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/analysis/node_measures.h"

namespace sonde::analysis {

using Json = nlohmann::ordered_json;
using base::MemoryKind;
using graph::ExprId;

namespace {

constexpr int kProcess = 1, kRunThread = 1;
/// Of the memory curve, in the figures: a plot has no more pixels.
constexpr std::size_t kMaxFigures = 2000;

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

/// By the part of the memory: values in blocks are told from the blocks that are free.
Json partsOf(const MemoryPoint& point) {
    Json parts;
    parts["values"] = point.of(MemoryKind::Value) + point.of(MemoryKind::Lease);
    parts["free blocks"] = point.unused();
    parts["packed weights"] = point.of(MemoryKind::Packed);
    parts["scratch"] = point.of(MemoryKind::Scratch);
    parts["weights"] = point.of(MemoryKind::Weights);
    return parts;
}

void addCost(Json& json, const MeasuredCost& cost, std::int64_t ns) {
    if (cost.flops) json["flops"] = *cost.flops;
    if (cost.bytes) json["bytes"] = *cost.bytes;
    if (const auto intensity = cost.intensity()) json["intensity"] = *intensity;
    if (const auto rate = cost.flopRate(ns)) json["flops_per_second"] = *rate;
    if (const auto rate = cost.byteRate(ns)) json["bytes_per_second"] = *rate;
}

Json nodeJson(const RunProfile& profile, const ProfiledExpr& entry) {
    const graph::Expr& expr = profile.graph->expr(entry.expr);
    Json json{{"name", profile.nameOf(entry.expr)},
              {"op", operatorTitle(expr)},
              {"qualname", expr.qualname.value_or("")},
              {"count", entry.count},
              {"total_ns", entry.totalNs},
              {"self_ns", entry.selfNs},
              {"start_ns", entry.startNs},
              {"end_ns", entry.endNs},
              {"thread_use", entry.threadUse},
              {"value_bytes", entry.memory.valueBytes},
              {"freed_bytes", entry.memory.freedBytes},
              {"packed_bytes", entry.memory.packedBytes},
              {"scratch_bytes", entry.memory.scratchBytes},
              {"weight_bytes", entry.memory.weightBytes}};
    if (!expr.name.empty()) json["file_name"] = expr.name;
    addCost(json, entry.cost, entry.costNs());
    if (entry.doneWith.valid()) json["done_with"] = profile.nameOf(entry.doneWith);
    return json;
}

Json memoryJson(const RunProfile& profile) {
    const MemoryProfile& memory = profile.memory;
    Json json{{"peak_bytes", memory.peak.total()}, {"peak_ns", memory.peak.atNs}};
    if (memory.peakExpr.valid()) json["peak_node"] = profile.nameOf(memory.peakExpr);
    if (profile.growthBytes > 0) json["vmhwm_growth_bytes"] = profile.growthBytes;
    json["parts"] = partsOf(memory.peak);
    json["alive"] = Json::array();
    for (const AliveMemory& alive : memory.alive) {
        Json entry{{"kind", memoryKindText(alive.kind)}, {"bytes", alive.bytes}};
        if (alive.maker.valid()) entry["made_by"] = profile.nameOf(alive.maker);
        entry["holders"] = Json::array();
        for (const graph::NodeId node : alive.holders) entry["holders"].push_back(profile.graph->node(node).name);
        if (alive.lastReader.valid()) entry["until"] = profile.nameOf(alive.lastReader);
        json["alive"].push_back(std::move(entry));
    }
    json["curve"] = Json::array();
    const std::size_t step = std::max<std::size_t>(1, (memory.curve.size() + kMaxFigures - 1) / kMaxFigures);
    for (std::size_t i = 0; i < memory.curve.size(); i += step) {
        const auto end = memory.curve.begin() + static_cast<std::ptrdiff_t>(std::min(i + step, memory.curve.size()));
        const auto most = std::max_element(memory.curve.begin() + static_cast<std::ptrdiff_t>(i), end,
                                           [](const auto& a, const auto& b) { return a.total() < b.total(); });
        json["curve"].push_back({most->atNs, most->total()});
    }
    return json;
}

Json figuresOf(const RunProfile& profile) {
    Json json{{"format", "sonde-profile"},      {"version", 1},
              {"model", profile.model},         {"threads", profile.threads},
              {"fused", profile.isFused},       {"total_ns", profile.totalNs},
              {"between_ns", profile.betweenNs}};
    json["nodes"] = Json::array();
    for (const ProfiledExpr& entry : profile.exprs) json["nodes"].push_back(nodeJson(profile, entry));
    json["modules"] = Json::array();
    for (std::size_t i = 0; i < profile.modules.size(); ++i) {
        const ProfiledModule& module = profile.modules[i];
        if (module.operations == 0) continue;
        Json entry{{"qualname", profile.tree->module(i).qualname},
                   {"class", profile.tree->module(i).moduleClass},
                   {"total_ns", module.totalNs},
                   {"self_ns", module.selfNs},
                   {"operations", module.operations},
                   {"value_bytes", module.valueBytes}};
        addCost(entry, module.cost, module.totalNs);
        json["modules"].push_back(std::move(entry));
    }
    json["memory"] = memoryJson(profile);
    if (profile.limits)
        json["limits"] = {{"threads", profile.limits->threads},
                          {"flops_per_second", profile.limits->flopsPerSecond},
                          {"bytes_per_second", profile.limits->bytesPerSecond}};
    json["notes"] = profile.notes;
    return json;
}

class TraceEvents {
  public:
    explicit TraceEvents(const RunProfile& profile) : m_profile(profile), m_graph(*profile.graph) {}

    std::string write() {
        m_text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
        name("process_name", 0, "sonde: " + m_profile.model);
        name("thread_name", kRunThread, "run");
        for (std::size_t thread = 1; thread < m_profile.threads; ++thread)
            name("thread_name", threadOf(thread), "worker " + std::to_string(thread));
        for (const ProfileSpan& span : m_profile.spans) addSpan(span);
        for (const ProfileWork& work : m_profile.work)
            complete("work", "loop", work.beginNs, work.endNs, threadOf(work.thread), Json::object());
        for (const MemoryPoint& point : m_profile.memory.curve)
            add({{"name", "memory"},
                 {"ph", "C"},
                 {"ts", microseconds(point.atNs)},
                 {"pid", kProcess},
                 {"tid", kRunThread},
                 {"args", partsOf(point)}});
        m_text += "\n],\"profiler\":" + dumped(operators()) + ",\"profile\":" + dumped(figuresOf(m_profile)) + "}\n";
        return std::move(m_text);
    }

  private:
    static int threadOf(std::size_t thread) { return kRunThread + static_cast<int>(thread); }

    void add(const Json& event) {
        m_text += (m_isFirst ? "" : ",\n") + dumped(event);
        m_isFirst = false;
    }

    void name(const char* what, int thread, const std::string& text) {
        add({{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", text}}}});
    }

    void complete(const std::string& title, const std::string& category, std::int64_t beginNs, std::int64_t endNs,
                  int thread, Json arguments) {
        add({{"name", title},
             {"cat", category},
             {"ph", "X"},
             {"ts", microseconds(beginNs)},
             {"dur", microseconds(endNs - beginNs)},
             {"pid", kProcess},
             {"tid", thread},
             {"args", std::move(arguments)}});
    }

    void addSpan(const ProfileSpan& span) {
        if (!span.expr.valid()) {
            const graph::Scope& scope = m_graph.scope(span.scope);
            return complete(scope.qualname, "module", span.beginNs, span.endNs, kRunThread,
                            {{"class", scope.moduleClass}, {"call", scope.call}});
        }
        const graph::Expr& expr = m_graph.expr(span.expr);
        complete(m_profile.nameOf(span.expr), expr.op.name.empty() ? expr.target : expr.op.name, span.beginNs,
                 span.endNs, kRunThread, {{"op", expr.op.name}, {"qualname", expr.qualname.value_or("")}});
    }

    Json operators() const {
        Json sums = Json::object();
        for (const ProfiledExpr& entry : m_profile.exprs) {
            const graph::Expr& expr = m_graph.expr(entry.expr);
            if (expr.op.name.empty()) continue;
            Json& sum = sums[expr.op.name];
            if (sum.is_null()) sum = {{"count", 0}, {"elapsedNs", 0}, {"bytes", 0}};
            std::int64_t bytes = 0;
            for (const graph::NodeId node : expr.outputs) bytes += byteCount(m_graph.node(node)).value_or(0);
            sum["count"] = sum["count"].get<std::int64_t>() + 1;
            sum["elapsedNs"] = sum["elapsedNs"].get<std::int64_t>() + entry.totalNs;
            sum["bytes"] = sum["bytes"].get<std::int64_t>() + bytes;
        }
        return sums;
    }

    const RunProfile& m_profile;
    const graph::InternalGraph& m_graph;
    std::string m_text;
    bool m_isFirst = true;
};

}  // namespace

std::string_view memoryKindText(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::Value:
        case MemoryKind::Lease: return "value";
        case MemoryKind::Block: return "free blocks";
        case MemoryKind::Packed: return "packed weights";
        case MemoryKind::Scratch: return "scratch";
        case MemoryKind::Weights: return "weights";
    }
    return "";
}

std::string aliveText(const RunProfile& profile, const AliveMemory& memory) {
    if (!memory.maker.valid()) return std::string(memoryKindText(memory.kind)) + " from earlier runs";
    const std::string maker = profile.nameOf(memory.maker);
    switch (memory.kind) {
        case MemoryKind::Packed: return "weights of " + maker + " in its kernel's layout, kept for further runs";
        case MemoryKind::Scratch: return "working memory since " + maker + ", kept by its thread";
        case MemoryKind::Weights: return "stored weights, first read by " + maker;
        case MemoryKind::Block: return "free blocks, kept for values to come";
        default: break;
    }
    if (memory.holders.empty()) return "made by " + maker + ", no node's value (yet)";
    std::string names;
    for (const graph::NodeId node : memory.holders)
        names += (names.empty() ? "" : ", ") + profile.graph->node(node).name;
    if (memory.lastReader.valid()) return names + ", until " + profile.nameOf(memory.lastReader) + " has run";
    return names + ", an output or watched";
}

std::string profileFiguresJson(const RunProfile& profile) {
    return figuresOf(profile).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string traceEventsJson(const RunProfile& profile) { return TraceEvents(profile).write(); }

base::Result<void> writeTraceEvents(const std::filesystem::path& path, const RunProfile& profile) {
    std::ofstream file(path, std::ios::binary);
    file << traceEventsJson(profile);
    file.close();
    if (!file) return base::runError("the profile cannot be written", path.string());
    return {};
}

}  // namespace sonde::analysis
