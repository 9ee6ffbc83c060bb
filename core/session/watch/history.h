#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "core/graph/ids.h"

namespace sonde::session {

/// What a series of History is of.
enum class Measure : std::uint8_t { Minimum, Maximum, Mean, Deviation, Nan, Inf, Zero };
inline constexpr std::size_t kMeasureCount = 7;
std::string_view name(Measure measure);  ///< as `stats` has it: "min", "max", "mean", "std", "nan", "inf", "zero"
/// Empty where there is none: no finite element has no minimum, maximum, mean and deviation.
std::optional<double> valueOf(const analysis::TensorStats& stats, Measure measure);

/// What watched nodes and expressions were in the last runs. Bounded: of a run the first kMaxNodes nodes count.
class History {
  public:
    static constexpr std::size_t kDefaultRuns = 20;
    static constexpr std::size_t kMaxRuns = 1'000;
    static constexpr std::size_t kMaxNodes = 4'096;
    static constexpr std::size_t kMaxRecords = 1'000'000;  ///< of all runs together

    struct Run {
        std::uint64_t number = 0;  ///< from 1, of the runs of this model
        std::unordered_map<graph::NodeId, analysis::TensorStats> stats;
        std::map<int, double> scalars;  ///< by expression watch: numbers and bools
    };

    /// Oldest first.
    const std::deque<Run>& runs() const { return m_runs; }
    std::size_t limit() const { return m_limit; }
    /// Between 2 and kMaxRuns. Drops what is beyond.
    void setLimit(std::size_t runs);
    void add(Run run);
    void clear();
    /// An expression is another one, or gone.
    void forget(int expression);

    /// A number for each run, in their order; none where it was not computed.
    std::vector<std::optional<double>> of(graph::NodeId node, Measure measure) const;
    std::vector<std::optional<double>> of(int expression) const;

  private:
    void trim();

    std::deque<Run> m_runs;
    std::size_t m_limit = kDefaultRuns;
    std::size_t m_records = 0;
    std::uint64_t m_last = 0;
};

}  // namespace sonde::session
