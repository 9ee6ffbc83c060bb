#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/measurement.h"
#include "core/exec/recompute_options.h"

namespace sonde::exec {

/// The steps of a plan's main body as something that can be done again: what each reads and makes, and how much memory
/// that takes. Calls of modules are one step each.
class Schedule {
  public:
    struct Unit {
        ExprId expr;
        std::vector<NodeId> reads;  ///< nodes of the main body that steps made, also from inside of its bodies
        std::vector<NodeId> makes;
        std::int64_t workBytes = 0;  ///< of values inside, beside its results
        std::int64_t elapsedNs = 0;
        bool isRepeatable = false;
    };
    /// Units in the order in which they run. Each is there at least once, first occurrences in the plan's order.
    using Sequence = std::vector<std::size_t>;
    struct Cost {
        std::int64_t peakBytes = 0;
        std::int64_t elapsedNs = 0;
    };

    Schedule(const Plan& plan, const Measurement& measurement);

    const std::vector<Unit>& units() const { return m_units; }
    const std::vector<std::uint32_t>& blocksOf(NodeId node) const;
    std::int64_t blockBytes(std::uint32_t block) const { return m_measurement.blockBytes[block]; }
    std::size_t blockCount() const { return m_measurement.blockBytes.size(); }
    std::size_t nodeCount() const { return m_producer.size(); }
    /// The unit that makes a node, and whether it is the first to have the block.
    std::size_t producerOf(NodeId node) const { return m_producer[node.index()]; }
    bool owns(std::size_t unit, std::uint32_t block) const { return m_blockUnit[block] == unit; }
    /// May not go before its last use: it cannot be made again, or the run keeps it.
    bool mustStay(NodeId node) const { return m_mustStay[node.index()]; }
    /// The first unit after this one, in the plan's order, that reads the node; kNever.
    std::size_t nextRead(NodeId node, std::size_t after) const;
    static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

    /// Each value goes after its last use before it is made again.
    Cost costOf(const Sequence& sequence) const;
    /// The units once each, as planned.
    Sequence plain() const;

  private:
    class Walk;

    const Measurement& m_measurement;
    const PlanImpl& m_plan;
    std::vector<Unit> m_units;
    std::vector<std::size_t> m_producer;             ///< by node
    std::vector<std::size_t> m_blockUnit;            ///< by block
    std::vector<std::vector<std::size_t>> m_readAt;  ///< by node: units, ascending
    std::vector<bool> m_mustStay;                    ///< by node
};

/// Chen et al.: see recomputeSublinear (recompute.h).
Schedule::Sequence sublinearSequence(const Schedule& schedule, const SublinearOptions& options);
/// Kirisame et al.: see recomputeDtr. Run error: too many operations would have to be done again.
base::Result<Schedule::Sequence> dtrSequence(const Schedule& schedule, const DtrOptions& options);

}  // namespace sonde::exec
