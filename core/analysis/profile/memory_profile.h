#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/activity_log.h"
#include "core/exec/run_trace.h"

namespace sonde::analysis {

using BytesByKind = std::array<std::int64_t, base::kMemoryKinds>;

/// What a run has in memory at a moment. A Lease is inside of a Block, so that it is no part of the sum.
struct MemoryPoint {
    std::int64_t atNs = 0;  ///< from the run's start
    BytesByKind bytes{};

    std::int64_t of(base::MemoryKind kind) const { return bytes[static_cast<std::size_t>(kind)]; }
    /// Blocks that no value is in: kept for values to come.
    std::int64_t unused() const { return of(base::MemoryKind::Block) - of(base::MemoryKind::Lease); }
    /// Values + Blocks + Packed + Scratch + Weights.
    std::int64_t total() const;
};

/// Memory that was in use at the peak.
struct AliveMemory {
    base::MemoryKind kind = base::MemoryKind::Value;
    std::int64_t bytes = 0;
    graph::ExprId maker;                 ///< that was running when it was taken; none: the run itself
    std::vector<graph::NodeId> holders;  ///< that have their value in it; none: working memory, or not yet a value
    graph::ExprId lastReader;            ///< after which its last holder let go of it; none: nobody did, it stays
};

/// Of one expr, all its times together.
struct ExprMemory {
    std::int64_t valueBytes = 0;    ///< taken for tensors while it ran
    std::int64_t freedBytes = 0;    ///< of tensors, given back while it ran or right after
    std::int64_t packedBytes = 0;   ///< taken for weights in other layouts
    std::int64_t scratchBytes = 0;  ///< taken for its working memory
    std::int64_t weightBytes = 0;   ///< stored weights that it was the first to read
};

struct MemoryProfile {
    std::vector<MemoryPoint> curve;  ///< a point for each change, of very long runs the largest of several
    MemoryPoint peak;
    graph::ExprId peakExpr;            ///< that ran then
    std::vector<AliveMemory> alive;    ///< at the peak, largest first; their sum with peak.unused() is the peak
    std::vector<ExprMemory> ofExpr;    ///< by ExprId
    std::vector<std::int64_t> workNs;  ///< by ExprId: that the other threads of the pool worked while it ran
    std::vector<base::ActivityLog::Work> work;  ///< of the other threads, by begin: the first kMaxWork pieces
    std::size_t missingWork = 0;                ///< pieces that are in `workNs` only

    static constexpr std::size_t kMaxWork = std::size_t{1} << 18;
};

/// Replays what a run takes down while it goes on. It keeps what is in memory at the moment and what was at the highest
/// moment so far, so that a run of any length needs no more than a short one.
class MemoryReplay : public exec::RunTrace::Reader {
  public:
    MemoryReplay();
    ~MemoryReplay() override;
    void begin(const exec::RunTrace& trace) override;
    void read(const exec::RunTrace::Chunk& chunk) override;
    /// Of all that was read since begin(). Once for each run.
    MemoryProfile take();

  private:
    class State;
    std::unique_ptr<State> m_state;
};

}  // namespace sonde::analysis
