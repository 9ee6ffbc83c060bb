#include "core/export/lowering/run_log.h"

namespace sonde::exporting {

using graph::Expr;
using graph::ExprId;
using tensor::Value;

namespace {

/// Lists are changed by what runs later: each is kept as it was.
Value kept(const Value& value) {
    if (value.kind() != tensor::ValueKind::List) return value;
    return Value::list(tensor::ValueList(value.items()));
}

}  // namespace

/// The first expr of a body that is run: no input and no constant.
std::optional<ExprId> RunLog::firstOf(graph::BodyId body) const {
    for (ExprId id : m_graph.body(body).order) {
        const Expr& expr = m_graph.expr(id);
        if (expr.kind != graph::ExprKind::Input && (expr.outputs.empty() || !m_graph.node(expr.outputs[0]).constant))
            return id;
    }
    return std::nullopt;
}

void RunLog::stopAfter(graph::BodyId body, const Extent& most, std::stop_source stop) {
    for (ExprId id : m_graph.body(body).order) {
        const Expr& expr = m_graph.expr(id);
        if (expr.kind != graph::ExprKind::Input && (expr.outputs.empty() || !m_graph.node(expr.outputs[0]).constant))
            m_last = id;
    }
    m_most = most;
    m_stop = std::move(stop);
}

void RunLog::exprStarted(ExprId id) {
    const ExprId owner = m_graph.body(m_graph.expr(id).body).owner;
    if (owner.valid() && m_graph.expr(owner).op.name == "Loop" && firstOf(m_graph.expr(id).body) == id)
        ++m_running[owner];
    if (m_graph.expr(id).op.name == "Loop") m_running[id] = 0;
}

void RunLog::exprFinished(ExprId id, std::span<const Value> outputs, std::int64_t) {
    std::vector<Value>& all = m_outputs[id].emplace_back();
    ++m_extent.operations;
    for (const Value& value : outputs) {
        all.push_back(kept(value));
        if (value.isTensor()) m_extent.bytes += value.tensor().sizeBytes();
    }
    const Expr& expr = m_graph.expr(id);
    if (expr.op.name == "Loop" && !expr.bodies.empty()) {
        m_passes[id].push_back(m_running[id]);
        auto& counts = m_after[id].emplace_back();
        for (ExprId inside : m_graph.recursiveOrder(expr.bodies[0])) counts[inside] = count(inside);
    }
    m_isReached = m_isReached || id == m_last;
    const bool isTooMuch = m_extent.operations > m_most.operations || m_extent.bytes > m_most.bytes;
    if (m_last.valid() && (m_isReached || isTooMuch)) m_stop.request_stop();
}

std::size_t RunLog::count(ExprId id) const {
    const auto found = m_outputs.find(id);
    return found == m_outputs.end() ? 0 : found->second.size();
}

std::int64_t RunLog::passes(ExprId loop, std::size_t n) const {
    const auto found = m_passes.find(loop);
    return found == m_passes.end() || n >= found->second.size() ? 0 : found->second[n];
}

}  // namespace sonde::exporting
