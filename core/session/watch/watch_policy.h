#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "core/graph/ids.h"
#include "core/tensor/value.h"

namespace sonde::session {

/// What is kept of a watched value.
enum class WatchKeep : std::uint8_t {
    Full,       ///< all elements
    Sample,     ///< statistics, and some elements
    Statistics  ///< statistics alone
};
/// Stable words for files and the command line: "full", "sample", "statistics".
std::string_view name(WatchKeep keep);
std::optional<WatchKeep> watchKeep(std::string_view name);

/// What a run keeps of watched values, and in how much memory. Values are kept in the order in which they are computed.
/// One that does not fit any more is kept as a sample; if that does not fit, as statistics alone, which are not
/// counted. Memory that several values share is counted once. What is kept never changes what a run computes.
struct WatchPolicy {
    static constexpr std::size_t kDefaultBytes = std::size_t{1} << 30;
    static constexpr std::size_t kNoBudget = SIZE_MAX;
    static constexpr std::int64_t kDefaultSample = 1'000;
    static constexpr std::int64_t kMaxSample = 1'000'000;

    WatchKeep keep = WatchKeep::Full;
    std::size_t budgetBytes = kDefaultBytes;
    std::int64_t sampleElements = kDefaultSample;

    bool operator==(const WatchPolicy&) const = default;
};

/// What is left of a watched value that was not kept whole. In a loop that of the last iteration.
struct WatchSummary {
    std::string type;                            ///< "float32[1,64,56,56]"
    std::vector<std::int64_t> shape;             ///< of a tensor
    std::optional<analysis::TensorStats> stats;  ///< none of what is no tensor of numbers
    /// Elements at equal distances in row-major order, the first among them; of the value's dtype, rank 1. Undefined:
    /// statistics alone.
    tensor::Tensor sample;
    std::int64_t sampleStep = 1;  ///< from one element of the sample to the next
    std::size_t iterations = 1;
};

/// What a run kept of watched values besides its recording.
struct WatchedValues {
    std::unordered_map<graph::NodeId, WatchSummary> summaries;
    std::unordered_map<graph::NodeId, tensor::Value> operands;  ///< for expressions; in loops of the last iteration
    std::size_t watchedCount = 0;                               ///< nodes that were asked about
    std::size_t overBudget = 0;                                 ///< of these: whose value did not fit
    std::size_t sampleCount = 0;                                ///< of these: of which there is a sample
    std::size_t keptBytes = 0;
    WatchPolicy policy;

    /// "12 of 68 values kept as statistics: budget 256 MiB"; empty if all fitted.
    std::string text() const;
};

/// `count` elements of a tensor at equal distances. Undefined if it has none, or there is no memory.
tensor::Tensor sampleOf(const tensor::Tensor& tensor, std::int64_t count, std::int64_t& step);

/// Decides during a run what is kept (exec::RunOptions::mayKeep). On the running thread.
class WatchKeeper {
  public:
    struct Nodes {
        std::unordered_set<graph::NodeId> whole;      ///< kept in any case, and not counted: what a user looks at
        std::unordered_set<graph::NodeId> operands;   ///< whose values expressions need
        std::unordered_set<graph::NodeId> unwatched;  ///< of these: not kept besides
    };
    WatchKeeper(const WatchPolicy& policy, Nodes nodes, std::stop_token stop)
        : m_policy(policy), m_nodes(std::move(nodes)), m_stop(std::move(stop)) {
        begin();
    }

    /// A run begins.
    void begin();
    /// Whether the recording is to keep a value; what it had of this node goes if not.
    bool keep(graph::NodeId node, const tensor::Value& value);
    WatchedValues take() { return std::move(m_values); }

  private:
    bool fits(graph::NodeId node, const tensor::Value& value);
    void summarise(graph::NodeId node, const tensor::Value& value);

    WatchPolicy m_policy;
    Nodes m_nodes;
    std::stop_token m_stop;
    WatchedValues m_values;
    struct Shared {
        std::size_t users = 0;
        std::size_t bytes = 0;
    };
    std::unordered_map<const void*, Shared> m_storages;  ///< counted ones
    std::unordered_map<graph::NodeId, std::vector<const void*>> m_storagesOf;
    std::unordered_map<graph::NodeId, std::size_t> m_iterations;  ///< that are kept
};

}  // namespace sonde::session
