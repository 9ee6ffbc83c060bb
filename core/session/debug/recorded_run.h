#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/exec/runner.h"
#include "core/session/debug/kept_values.h"
#include "core/session/debug/trace.h"

namespace sonde::session::debug {

/// What may come up in a tensor. A bit for each.
enum class TensorEvent : std::uint8_t { Nan = 1, Inf = 2, Overflow = 4, Zero = 8 };

class RecordedRun;

/// What a run is made from.
struct RecordedTask {
    std::shared_ptr<const exec::Plan> plan;
    std::vector<tensor::Value> inputs;
    std::shared_ptr<exec::Runner> runner;  ///< for this run alone while it lives
    std::uint64_t seed = 0;
    KeptLimits limits;
    /// Of the same graph with other edits, on inputs that are the same but for edits, and the same seed and runner:
    /// what does not depend on the edits of either is taken from it. It stands still while this run lives.
    std::shared_ptr<RecordedRun> base = {};
};

/// A run that goes on as far as it is asked to, and waits; all of its values so far can be had. It has a thread of its
/// own, on which nothing happens outside of advance().
///
/// Not thread-safe, but for the stop tokens that it is given.
class RecordedRun {
  public:
    static constexpr std::size_t kMaxItems = 2'000'000;

    explicit RecordedRun(RecordedTask task);
    ~RecordedRun();  ///< ends the run where it is, as soon as the operation that is done stops
    RecordedRun(const RecordedRun&) = delete;
    RecordedRun& operator=(const RecordedRun&) = delete;

    const graph::InternalGraph& graph() const { return m_task.plan->graph(); }
    const exec::Plan& plan() const { return *m_task.plan; }
    const std::shared_ptr<const exec::Plan>& sharedPlan() const { return m_task.plan; }
    const Trace& trace() const { return m_trace; }
    const KeptValues& kept() const { return m_kept; }
    /// The run has come to its end, or failed.
    bool hasEnded() const { return m_recording.has_value(); }
    /// Of the whole run; null before its end. Without values.
    const exec::Recording* recording() const { return m_recording ? &*m_recording : nullptr; }

    /// When to wait again: before an operation for which `at` is true of one of the items that begin with it (each item
    /// is asked once, in order), or after one in which one of `events` came up, or once `done` is done.
    struct Until {
        std::function<bool(ItemId)> at;
        std::uint8_t events = 0;
        ItemId done = kNoItem;
    };
    /// Goes on until then, until the end, or until the token stops it, before the next operation.
    void advance(const Until& until, const std::stop_token& stop = {});
    /// Ends the run where it is, for good: it has ended then. Its values stay.
    void end();
    /// Goes on until an item is done, or until a token stops it. Whether it is done.
    bool finish(ItemId item, const std::stop_token& stop = {});

    /// The value that a node had last at an item: before what is done there is done, or after it if `isAfter`. Reads it
    /// from disk or computes it again if it is not in memory. Errors: it was not computed before, with the reason.
    base::Result<tensor::Value> value(graph::NodeId node, ItemId at, bool isAfter, const base::WorkContext& work = {});
    /// The item that value() finds the value of; none if there is none.
    ItemId itemOf(graph::NodeId node, ItemId at, bool isAfter) const;
    /// Does an operation again on what it had, or on `instead` of that, by source node.
    base::Result<std::vector<tensor::Value>> doAgain(
        ItemId item, const std::unordered_map<graph::NodeId, tensor::Value>& instead = {},
        const base::WorkContext& work = {});
    /// NaN and infinity so far.
    const std::unordered_map<graph::NodeId, exec::BadValues>& badValues() const { return m_bad; }
    /// NaN, infinity and failures so far, as a recording has them.
    exec::Recording partialRecording() const;
    graph::NodeId sourceOf(graph::NodeId node) const { return m_sources[node.index()]; }
    std::size_t computedAgain() const { return m_computedAgain; }
    std::size_t takenOver() const { return m_takenOver; }  ///< operations whose results are those of the base
    /// From any thread.
    KeptUse keptUse() const {
        return {m_kept.limits(), m_kept.memoryBytes(), m_kept.diskBytes(), m_kept.droppedBytes(), m_computedAgain};
    }

  private:
    class Listener;
    struct Again;
    using Blocks = std::unordered_map<BlockId, std::shared_ptr<tensor::Storage>>;

    void run();
    void findKnown();
    bool takeKnown(graph::ExprId expr, std::vector<tensor::Value>& outputs);
    void wait();
    void ended();
    void begun();
    void keepInputs(graph::BodyId body, ItemId item, std::span<const tensor::Value> inputs);
    void keepResults(ItemId item, std::span<const tensor::Value> outputs);
    std::uint8_t note(graph::NodeId node, const tensor::Value& value);
    const KeptValue* keptOf(graph::NodeId source, ItemId item) const;
    const tensor::Value* given(graph::NodeId source) const;
    ItemId makerOf(graph::NodeId source, ItemId at) const;
    base::Result<bool> gather(const KeptValue& kept, Blocks& blocks, std::vector<Again>& todo);
    base::Result<void> compute(std::vector<Again>& todo, Blocks& blocks, const base::WorkContext& work);
    base::Result<exec::ReplayInputs> inputsOf(Again& again, std::vector<Again>& todo, bool& isComplete);
    base::Result<tensor::Value> valueOf(const KeptValue& kept, const base::WorkContext& work);

    RecordedTask m_task;
    std::vector<graph::NodeId> m_sources;
    Trace m_trace;
    KeptValues m_kept;
    std::vector<std::vector<std::pair<graph::NodeId, KeptValue>>> m_valuesOf;  ///< by item
    std::vector<bool> m_canDrop;                                               ///< by expr, see exec::replayable
    std::vector<std::uint8_t> m_state;  ///< by source node: what is in its present value, see TensorEvent
    std::unordered_map<graph::NodeId, exec::BadValues> m_bad;
    // Of RecordedTask::base; empty without it.
    std::vector<bool> m_isKnown;  ///< by expr: has the same results there
    std::vector<bool> m_isRead;   ///< by source node: by what is not known
    std::size_t m_takenOver = 0;
    ItemId m_knownItem = kNoItem;  ///< there, of the operation that is being done; none: it is done here
    std::optional<exec::Recording> m_recording;
    std::atomic<std::size_t> m_computedAgain = 0;

    // Between the two threads: one of them waits.
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_isGoing = false;  ///< the run's thread is on
    std::optional<exec::Recording> m_left;
    const Until* m_until = nullptr;
    std::stop_token m_pause;
    bool m_isReached = false;
    std::size_t m_asked = 0;  ///< items that `at` was asked about
    std::stop_source m_end;
    std::optional<base::Error> m_tooLong;
    std::unique_ptr<Listener> m_listener;
    std::thread m_thread;
};

}  // namespace sonde::session::debug
