#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/session/load_and_run/case_files.h"

namespace sonde::session {

namespace {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using MemoryJson = nlohmann::ordered_json;

/// A value of the main body and the steps between which it must be there.
struct Lifetime {
    NodeId node;
    std::int64_t bytes = 0;
    std::size_t first = 0, last = 0;
};

/// The expr of the main body that an expr is, or is inside of.
ExprId inMain(const InternalGraph& graph, ExprId id) {
    while (graph.body(graph.expr(id).body).owner.valid()) id = graph.body(graph.expr(id).body).owner;
    return id;
}

std::vector<Lifetime> lifetimesOf(const exec::Plan& plan, const std::unordered_map<NodeId, std::int64_t>& bytes) {
    const InternalGraph& graph = plan.graph();
    const std::vector<ExprId>& steps = plan.steps();
    std::unordered_map<ExprId, std::size_t> stepOf;
    for (std::size_t i = 0; i < steps.size(); ++i) stepOf[steps[i]] = i;
    std::vector<Lifetime> lifetimes;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (const NodeId node : graph.expr(steps[i]).outputs) {
            const auto size = bytes.find(node);
            if (size == bytes.end()) continue;
            Lifetime life{node, size->second, i, i};
            for (const ExprId user : graph.node(node).users) {
                const auto step = stepOf.find(inMain(graph, user));
                if (step != stepOf.end()) life.last = std::max(life.last, step->second);
            }
            const auto& outputs = graph.outputs();
            if (std::ranges::find(outputs, node) != outputs.end()) life.last = steps.size() - 1;
            lifetimes.push_back(life);
        }
    }
    return lifetimes;
}

std::int64_t bytesOfConstants(const InternalGraph& graph) {
    std::int64_t bytes = 0;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        for (const NodeId node : graph.expr(id).outputs) {
            const auto& constant = graph.node(node).constant;
            if (constant && constant->isTensor()) bytes += static_cast<std::int64_t>(constant->tensor().sizeBytes());
        }
    }
    return bytes;
}

}  // namespace

void CaseMemory::add(std::size_t caseIndex, const exec::Plan& plan,
                     const std::unordered_map<NodeId, std::int64_t>& bytes) {
    const InternalGraph& graph = plan.graph();
    const std::vector<Lifetime> lifetimes = lifetimesOf(plan, bytes);
    // What begins adds, what ended before the step goes.
    std::vector<std::int64_t> change(plan.steps().size() + 1, 0);
    for (const Lifetime& life : lifetimes) {
        change[life.first] += life.bytes;
        change[life.last + 1] -= life.bytes;
    }
    std::int64_t alive = 0, peak = 0;
    std::size_t peakStep = 0;
    for (std::size_t i = 0; i < plan.steps().size(); ++i) {
        alive += change[i];
        if (alive <= peak) continue;
        peak = alive;
        peakStep = i;
    }
    MemoryJson root{{"format", "sonde-static-memory"},           {"version", 1},       {"steps", plan.steps().size()},
                    {"constant_bytes", bytesOfConstants(graph)}, {"peak_bytes", peak}, {"peak_step", peakStep}};
    root["values"] = MemoryJson::array();
    for (const Lifetime& life : lifetimes) {
        const graph::Expr& producer = graph.expr(graph.node(life.node).producer);
        root["values"].push_back({{"name", graph.node(life.node).name},
                                  {"operator", producer.op.name.empty() ? producer.target : producer.op.name},
                                  {"bytes", life.bytes},
                                  {"first_step", life.first},
                                  {"last_step", life.last}});
    }
    m_cases.emplace_back(caseIndex, root.dump(2, ' ', false, MemoryJson::error_handler_t::replace) + '\n');
}

}  // namespace sonde::session
