#include "core/analysis/profile/memory_profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace sonde::analysis {

using base::MemoryKind;
using exec::RunTrace;
using graph::ExprId;

namespace {

/// A curve has no more points: others fall together to the larger one of two.
constexpr std::size_t kMaxPoints = std::size_t{1} << 16;

/// In the order in which things of one moment happen.
enum class What : std::uint8_t { Enter, Taken, Held, Leave, Released };

struct Event {
    std::int64_t atNs;
    What what;
    std::uint32_t index;  ///< of the step, memory or holding
};

bool isOfValues(MemoryKind kind) { return kind == MemoryKind::Value || kind == MemoryKind::Lease; }

std::vector<Event> eventsOf(const RunTrace& trace, const std::vector<base::ActivityLog::Memory>& memory) {
    std::vector<Event> events;
    events.reserve(2 * trace.steps().size() + memory.size() + trace.holdings().size());
    for (std::uint32_t i = 0; i < trace.steps().size(); ++i) {
        events.push_back({trace.steps()[i].beginNs, What::Enter, i});
        events.push_back({trace.steps()[i].endNs, What::Leave, i});
    }
    for (std::uint32_t i = 0; i < memory.size(); ++i) events.push_back({memory[i].atNs, What::Taken, i});
    for (std::uint32_t i = 0; i < trace.holdings().size(); ++i) {
        const RunTrace::Holding& holding = trace.holdings()[i];
        events.push_back({holding.atNs, holding.isHeld ? What::Held : What::Released, i});
    }
    std::ranges::sort(events, [](const Event& a, const Event& b) {
        if (a.atNs != b.atNs) return a.atNs < b.atNs;
        if (a.what != b.what) return a.what < b.what;
        return a.what == What::Leave ? a.index > b.index : a.index < b.index;  // inner ones end first
    });
    return events;
}

class MemoryReplay {
  public:
    MemoryReplay(const RunTrace& trace, std::size_t exprCount)
        : m_trace(trace), m_memory(trace.log()->memory()), m_events(eventsOf(trace, m_memory)) {
        m_profile.ofExpr.resize(exprCount);
        m_profile.workNs.resize(exprCount, 0);
    }

    MemoryProfile run() {
        m_now.bytes = m_trace.bytesBefore();
        add(m_now);
        std::size_t peakEvent = 0;
        m_profile.peak = m_now;
        for (std::size_t i = 0; i < m_events.size(); ++i) {
            if (!apply(m_events[i])) continue;
            if (!isHigher(m_now, m_profile.peak)) continue;
            m_profile.peak = m_now;
            m_profile.peakExpr = running();
            peakEvent = i + 1;
        }
        explain(peakEvent);
        addBefore();
        countWork();
        return std::move(m_profile);
    }

  private:
    ExprId running() const { return m_open.empty() ? ExprId() : m_trace.steps()[m_open.back()].expr; }
    ExprId runningOrLast() const { return m_open.empty() ? m_last : running(); }

    /// Of moments with as much memory the one with most values in it says most.
    static bool isHigher(const MemoryPoint& a, const MemoryPoint& b) {
        return a.total() != b.total() ? a.total() > b.total() : a.unused() < b.unused();
    }

    /// Whether the amount of memory is another one.
    bool apply(const Event& event) {
        switch (event.what) {
            case What::Enter: m_open.push_back(event.index); return false;
            case What::Leave:
                m_last = m_trace.steps()[event.index].expr;
                if (!m_open.empty()) m_open.pop_back();
                return false;
            case What::Held:
            case What::Released: return false;
            case What::Taken: break;
        }
        const auto& memory = m_memory[event.index];
        m_now.bytes[static_cast<std::size_t>(memory.kind)] += memory.bytes;
        m_now.atNs = memory.atNs - m_trace.beginNs();
        add(m_now);
        const ExprId expr = memory.bytes < 0 ? runningOrLast() : running();
        if (expr.valid()) count(m_profile.ofExpr[expr.index()], memory);
        return true;
    }

    static void count(ExprMemory& sums, const base::ActivityLog::Memory& memory) {
        if (memory.bytes < 0) {
            if (isOfValues(memory.kind)) sums.freedBytes -= memory.bytes;
            return;
        }
        if (isOfValues(memory.kind)) sums.valueBytes += memory.bytes;
        if (memory.kind == MemoryKind::Packed) sums.packedBytes += memory.bytes;
        if (memory.kind == MemoryKind::Scratch) sums.scratchBytes += memory.bytes;
        if (memory.kind == MemoryKind::Weights) sums.weightBytes += memory.bytes;
    }

    /// Of the points that fall together the largest one stays.
    void add(const MemoryPoint& point) {
        auto& curve = m_profile.curve;
        if (m_inLast > 0 && m_inLast < m_perPoint) {
            if (point.total() >= curve.back().total()) curve.back() = point;
            ++m_inLast;
            return;
        }
        curve.push_back(point);
        m_inLast = 1;
        if (curve.size() < kMaxPoints) return;
        for (std::size_t i = 0; i + 1 < curve.size(); i += 2)
            curve[i / 2] = curve[i].total() > curve[i + 1].total() ? curve[i] : curve[i + 1];
        curve.resize(curve.size() / 2);
        m_perPoint *= 2;
        m_inLast = m_perPoint;
    }

