#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/activity_log.h"
#include "core/graph/internal_graph.h"

namespace sonde::exec {

/// What happened when in one run: the last one that a Runner did on this thread within a Scope. It changes neither what
/// is computed nor how. Times are nanoseconds of the steady clock. Filled by the runner, on its thread. What a long
/// loop does over and over goes to a Reader, a chunk at a time: memory is bounded, whatever the number of iterations.
class RunTrace {
  public:
    /// While it lives, runs on this thread are traced, each from nothing. Runs inside of such a run are not.
    class Scope {
      public:
        explicit Scope(RunTrace* trace);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        RunTrace* m_before;
    };
    /// Of the run that begins on this thread; null mostly.
    static RunTrace* current();

    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    /// Steps are taken down one by one up to this many; after that only their sums.
    static constexpr std::size_t kMaxSteps = std::size_t{1} << 20;

    /// One time that an expr ran, or a called body in whose place its steps run.
    struct Step {
        graph::ExprId expr;
        std::int64_t beginNs = 0, endNs = 0;
        std::uint32_t parent = kNone;  ///< index of the step around it
        std::uint32_t depth = 0;
    };
    /// All the times of an expr together.
    struct Sum {
        std::int64_t count = 0;
        std::int64_t totalNs = 0;
        std::int64_t selfNs = 0;  ///< without the steps inside of it
        std::int64_t firstNs = 0, lastNs = 0;
    };
    /// A node begins to hold memory, or lets go of it.
    struct Holding {
        std::int64_t atNs;
        graph::NodeId node;  ///< the source, see valueSources
        std::uint64_t block;
        bool isHeld;
    };
    /// An expr begins or ends.
    struct Mark {
        std::int64_t atNs;
        graph::ExprId expr;
        bool isBegin;
    };
    /// What happened in a while. Each list is in its own order but `work`, which is in that of the ends.
    struct Chunk {
        std::vector<Mark> marks;
        std::vector<Holding> holdings;
        std::vector<base::ActivityLog::Memory> memory;
        std::vector<base::ActivityLog::Work> work;
    };
    /// Gets the chunks of a run, each once: nothing in one is later than anything in the next, but for work.
    class Reader {
      public:
        virtual ~Reader() = default;
        virtual void begin(const RunTrace& trace) = 0;  ///< of another run: what was read before does not count
        virtual void read(const Chunk& chunk) = 0;
    };
    static constexpr std::size_t kChunk = std::size_t{1} << 16;  ///< records

    explicit RunTrace(Reader& reader, std::size_t chunk = kChunk)
        : m_reader(reader), m_chunk(chunk), m_log(base::ActivityLog::make()) {}
    RunTrace(const RunTrace&) = delete;
    RunTrace& operator=(const RunTrace&) = delete;

    const std::shared_ptr<base::ActivityLog>& log() const { return m_log; }
    /// Hands to the reader what it has not got yet. After the run.
    void readRest() { readChunk(); }
    std::int64_t readNs() const { return m_readNs; }  ///< of the run: that its reader took
    const std::vector<Step>& steps() const { return m_steps; }
    const std::vector<Sum>& sums() const { return m_sums; }  ///< by expr
    std::size_t stepCount() const { return m_count; }        ///< may be more than steps() has
    std::int64_t beginNs() const { return m_beginNs; }
    std::int64_t endNs() const { return m_endNs; }
    /// What earlier runs left: the blocks of the runner, and of the runs that were traced here before what their
    /// kernels packed and keep, and the weights that they read. By MemoryKind.
    const std::array<std::int64_t, base::kMemoryKinds>& bytesBefore() const { return m_bytesBefore; }
    /// How often each body ran, by BodyId; the main one once.
    const std::vector<std::int64_t>& bodyRuns() const { return m_bodyRuns; }

    // By the runner.
    void begin(const graph::InternalGraph& graph, std::size_t unusedBytes);
    void end();
    void enter(graph::ExprId expr);
    void leave();
    void enterBody(graph::BodyId body) { ++m_bodyRuns[body.index()]; }
    /// The memory of stored weights that an expr reads and nothing in this process has touched before.
    void reads(const tensor::Value& weights);
    void holds(graph::NodeId node, const tensor::Value& value);
    void releases(graph::NodeId node);

  private:
    struct Open {
        graph::ExprId expr;
        std::int64_t beginNs;
        std::int64_t insideNs;
        std::uint32_t step;
    };

    void readChunk();

    Reader& m_reader;
    std::size_t m_chunk;
    std::shared_ptr<base::ActivityLog> m_log;
    std::vector<Step> m_steps;
    std::vector<Sum> m_sums;
    std::vector<Mark> m_marks;
    std::vector<Holding> m_holdings;
    std::vector<std::int64_t> m_bodyRuns;
    std::vector<Open> m_open;
    std::unordered_map<graph::NodeId, std::vector<std::uint64_t>> m_held;
    std::unordered_set<const void*> m_read;
    std::size_t m_count = 0;
    std::array<std::int64_t, base::kMemoryKinds> m_bytesBefore{};
    std::int64_t m_beginNs = 0, m_endNs = 0, m_readNs = 0;
};

}  // namespace sonde::exec
