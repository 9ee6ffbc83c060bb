#include "core/analysis/profile/memory_profile.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace sonde::analysis {

using base::ActivityLog;
using base::MemoryKind;
using exec::RunTrace;
using graph::ExprId;

namespace {

/// A curve has no more points: others fall together to the larger one of two.
constexpr std::size_t kMaxPoints = std::size_t{1} << 16;

bool isOfValues(MemoryKind kind) { return kind == MemoryKind::Value || kind == MemoryKind::Lease; }

/// Of moments with as much memory the one with most values in it says most.
bool isHigher(const MemoryPoint& a, const MemoryPoint& b) {
    return a.total() != b.total() ? a.total() > b.total() : a.unused() < b.unused();
}

void addTo(ExprMemory& sums, const ActivityLog::Memory& memory) {
    if (memory.bytes < 0) {
        if (isOfValues(memory.kind)) sums.freedBytes -= memory.bytes;
        return;
    }
    if (isOfValues(memory.kind)) sums.valueBytes += memory.bytes;
    if (memory.kind == MemoryKind::Packed) sums.packedBytes += memory.bytes;
    if (memory.kind == MemoryKind::Scratch) sums.scratchBytes += memory.bytes;
    if (memory.kind == MemoryKind::Weights) sums.weightBytes += memory.bytes;
}

/// The amount of memory over time.
class Curve {
  public:
    /// Of the points that fall together the largest one stays.
    void add(const MemoryPoint& point) {
        if (m_inLast > 0 && m_inLast < m_perPoint) {
            if (point.total() >= m_points.back().total()) m_points.back() = point;
            ++m_inLast;
            return;
        }
        m_points.push_back(point);
        m_inLast = 1;
        if (m_points.size() < kMaxPoints) return;
        for (std::size_t i = 0; i + 1 < m_points.size(); i += 2)
            m_points[i / 2] = m_points[i].total() > m_points[i + 1].total() ? m_points[i] : m_points[i + 1];
        m_points.resize(m_points.size() / 2);
        m_perPoint *= 2;
        m_inLast = m_perPoint;
    }
    std::vector<MemoryPoint> take() { return std::move(m_points); }

  private:
    std::vector<MemoryPoint> m_points;
    std::size_t m_perPoint = 1, m_inLast = 0;
};

/// What is in memory now, and what was at the peak. Nothing is copied at a peak: a block is when it changes after it.
class AliveBlocks {
  public:
    void setPeak() {
        ++m_peaks;
        m_atPeak.clear();
    }

    void take(const ActivityLog::Memory& memory, ExprId maker) {
        if (memory.bytes >= 0) {
            m_now[memory.block] = {{memory.kind, memory.bytes, maker, {}, {}}, 0, m_peaks, 0};
            return;
        }
        const auto found = m_now.find(memory.block);
        if (found == m_now.end()) return;
        keepForPeak(*found);
        m_now.erase(found);
    }

    void hold(const RunTrace::Holding& holding, ExprId running) {
        if (const auto found = m_now.find(holding.block); found != m_now.end()) {
            keepForPeak(*found);
            change(found->second, holding, running, false);
        }
        if (const auto found = m_atPeak.find(holding.block); found != m_atPeak.end())
            change(found->second, holding, running, true);
    }

    /// Memory at the peak, and who let go of it later.
    std::vector<AliveMemory> takePeak() {
        for (auto& entry : m_now) keepForPeak(entry);
        std::vector<AliveMemory> memory;
        for (auto& [block, entry] : m_atPeak) memory.push_back(std::move(entry.memory));
        return memory;
    }

  private:
    struct Alive {
        AliveMemory memory;
        std::size_t holders = 0;  ///< nodes that hold it at the moment that was read last
        std::uint64_t since = 0;  ///< peaks there were before it was taken
        std::uint64_t kept = 0;   ///< the peak that it was last copied for
    };

    void keepForPeak(std::pair<const std::uint64_t, Alive>& entry) {
        if (entry.second.since >= m_peaks || entry.second.kept == m_peaks) return;
        entry.second.kept = m_peaks;
        m_atPeak.insert(entry);
    }

    /// Views that are made after the peak hold it for longer.
    static void change(Alive& entry, const RunTrace::Holding& holding, ExprId running, bool isAfterPeak) {
        std::vector<graph::NodeId>& holders = entry.memory.holders;
        if (holding.isHeld) {
            ++entry.holders;
            entry.memory.lastReader = {};
            if (!isAfterPeak || holders.empty()) holders.push_back(holding.node);
            return;
        }
        if (!isAfterPeak) std::erase(holders, holding.node);
        if (entry.holders > 0 && --entry.holders == 0) entry.memory.lastReader = running;
    }

    std::unordered_map<std::uint64_t, Alive> m_now, m_atPeak;
    std::uint64_t m_peaks = 0;
};

/// What is no value is told by the operation that took it.
std::vector<AliveMemory> explained(std::vector<AliveMemory> memories) {
    std::vector<AliveMemory> alive;
    std::map<std::pair<MemoryKind, ExprId>, AliveMemory> together;
    for (AliveMemory& memory : memories) {
        if (memory.kind == MemoryKind::Block || memory.bytes == 0) continue;
        if (isOfValues(memory.kind)) {
            alive.push_back(std::move(memory));
            continue;
        }
        AliveMemory& sum = together[{memory.kind, memory.maker}];
        memory.bytes += sum.bytes;
        sum = std::move(memory);
    }
    for (auto& [key, memory] : together) alive.push_back(std::move(memory));
    std::ranges::sort(alive, [](const AliveMemory& a, const AliveMemory& b) {
        if (a.bytes != b.bytes) return a.bytes > b.bytes;
        return a.maker != b.maker ? a.maker.value < b.maker.value : a.kind < b.kind;
    });
    return alive;
}

}  // namespace

