#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/plan.h"
#include "core/exec/recording.h"

namespace sonde::session {

// Files of a load-and-run that tell something of each case. One case is the file as it is; several are in one file.

/// Times of operations (analysis::profileJson). Several cases: the events of case i are those of process i + 1, and of
/// its only thread; "profiler" has the sums over all cases, and "cases" the "profiler" of each.
class CaseProfiles {
  public:
    void add(std::size_t caseIndex, const graph::InternalGraph& graph, const exec::Recording& recording);
    /// Nothing if `path` is empty or no case was added. Error (Run): the file cannot be written.
    base::Result<void> write(const std::string& path) const;

  private:
    std::vector<std::pair<std::size_t, std::string>> m_cases;
};

/// How long each value of a run is needed, and how much memory values take together at most, as JSON: what a plan of
/// static memory starts from. Each value counts as memory of its own. Several cases: they are the items of "cases", and
/// the peak is that of the case with the highest one.
class CaseMemory {
  public:
    /// `bytes`: of the values that the run computed.
    void add(std::size_t caseIndex, const exec::Plan& plan,
             const std::unordered_map<graph::NodeId, std::int64_t>& bytes);
    base::Result<void> write(const std::string& path) const;  ///< as CaseProfiles::write

  private:
    std::vector<std::pair<std::size_t, std::string>> m_cases;
};

}  // namespace sonde::session
