// Which values go when a step needs more memory than there is.

#include <algorithm>
#include <cmath>
#include <set>

#include "core/exec/recompute_schedule.h"

namespace sonde::exec {

namespace {

/// Of an evicted value's ancestors that are gone too so many are looked at.
constexpr std::size_t kMaxAncestors = 100;

class Eviction {
  public:
    Eviction(const Schedule& schedule, const DtrOptions& options)
        : m_schedule(schedule), m_options(options), m_isThere(schedule.nodeCount(), false),
          m_locks(schedule.nodeCount(), 0), m_holders(schedule.blockCount()), m_used(schedule.blockCount(), 0) {}

    base::Result<Schedule::Sequence> run() {
        const auto& units = m_schedule.units();
        for (m_now = 0; m_now < units.size(); ++m_now) {
            if (!runUnit(m_now)) {
                return base::runError("values under " + std::to_string(m_options.evictionThreshold) +
                                          " bytes take more than " + std::to_string(kMaxRepetition) +
                                          " times the operations",
                                      {}, "allow more memory");
            }
            for (const NodeId node : units[m_now].makes) dropDead(node);
        }
        return std::move(m_sequence);
    }

  private:
    bool runUnit(std::size_t index) {
        if (m_sequence.size() > kMaxRepetition * m_schedule.units().size()) return false;
        const Schedule::Unit& unit = m_schedule.units()[index];
        // What is there stays while the rest is made.
        for (const NodeId node : unit.reads) ++m_locks[node.index()];
        for (const NodeId node : unit.reads) {
            if (!m_isThere[node.index()] && !runUnit(m_schedule.producerOf(node))) return false;
            for (const std::uint32_t block : m_schedule.blocksOf(node)) m_used[block] = m_time;
        }
        makeRoom(neededBy(index));
        m_sequence.push_back(index);
        m_time += std::max<std::int64_t>(unit.elapsedNs, 1);
        for (const NodeId node : unit.makes) take(node);
        for (const NodeId node : unit.reads) --m_locks[node.index()];
        for (const NodeId node : unit.reads) dropDead(node);
        return true;
    }

    std::int64_t neededBy(std::size_t index) const {
        const Schedule::Unit& unit = m_schedule.units()[index];
        std::set<std::uint32_t> fresh;
        for (const NodeId node : unit.makes) {
            for (const std::uint32_t block : m_schedule.blocksOf(node)) {
                if (m_schedule.owns(index, block) && m_holders[block].empty()) fresh.insert(block);
            }
        }
        std::int64_t bytes = unit.workBytes;
        for (const std::uint32_t block : fresh) bytes += m_schedule.blockBytes(block);
        return bytes;
    }

    void makeRoom(std::int64_t bytes) {
        while (m_bytes + bytes > m_options.evictionThreshold) {
            std::uint32_t best = 0;
            double smallest = -1;
            for (const std::uint32_t block : m_alive) {
                if (!mayGo(block)) continue;
                const double value = worthOf(block);
                if (smallest >= 0 && value >= smallest) continue;
                smallest = value;
                best = block;
            }
            if (smallest < 0) return;
            const std::set<NodeId> holders = m_holders[best];
            for (const NodeId node : holders) leave(node);
        }
    }

    bool mayGo(std::uint32_t block) const {
        return m_schedule.blockBytes(block) >= m_options.evicteeMinimumSize &&
               std::ranges::none_of(m_holders[block], [this](NodeId node) {
                   return m_schedule.mustStay(node) || m_locks[node.index()] > 0;
               });
    }

    /// The heuristic of the paper: the cost with that of the ancestors that have gone, by size and time since it was
    /// used.
    double worthOf(std::uint32_t block) const {
        std::set<std::size_t> units;
        std::vector<std::size_t> open;
        for (const NodeId node : m_holders[block]) open.push_back(m_schedule.producerOf(node));
        std::int64_t elapsedNs = 1;
        while (!open.empty() && units.size() < kMaxAncestors) {
            const std::size_t index = open.back();
            open.pop_back();
            if (!units.insert(index).second) continue;
            const Schedule::Unit& unit = m_schedule.units()[index];
            elapsedNs += unit.elapsedNs;
            for (const NodeId node : unit.reads) {
                if (!m_isThere[node.index()]) open.push_back(m_schedule.producerOf(node));
            }
        }
        const double size = std::pow(static_cast<double>(m_schedule.blockBytes(block)), m_options.recompMemoryFactor);
        const double staleness = static_cast<double>(m_time - m_used[block] + 1);
        return std::pow(static_cast<double>(elapsedNs), m_options.recompTimeFactor) / (size * staleness);
    }

    void take(NodeId node) {
        m_isThere[node.index()] = true;
        for (const std::uint32_t block : m_schedule.blocksOf(node)) {
            if (m_holders[block].empty()) {
                m_bytes += m_schedule.blockBytes(block);
                m_alive.insert(block);
            }
            m_holders[block].insert(node);
            m_used[block] = m_time;
        }
    }

    void leave(NodeId node) {
        m_isThere[node.index()] = false;
        for (const std::uint32_t block : m_schedule.blocksOf(node)) {
            if (m_holders[block].erase(node) == 0 || !m_holders[block].empty()) continue;
            m_bytes -= m_schedule.blockBytes(block);
            m_alive.erase(block);
        }
    }

    void dropDead(NodeId node) {
        const bool isRead = m_schedule.nextRead(node, m_now) != Schedule::kNever || m_locks[node.index()] > 0;
        if (!isRead && !m_schedule.mustStay(node) && m_isThere[node.index()]) leave(node);
    }

    const Schedule& m_schedule;
    const DtrOptions& m_options;
    std::vector<bool> m_isThere;              ///< by node
    std::vector<int> m_locks;                 ///< by node: steps that are about to read it
    std::vector<std::set<NodeId>> m_holders;  ///< by block: nodes that are there
    std::set<std::uint32_t> m_alive;          ///< blocks
    std::vector<std::int64_t> m_used;         ///< by block: when
    std::int64_t m_bytes = 0, m_time = 0;
    std::size_t m_now = 0;  ///< unit of the plan
    Schedule::Sequence m_sequence;
};

}  // namespace

base::Result<Schedule::Sequence> dtrSequence(const Schedule& schedule, const DtrOptions& options) {
    return Eviction(schedule, options).run();
}

}  // namespace sonde::exec
