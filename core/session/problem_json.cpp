#include "core/session/problem_json.h"

namespace sonde::session {

nlohmann::ordered_json problemsJson(const graph::InternalGraph& graph, std::span<const analysis::Problem> problems) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const analysis::Problem& problem : problems) {
        list.push_back({{"kind", name(problem.kind)},
                        {"role", name(problem.role)},
                        {"severity", analysis::severityName(problem.severity)},
                        {"node", problem.node.valid() ? graph.node(problem.node).name : std::string()},
                        {"qualname", problem.qualname},
                        {"operator", problem.operatorName},
                        {"message", problem.message},
                        {"advice", problem.advice}});
    }
    return list;
}

}  // namespace sonde::session
