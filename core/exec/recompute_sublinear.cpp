// The search for values that are dropped between their uses.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.h"
#include "core/base/thread_pool.h"
#include "core/exec/recompute_schedule.h"

namespace sonde::exec {

namespace {

using Dropped = std::vector<bool>;  ///< by candidate: not kept between uses that are more than one step apart

constexpr std::uint64_t kSearchSeed = 1604'06174;

/// Writes the sequence for a set of dropped values.
class Emitter {
  public:
    Emitter(const Schedule& schedule, const std::vector<NodeId>& candidates, const Dropped& dropped)
        : m_schedule(schedule), m_isDropped(schedule.nodeCount(), false), m_isThere(schedule.nodeCount(), false) {
        for (std::size_t i = 0; i < candidates.size(); ++i) m_isDropped[candidates[i].index()] = dropped[i];
    }

    Schedule::Sequence run() {
        const auto& units = m_schedule.units();
        for (std::size_t i = 0; i < units.size(); ++i) {
            m_made.clear();
            runUnit(i);
            for (const NodeId node : units[i].reads) leave(node, i);
            for (const NodeId node : m_made) leave(node, i);
        }
        return std::move(m_sequence);
    }

  private:
    void runUnit(std::size_t index) {
        const Schedule::Unit& unit = m_schedule.units()[index];
        for (const NodeId node : unit.reads) {
            if (!m_isThere[node.index()]) runUnit(m_schedule.producerOf(node));
        }
        m_sequence.push_back(index);
        for (const NodeId node : unit.makes) {
            m_isThere[node.index()] = true;
            m_made.push_back(node);
        }
    }

    void leave(NodeId node, std::size_t now) {
        if (m_schedule.mustStay(node)) return;
        const std::size_t next = m_schedule.nextRead(node, now);
        if (next == Schedule::kNever || (m_isDropped[node.index()] && next > now + 1)) m_isThere[node.index()] = false;
    }

    const Schedule& m_schedule;
    Dropped m_isDropped;  ///< by node
    std::vector<bool> m_isThere;
    std::vector<NodeId> m_made;  ///< since the last unit of the plan
    Schedule::Sequence m_sequence;
};

class Search {
  public:
    Search(const Schedule& schedule, const SublinearOptions& options)
        : m_schedule(schedule), m_options(options), m_pool(static_cast<std::size_t>(options.numWorker)) {
        for (std::size_t i = 0; i < schedule.units().size(); ++i) {
            for (const NodeId node : schedule.units()[i].makes) {
                const bool hasMemory = !schedule.blocksOf(node).empty();
                if (hasMemory && !schedule.mustStay(node) && longestGap(node, i) > 1) m_candidates.push_back(node);
            }
        }
    }

    Schedule::Sequence run() {
        std::vector<Dropped> tried{Dropped(m_candidates.size(), false)};
        const auto count = static_cast<double>(m_schedule.units().size());
        for (int i = 0; i < m_options.threshNrTry && count > 2; ++i) {
            // From two segments to one for each unit, in equal ratios.
            const double part = m_options.threshNrTry > 1 ? i / (m_options.threshNrTry - 1.0) : 0.5;
            tried.push_back(beyondSegments(static_cast<std::size_t>(2 * std::pow(count / 2, part))));
        }
        add(std::move(tried));
        for (int i = 0; i < m_options.geneticNrIter && !isLowEnough(); ++i) add(children());
        keepWhatHelpsNot();
        return Emitter(m_schedule, m_candidates, m_best.front().dropped).run();
    }

  private:
    struct Tried {
        Dropped dropped;
        Schedule::Cost cost;
        auto key() const { return std::pair(cost.peakBytes, cost.elapsedNs); }
    };

    std::size_t longestGap(NodeId node, std::size_t made) const {
        std::size_t longest = 0;
        for (std::size_t at = made, next; (next = m_schedule.nextRead(node, at)) != Schedule::kNever; at = next)
            longest = std::max(longest, next - at);
        return longest;
    }