    /// Memory at the peak, and how many nodes hold it at the moment that is looked at.
    struct Alive {
        AliveMemory memory;
        std::size_t holders = 0;
    };
    using AliveBlocks = std::unordered_map<std::uint32_t, Alive>;

    /// What there is after the first `count` events, and who lets go of it later.
    void explain(std::size_t count) {
        AliveBlocks alive;
        m_open.clear();
        m_last = {};
        for (std::size_t i = 0; i < m_events.size(); ++i) {
            const Event& event = m_events[i];
            if (event.what == What::Enter) m_open.push_back(event.index);
            if (event.what == What::Leave) {
                m_last = m_trace.steps()[event.index].expr;
                if (!m_open.empty()) m_open.pop_back();
            }
            const bool isHolding = event.what == What::Held || event.what == What::Released;
            if (isHolding) hold(m_trace.holdings()[event.index], alive, i < count);
            else if (event.what == What::Taken && i < count) take(m_memory[event.index], alive);
        }
        // What is no value is told by the operation that took it.
        std::map<std::pair<MemoryKind, ExprId>, AliveMemory> together;
        for (auto& [block, entry] : alive) {
            AliveMemory& memory = entry.memory;
            if (memory.kind == MemoryKind::Block || memory.bytes == 0) continue;
            if (isOfValues(memory.kind)) {
                m_profile.alive.push_back(std::move(memory));
                continue;
            }
            AliveMemory& sum = together[{memory.kind, memory.maker}];
            memory.bytes += sum.bytes;
            sum = std::move(memory);
        }
        for (auto& [key, memory] : together) m_profile.alive.push_back(std::move(memory));
        std::ranges::sort(m_profile.alive, [](const AliveMemory& a, const AliveMemory& b) {
            if (a.bytes != b.bytes) return a.bytes > b.bytes;
            return a.maker != b.maker ? a.maker.value < b.maker.value : a.kind < b.kind;
        });
    }

    /// What earlier runs left besides blocks.
    void addBefore() {
        for (const MemoryKind kind : {MemoryKind::Packed, MemoryKind::Scratch, MemoryKind::Weights}) {
            const std::int64_t bytes = m_trace.bytesBefore()[static_cast<std::size_t>(kind)];
            if (bytes > 0) m_profile.alive.push_back({kind, bytes, {}, {}, {}});
        }
        std::ranges::stable_sort(m_profile.alive, std::ranges::greater(), &AliveMemory::bytes);
    }

    void take(const base::ActivityLog::Memory& memory, AliveBlocks& alive) const {
        if (memory.bytes < 0) alive.erase(memory.block);
        else alive[memory.block] = {{memory.kind, memory.bytes, running(), {}, {}}, 0};
    }

    /// Views that are made after the peak hold it for longer.
    void hold(const RunTrace::Holding& holding, AliveBlocks& alive, bool isBeforePeak) const {
        const auto found = alive.find(holding.block);
        if (found == alive.end()) return;
        Alive& entry = found->second;
        std::vector<graph::NodeId>& holders = entry.memory.holders;
        if (holding.isHeld) {
            ++entry.holders;
            entry.memory.lastReader = {};
            if (isBeforePeak || holders.empty()) holders.push_back(holding.node);
            return;
        }
        if (isBeforePeak) std::erase(holders, holding.node);
        if (entry.holders > 0 && --entry.holders == 0) entry.memory.lastReader = runningOrLast();
    }

    void countWork() {
        std::vector<base::ActivityLog::Work> work = m_trace.log()->work();
        std::erase_if(work, [](const auto& piece) { return piece.thread == 0; });
        std::ranges::sort(work, {}, &base::ActivityLog::Work::beginNs);
        m_open.clear();
        std::size_t next = 0;
        const auto countUntil = [&](std::int64_t ns) {
            for (; next < work.size() && work[next].beginNs < ns; ++next)
                if (!m_open.empty()) m_profile.workNs[running().index()] += work[next].endNs - work[next].beginNs;
        };
        for (const Event& event : m_events) {
            if (event.what != What::Enter && event.what != What::Leave) continue;
            countUntil(event.atNs);
            if (event.what == What::Enter) m_open.push_back(event.index);
            else if (!m_open.empty()) m_open.pop_back();
        }
    }

    const RunTrace& m_trace;
    const std::vector<base::ActivityLog::Memory> m_memory;
    const std::vector<Event> m_events;
    std::vector<std::uint32_t> m_open;  ///< steps
    ExprId m_last;
    MemoryPoint m_now;
    std::size_t m_perPoint = 1, m_inLast = 0;
    MemoryProfile m_profile;
};

}  // namespace

std::int64_t MemoryPoint::total() const {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) - of(MemoryKind::Lease);
}

MemoryProfile memoryOf(const RunTrace& trace, std::size_t exprCount) { return MemoryReplay(trace, exprCount).run(); }

}  // namespace sonde::analysis
