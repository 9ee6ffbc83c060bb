#pragma once

#include <span>
#include <vector>

#include "core/exec/recording.h"

namespace sonde::analysis {

/// A node with bad values and what was found out about it.
struct Suspect {
    graph::NodeId node;
    exec::BadValues bad;
    bool isQuiet = false;   ///< accepted, or a carrier of what was accepted
    bool makesNan = false;  ///< none of its inputs held NaN
    bool makesInf = false;  ///< all of its inputs were finite
    bool isOrigin() const { return makesNan || makesInf; }
};

/// The suspects of a run in execution order, without other names of the same value.
class Suspects {
  public:
    Suspects(const graph::InternalGraph& graph, const exec::Recording& recording,
             std::span<const graph::NodeId> accepted);

    /// The first in execution order that makes what `count` counts and nobody accepted; else the first that has it.
    const Suspect* first(std::int64_t exec::BadValues::*count, bool Suspect::*makes) const;

    std::vector<Suspect> all;

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    std::vector<const Suspect*> badInputs(const Suspect& suspect) const;
    void judge(Suspect& suspect) const;
    bool isBodyInput(graph::NodeId node) const;

    const graph::InternalGraph& m_graph;
    std::vector<graph::NodeId> m_sources;
    std::vector<std::size_t> m_at;  ///< by node: in `all`
};

}  // namespace sonde::analysis
