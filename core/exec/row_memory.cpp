#include "core/exec/row_memory.h"

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/exec/plan_impl.h"

namespace sonde::exec {

namespace {

class Table {
  public:
    Table(const Plan& plan, const Measurement& measurement, std::span<const NodeId> origin)
        : m_plan(plan.impl()), m_graph(plan.graph()), m_measurement(measurement), m_origin(origin),
          m_stays(m_graph.nodeCount()), m_held(m_graph.nodeCount()), m_latest(measurement.blockBytes.size(), kNone) {
        for (const NodeId node : plan.options().watch) m_stays[m_plan.source[node.index()].index()] = true;
        if (plan.options().watchAll) m_stays.assign(m_stays.size(), true);
    }

    RowMemory run(const std::vector<Step>& steps) {
        for (const Step& step : steps) {
            makeResults(step);
            m_table.rows.push_back({step.expr, m_bytes, 0});
            if (m_bytes > m_table.peakBytes) {
                m_table.peakBytes = m_bytes;
                m_table.peakRow = m_table.rows.size() - 1;
            }
            for (const NodeId node : step.release)
                if (!m_stays[node.index()]) drop(node);
            m_table.rows.back().bytesAfter = m_bytes;
        }
        return std::move(m_table);
    }

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    /// One time that a block of memory is there.
    struct Instance {
        std::int64_t bytes;
        std::size_t holders;
    };

    void makeResults(const Step& step) {
        if (step.kind == Step::Kind::Enter || step.isFused) return;
        const auto make = [this](const Step& of) {
            for (const NodeId node : m_graph.expr(of.expr).outputs) {
                if (m_plan.source[node.index()] == node) hold(node);
            }
        };
        if (step.epilogue.empty() || !step.epilogue.front().overwrites) make(step);
        for (std::size_t i = 0; i < step.epilogue.size(); ++i) {
            const bool isOverwritten = i + 1 < step.epilogue.size() && step.epilogue[i + 1].overwrites;
            if (!isOverwritten) make(step.epilogue[i]);
        }
    }

    void hold(NodeId node) {
        drop(node);  // of an earlier time
        const NodeId measured = m_origin.empty() ? node : m_origin[node.index()];
        for (const std::uint32_t block : m_measurement.blocksOf[measured.index()]) {
            const bool isOwn = m_measurement.blockOwner[block] == measured || m_latest[block] == kNone;
            if (isOwn) {
                m_latest[block] = m_instances.size();
                m_instances.push_back({m_measurement.blockBytes[block], 0});
            }
            Instance& instance = m_instances[m_latest[block]];
            if (instance.holders++ == 0) m_bytes += instance.bytes;
            m_held[node.index()].push_back(m_latest[block]);
        }
    }

    void drop(NodeId node) {
        for (const std::size_t index : m_held[node.index()]) {
            Instance& instance = m_instances[index];
            if (--instance.holders == 0) m_bytes -= instance.bytes;
        }
        m_held[node.index()].clear();
    }

    const PlanImpl& m_plan;
    const InternalGraph& m_graph;
    const Measurement& m_measurement;
    const std::span<const NodeId> m_origin;
    std::vector<bool> m_stays;                     ///< by source node: watched
    std::vector<std::vector<std::size_t>> m_held;  ///< by node: instances
    std::vector<std::size_t> m_latest;             ///< by block: its instance
    std::vector<Instance> m_instances;
    std::int64_t m_bytes = 0;
    RowMemory m_table;
};

}  // namespace

RowMemory rowMemory(const Plan& plan, const Measurement& measurement, bool fuses, std::span<const NodeId> origin) {
    const graph::BodyId main = plan.graph().mainId();
    if (fuses) return Table(plan, measurement, origin).run(plan.impl().joined(main));
    // Called bodies in their place: each releases its own values, the call those of the caller when it is left.
    std::vector<Step> row = flattened(plan.impl().bodies, main, plan.graph(), true);
    for (Step& step : row) {
        if (step.kind == Step::Kind::Enter) step.release.clear();
    }
    return Table(plan, measurement, origin).run(row);
}

}  // namespace sonde::exec
