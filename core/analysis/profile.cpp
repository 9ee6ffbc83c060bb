#include "core/analysis/profile.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/analysis/node_measures.h"

namespace sonde::analysis {

namespace {

/// Of the results whose shape and dtype are known.
std::uint64_t bytesOf(const graph::InternalGraph& graph, const graph::Expr& expr) {
    std::uint64_t bytes = 0;
    for (const graph::NodeId node : expr.outputs)
        bytes += static_cast<std::uint64_t>(byteCount(graph.node(node)).value_or(0));
    return bytes;
}

}  // namespace

std::string profileJson(const graph::InternalGraph& graph, const exec::Recording& recording) {
    using Json = nlohmann::ordered_json;
    Json events = Json::array(), operators = Json::object();
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (recording.state(id) == exec::ExprState::NotReached || recording.elapsedNs(id) == 0) continue;
        const graph::Expr& expr = graph.expr(id);
        const std::string name = expr.outputs.empty() ? expr.target : graph.node(expr.outputs.front()).name;
        if (!expr.op.name.empty()) {
            Json& sum = operators[expr.op.name];
            if (sum.is_null()) sum = {{"count", 0}, {"elapsedNs", 0}, {"bytes", 0}};
            sum["count"] = sum["count"].get<std::int64_t>() + 1;
            sum["elapsedNs"] = sum["elapsedNs"].get<std::int64_t>() + recording.elapsedNs(id);
            sum["bytes"] = sum["bytes"].get<std::uint64_t>() + bytesOf(graph, expr);
        }
        events.push_back({{"name", name},
                          {"cat", expr.op.name.empty() ? expr.target : expr.op.name},
                          {"ph", "X"},
                          {"ts", static_cast<double>(recording.startNs(id)) / 1e3},
                          {"dur", static_cast<double>(recording.elapsedNs(id)) / 1e3},
                          {"pid", 1},
                          {"tid", 1},
                          {"args",
                           {{"op", expr.op.name},
                            {"qualname", expr.qualname.value_or("")},
                            {"failed", recording.state(id) == exec::ExprState::Failed}}}});
    }
    const Json root{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}, {"profiler", std::move(operators)}};
    return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

base::Result<void> writeProfile(const std::filesystem::path& path, const graph::InternalGraph& graph,
                                const exec::Recording& recording) {
    std::ofstream file(path, std::ios::binary);
    file << profileJson(graph, recording);
    file.close();
    if (!file) return base::runError("the profile cannot be written", path.string());
    return {};
}

}  // namespace sonde::analysis
