#include "core/analysis/upstream.h"

#include <algorithm>
#include <set>

#include "core/analysis/problem.h"
#include "core/exec/flatten.h"
#include "core/exec/replay.h"
#include "core/graph/known_argument.h"

namespace sonde::analysis {

using graph::ExprId;
using graph::NodeId;
using tensor::Value;

base::Result<Upstream> Upstream::make(std::shared_ptr<const graph::InternalGraph> graph,
                                      std::shared_ptr<const exec::Edits> edits) {
    Upstream upstream;
    exec::PlanOptions options;
    options.watchAll = true;  // what no output needs may be compared, too
    options.exact = true;
    options.edits = std::move(edits);
    SONDE_ASSIGN(upstream.m_plan, exec::Plan::make(graph, options));
    upstream.m_sources = exec::valueSources(*graph);
    upstream.m_isReplayable = exec::replayable(*upstream.m_plan);
    upstream.m_position = executionOrder(*graph);
    upstream.m_graph = std::move(graph);
    return upstream;
}

bool Upstream::isPlain(NodeId node) const {
    const graph::Expr& expr = m_graph->expr(m_graph->node(m_sources[node.index()]).producer);
    return exec::rowOf(*m_graph, expr.body) == m_graph->mainId();
}

bool Upstream::isRandom(NodeId node) const {
    const std::vector<ExprId> draws = exec::drawsOf(*m_plan, m_graph->node(m_sources[node.index()]).producer);
    return std::ranges::any_of(
        draws, [this](ExprId id) { return graph::drawsNumbers(*m_graph, m_graph->expr(id)).value_or(true); });
}

UpstreamPart Upstream::to(NodeId node, const std::vector<bool>& known) const {
    UpstreamPart part;
    std::set<ExprId> seen;
    std::set<NodeId> reached;
    const ExprId first = m_graph->node(m_sources[node.index()]).producer;
    std::vector<ExprId> open{first};
    while (!open.empty()) {
        const ExprId id = open.back();
        open.pop_back();
        for (const NodeId read : exec::readsOf(*m_plan, id)) {
            const graph::Expr& maker = m_graph->expr(m_graph->node(read).producer);
            if (maker.kind == graph::ExprKind::GetAttr || maker.kind == graph::ExprKind::Constant) continue;
            if (known[read.index()]) {
                if (reached.insert(read).second) part.known.push_back(read);
            } else if (maker.kind == graph::ExprKind::Input || !isPlain(read)) {
                part.isOpen = true;
            } else if (const ExprId producer = m_graph->node(read).producer; seen.insert(producer).second) {
                part.between.push_back(producer);
                open.push_back(producer);
            }
        }
    }
    const auto position = [this](ExprId id) { return m_position[id.index()]; };
    std::ranges::sort(part.between, {}, position);
    std::ranges::sort(part.known, {}, [&](NodeId one) { return position(m_graph->node(one).producer); });
    return part;
}

std::optional<Value> Upstream::recompute(NodeId node, const UpstreamPart& part,
                                         std::unordered_map<NodeId, Value> values, exec::Runner& runner,
                                         const base::WorkContext& work) const {
    const NodeId source = m_sources[node.index()];
    std::vector<ExprId> exprs = part.between;
    exprs.push_back(m_graph->node(source).producer);
    for (const ExprId id : exprs) {
        if (!m_isReplayable[id.index()] || !exec::drawsOf(*m_plan, id).empty()) return std::nullopt;
        exec::ReplayInputs inputs{id, {}, {}};
        for (const NodeId read : exec::readsOf(*m_plan, id)) {
            const auto found = values.find(read);
            if (found == values.end()) return std::nullopt;
            inputs.values.emplace(read, found->second);
        }
        auto outputs = runner.replay(*m_plan, inputs, work);
        if (!outputs) return std::nullopt;
        const std::vector<NodeId>& made = m_graph->expr(id).outputs;
        for (std::size_t i = 0; i < std::min(made.size(), outputs->size()); ++i)
            values.insert_or_assign(m_sources[made[i].index()], (*outputs)[i]);
    }
    const auto found = values.find(source);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sonde::analysis