    /// What is read beyond the segment after the one where it is made or was read last.
    Dropped beyondSegments(std::size_t segments) const {
        const auto& units = m_schedule.units();
        std::vector<std::int64_t> bytes(units.size(), 0);
        for (std::size_t i = 0; i < units.size(); ++i) {
            for (const NodeId node : units[i].makes) {
                for (const std::uint32_t block : m_schedule.blocksOf(node))
                    bytes[i] += m_schedule.owns(i, block) ? m_schedule.blockBytes(block) : 0;
            }
        }
        const double total = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{1}));
        std::vector<std::size_t> segmentOf(units.size());
        double sum = 0;
        for (std::size_t i = 0; i < units.size(); ++i) {
            segmentOf[i] = static_cast<std::size_t>(sum / total * static_cast<double>(segments));
            sum += static_cast<double>(bytes[i]);
        }
        Dropped dropped;
        for (const NodeId node : m_candidates) {
            bool isFar = false;
            for (std::size_t at = m_schedule.producerOf(node), next;
                 (next = m_schedule.nextRead(node, at)) != Schedule::kNever; at = next)
                isFar |= segmentOf[next] > segmentOf[at] + 1;
            dropped.push_back(isFar);
        }
        return dropped;
    }

    /// Computes what the sets cost, and keeps the best.
    void add(std::vector<Dropped> sets) {
        std::vector<Tried> tried(sets.size());
        m_pool.parallelFor(sets.size(), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                tried[i] = {sets[i], m_schedule.costOf(Emitter(m_schedule, m_candidates, sets[i]).run())};
        });
        m_best.insert(m_best.end(), tried.begin(), tried.end());
        std::ranges::stable_sort(m_best, {}, &Tried::key);
        m_best.resize(std::min(m_best.size(), static_cast<std::size_t>(std::max(m_options.geneticPoolSize, 1))));
    }

    bool isLowEnough() const { return m_best.front().cost.peakBytes <= m_options.lbMemoryMb << 20; }

    /// Values that the best set drops although the peak is as low with them.
    void keepWhatHelpsNot() {
        Tried& best = m_best.front();
        for (std::size_t i = 0; i < best.dropped.size(); ++i) {
            if (!best.dropped[i]) continue;
            best.dropped[i] = false;
            const Schedule::Cost cost = m_schedule.costOf(Emitter(m_schedule, m_candidates, best.dropped).run());
            if (cost.peakBytes <= best.cost.peakBytes) best.cost = cost;
            else best.dropped[i] = true;
        }
    }

    /// Of two sets each value from one of them, and some the other way.
    std::vector<Dropped> children() {
        std::vector<Dropped> made;
        for (int i = 0; i < m_options.geneticPoolSize && !m_candidates.empty(); ++i) {
            const Dropped& mother = m_best[m_random() % m_best.size()].dropped;
            const Dropped& father = m_best[m_random() % m_best.size()].dropped;
            Dropped child(mother.size());
            for (std::size_t k = 0; k < child.size(); ++k) child[k] = m_random() % 2 ? mother[k] : father[k];
            const std::size_t flips = 1 + m_random() % std::max<std::size_t>(child.size() / 8, 1);
            for (std::size_t k = 0; k < flips; ++k) {
                const std::size_t at = m_random() % child.size();
                child[at] = !child[at];
            }
            made.push_back(std::move(child));
        }
        return made;
    }

    const Schedule& m_schedule;
    const SublinearOptions& m_options;
    base::ThreadPool m_pool;
    std::vector<NodeId> m_candidates;  ///< values that may be dropped and are not read at once
    std::vector<Tried> m_best;         ///< the best first
    base::Random m_random{kSearchSeed};
};

}  // namespace

Schedule::Sequence sublinearSequence(const Schedule& schedule, const SublinearOptions& options) {
    return Search(schedule, options).run();
}

}  // namespace sonde::exec