class MemoryReplay::State {
  public:
    explicit State(const RunTrace& trace) : m_beginNs(trace.beginNs()), m_before(trace.bytesBefore()) {
        m_profile.ofExpr.resize(trace.sums().size());
        m_profile.workNs.resize(trace.sums().size(), 0);
        m_now.bytes = m_before;
        m_profile.peak = m_now;
        m_curve.add(m_now);
    }

    /// The lists are in order; of one moment: operations begin, take memory, hold it, end, let go of it.
    void read(const RunTrace::Chunk& chunk) {
        addWork(chunk.work);
        auto mark = chunk.marks.begin();
        auto memory = chunk.memory.begin();
        auto holding = chunk.holdings.begin();
        constexpr auto kNever = std::pair(INT64_MAX, INT_MAX);
        for (;;) {
            const auto atMark = mark == chunk.marks.end() ? kNever : std::pair(mark->atNs, mark->isBegin ? 0 : 3);
            const auto atMemory = memory == chunk.memory.end() ? kNever : std::pair(memory->atNs, 1);
            const auto atHolding =
                holding == chunk.holdings.end() ? kNever : std::pair(holding->atNs, holding->isHeld ? 2 : 4);
            const auto first = std::min({atMark, atMemory, atHolding});
            if (first == kNever) return;
            if (first == atMark) apply(*mark++);
            else if (first == atMemory) apply(*memory++);
            else m_alive.hold(*holding++, runningOrLast());
        }
    }

    MemoryProfile take() {
        m_profile.curve = m_curve.take();
        std::ranges::sort(m_profile.work, {}, &ActivityLog::Work::beginNs);
        m_profile.alive = explained(m_alive.takePeak());
        addBefore();
        return std::move(m_profile);
    }

  private:
    ExprId running() const { return m_open.empty() ? ExprId() : m_open.back(); }
    ExprId runningOrLast() const { return m_open.empty() ? m_last : running(); }

    void apply(const RunTrace::Mark& mark) {
        countWork(mark.atNs);
        if (mark.isBegin) {
            m_open.push_back(mark.expr);
            return;
        }
        m_last = mark.expr;
        if (!m_open.empty()) m_open.pop_back();
    }

    void apply(const ActivityLog::Memory& memory) {
        m_now.bytes[static_cast<std::size_t>(memory.kind)] += memory.bytes;
        m_now.atNs = memory.atNs - m_beginNs;
        m_curve.add(m_now);
        const ExprId expr = memory.bytes < 0 ? runningOrLast() : running();
        if (expr.valid()) addTo(m_profile.ofExpr[expr.index()], memory);
        m_alive.take(memory, running());
        if (!isHigher(m_now, m_profile.peak)) return;
        m_profile.peak = m_now;
        m_profile.peakExpr = running();
        m_alive.setPeak();
    }

    /// Pieces of work come when they end.
    void addWork(const std::vector<ActivityLog::Work>& work) {
        m_work.erase(m_work.begin(), m_work.begin() + static_cast<std::ptrdiff_t>(std::exchange(m_nextWork, 0)));
        m_work.insert(m_work.end(), work.begin(), work.end());
        std::ranges::sort(m_work, {}, &ActivityLog::Work::beginNs);
        const std::size_t room = MemoryProfile::kMaxWork - m_profile.work.size(), count = std::min(room, work.size());
        m_profile.work.insert(m_profile.work.end(), work.begin(), work.begin() + static_cast<std::ptrdiff_t>(count));
        m_profile.missingWork += work.size() - count;
    }

    /// What began before a moment was done for the operation that ran until then.
    void countWork(std::int64_t untilNs) {
        for (; m_nextWork < m_work.size() && m_work[m_nextWork].beginNs < untilNs; ++m_nextWork)
            if (!m_open.empty())
                m_profile.workNs[running().index()] += m_work[m_nextWork].endNs - m_work[m_nextWork].beginNs;
    }

    /// What earlier runs left besides blocks.
    void addBefore() {
        for (const MemoryKind kind : {MemoryKind::Packed, MemoryKind::Scratch, MemoryKind::Weights}) {
            const std::int64_t bytes = m_before[static_cast<std::size_t>(kind)];
            if (bytes > 0) m_profile.alive.push_back({kind, bytes, {}, {}, {}});
        }
        std::ranges::stable_sort(m_profile.alive, std::ranges::greater(), &AliveMemory::bytes);
    }

    std::int64_t m_beginNs;
    BytesByKind m_before;
    std::vector<ExprId> m_open;
    ExprId m_last;
    MemoryPoint m_now;
    Curve m_curve;
    AliveBlocks m_alive;
    std::vector<ActivityLog::Work> m_work;  ///< of operations that have not been read yet, from m_nextWork
    std::size_t m_nextWork = 0;
    MemoryProfile m_profile;
};

std::int64_t MemoryPoint::total() const {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) - of(MemoryKind::Lease);
}

MemoryReplay::MemoryReplay() = default;
MemoryReplay::~MemoryReplay() = default;
void MemoryReplay::begin(const RunTrace& trace) { m_state = std::make_unique<State>(trace); }
void MemoryReplay::read(const RunTrace::Chunk& chunk) {
    if (m_state) m_state->read(chunk);
}
MemoryProfile MemoryReplay::take() { return m_state ? m_state->take() : MemoryProfile(); }

}  // namespace sonde::analysis
