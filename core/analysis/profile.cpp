#include "core/analysis/profile.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace sonde::analysis {

std::string profileJson(const graph::InternalGraph& graph, const exec::Recording& recording) {
    using Json = nlohmann::ordered_json;
    Json events = Json::array();
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (recording.state(id) == exec::ExprState::NotReached || recording.elapsedNs(id) == 0) continue;
        const graph::Expr& expr = graph.expr(id);
        const std::string name = expr.outputs.empty() ? expr.target : graph.node(expr.outputs.front()).name;
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
    const Json root{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
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
