#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// How sure a finding is.
enum class Confidence : std::uint8_t {
    Low,     ///< may be meant: a habit of exporters, one input that happens to be like this
    Medium,  ///< likely, on the values that were seen
    High,    ///< follows from the file, or was measured
};
std::string_view name(Confidence confidence);  ///< "low", "medium", "high"

/// One thing about a model that somebody who signs for it must know.
struct Finding {
    std::string id;  ///< of its checker: "dead-unit"
    /// Error: results are wrong or not reproducible. Warning: likely a fault, or a loss. Info: to be known.
    base::Severity severity = base::Severity::Info;
    Confidence confidence = Confidence::High;
    std::vector<graph::NodeId> nodes;
    std::vector<std::string> others;  ///< names of what is no node: a stored tensor that nothing reads
    std::string message;              ///< what, and why it matters
    std::string advice;               ///< what to do
};

/// Names of its nodes, then of what is no node.
std::vector<std::string> namesOf(const graph::InternalGraph& graph, const Finding& finding);

}  // namespace sonde::analysis
