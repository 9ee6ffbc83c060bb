#include "core/exec/recompute_schedule.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/exec/flatten.h"
#include "core/exec/plan_impl.h"
#include "core/exec/row_memory.h"
#include "core/graph/known_argument.h"
#include "core/graph/memory.h"
#include "core/graph/traits.h"

namespace sonde::exec {

namespace {

using graph::Expr;
using graph::ExprKind;

/// Computes the same value again, and does nothing else. What is inside of a called module counts.
bool isPure(const InternalGraph& graph, const Expr& expr, const ops::Registry& registry) {
    if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr) return true;
    if (expr.kind == ExprKind::Output) return false;
    if (isCall(expr)) return true;  // its body is looked at by itself
    if (expr.op.name.empty() || !expr.bodies.empty()) return false;
    const ops::OpDef* op = registry.find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op || op->random || graph::traitsOf(expr).is(operators::Trait::Random)) return false;
    if (graph::drawsNumbers(graph, expr).value_or(true)) return false;
    const graph::MemoryEffect effect = graph::memoryEffect(graph, expr);
    return !effect.writes && !effect.reforms;
}

bool isRepeatable(const InternalGraph& graph, const Step& step, const ops::Registry& registry) {
    const Expr& expr = graph.expr(step.expr);
    if (step.hasEffect || step.isOptional || step.call->stream != 0) return false;
    if (step.kind != Step::Kind::Operator && step.kind != Step::Kind::Body) return false;
    if (!isPure(graph, expr, registry)) return false;
    return std::ranges::all_of(expr.bodies, [&](graph::BodyId body) {
        return std::ranges::all_of(graph.recursiveOrder(body),
                                   [&](ExprId id) { return isPure(graph, graph.expr(id), registry); });
    });
}

/// Nodes that the expr reads, also inside of its bodies.
std::set<NodeId> allReads(const InternalGraph& graph, const Expr& expr) {
    std::set<NodeId> reads(expr.inputs.begin(), expr.inputs.end());
    for (const graph::BodyId body : expr.bodies) {
        for (const ExprId id : graph.recursiveOrder(body)) {
            const Expr& inner = graph.expr(id);
            reads.insert(inner.inputs.begin(), inner.inputs.end());
            for (const graph::BodyId deeper : inner.bodies)
                reads.insert(graph.body(deeper).outputs.begin(), graph.body(deeper).outputs.end());
        }
        reads.insert(graph.body(body).outputs.begin(), graph.body(body).outputs.end());
    }
    return reads;
}

/// The expr of the main body that an expr is, or is inside of.
ExprId inMain(const InternalGraph& graph, ExprId id) {
    while (graph.body(graph.expr(id).body).owner.valid()) id = graph.body(graph.expr(id).body).owner;
    return id;
}

}  // namespace

Schedule::Schedule(const Plan& plan, const Measurement& measurement)
    : m_measurement(measurement), m_plan(plan.impl()), m_producer(plan.graph().nodeCount(), kNever),
      m_blockUnit(measurement.blockBytes.size(), kNever), m_readAt(plan.graph().nodeCount()),
      m_mustStay(plan.graph().nodeCount(), true) {
    const InternalGraph& graph = plan.graph();
    std::vector<std::size_t> unitOf(graph.exprCount(), kNever);
    for (const Step& step : m_plan.bodies.front().steps) {
        const Expr& expr = graph.expr(step.expr);
        unitOf[step.expr.index()] = m_units.size();
        Unit unit{step.expr,
                  {},
                  expr.outputs,
                  0,
                  measurement.elapsedNs[step.expr.index()],
                  isRepeatable(graph, step, ops::Registry::all())};
        for (const NodeId node : expr.outputs) {
            m_producer[node.index()] = m_units.size();
            m_mustStay[node.index()] = !unit.isRepeatable || m_plan.keep[node.index()] || m_plan.isEnd[node.index()];
        }
        for (const NodeId node : allReads(graph, expr)) {
            if (m_producer[node.index()] == kNever || m_producer[node.index()] == m_units.size()) continue;
            unit.reads.push_back(node);
            m_readAt[node.index()].push_back(m_units.size());
        }
        m_units.push_back(std::move(unit));
    }
    for (const NodeId node : graph.outputs()) m_mustStay[node.index()] = true;
    for (std::size_t block = 0; block < m_blockUnit.size(); ++block) {
        const ExprId owner = graph.node(measurement.blockOwner[block]).producer;
        m_blockUnit[block] = unitOf[inMain(graph, owner).index()];
    }
    // What is inside of calls while they run.
    const RowMemory table = rowMemory(plan, measurement, false);
    std::int64_t before = 0;
    for (const RowMemory::Row& row : table.rows) {
        const std::size_t index = unitOf[inMain(graph, row.expr).index()];
        Unit& unit = m_units[index];
        std::int64_t results = 0;
        for (const NodeId node : unit.makes) {
            for (const std::uint32_t block : blocksOf(node)) results += owns(index, block) ? blockBytes(block) : 0;
        }
        if (row.expr == unit.expr && graph.expr(row.expr).bodies.empty()) {
            before = row.bytesAfter;
            continue;
        }
        unit.workBytes = std::max(unit.workBytes, row.bytes - before - results);
        if (row.expr == unit.expr) before = row.bytesAfter;
    }
}

const std::vector<std::uint32_t>& Schedule::blocksOf(NodeId node) const {
    return m_measurement.blocksOf[m_plan.source[node.index()].index()];
}

std::size_t Schedule::nextRead(NodeId node, std::size_t after) const {
    const std::vector<std::size_t>& reads = m_readAt[node.index()];
    const auto next = std::ranges::upper_bound(reads, after);
    return next == reads.end() ? kNever : *next;
}

Schedule::Sequence Schedule::plain() const {
    Sequence sequence(m_units.size());
    for (std::size_t i = 0; i < sequence.size(); ++i) sequence[i] = i;
    return sequence;
}

Schedule::Cost Schedule::costOf(const Sequence& sequence) const {
    // Of each time that a node is made: the position of its last use.
    std::vector<std::size_t> madeAt(nodeCount(), kNever);
    std::vector<std::vector<NodeId>> goAt(sequence.size());
    std::vector<std::size_t> lastUse(nodeCount(), kNever);
    const auto end = [&](NodeId node) {
        if (lastUse[node.index()] != kNever) goAt[lastUse[node.index()]].push_back(node);
    };
    const std::set<NodeId> outputs(m_plan.graph->outputs().begin(), m_plan.graph->outputs().end());
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        for (const NodeId node : m_units[sequence[i]].reads) lastUse[node.index()] = i;
        for (const NodeId node : m_units[sequence[i]].makes) {
            end(node);
            lastUse[node.index()] = i;
        }
    }
    for (const Unit& unit : m_units) {
        for (const NodeId node : unit.makes) {
            if (!m_plan.keep[node.index()] && !m_plan.isEnd[node.index()] && !outputs.contains(node)) end(node);
        }
    }

    struct Instance {
        std::int64_t bytes;
        std::size_t holders;
    };
    std::vector<Instance> instances;
    std::vector<std::size_t> latest(blockCount(), kNever);
    std::vector<std::vector<std::size_t>> held(nodeCount());
    std::int64_t bytes = 0;
    Cost cost;
    const auto drop = [&](NodeId node) {
        for (const std::size_t index : held[node.index()]) {
            if (--instances[index].holders == 0) bytes -= instances[index].bytes;
        }
        held[node.index()].clear();
    };
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        const Unit& unit = m_units[sequence[i]];
        std::set<std::uint32_t> fresh;
        for (const NodeId node : unit.makes) {
            drop(node);
            for (const std::uint32_t block : blocksOf(node)) {
                if ((owns(sequence[i], block) && fresh.insert(block).second) || latest[block] == kNever) {
                    latest[block] = instances.size();
                    instances.push_back({blockBytes(block), 0});
                }
                if (instances[latest[block]].holders++ == 0) bytes += instances[latest[block]].bytes;
                held[node.index()].push_back(latest[block]);
            }
        }
        cost.peakBytes = std::max(cost.peakBytes, bytes + unit.workBytes);
        cost.elapsedNs += unit.elapsedNs;
        for (const NodeId node : goAt[i]) drop(node);
    }
    return cost;
}

}  // namespace sonde::exec
