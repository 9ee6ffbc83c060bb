#pragma once

#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::trace {

/// One way in which a tracer tried to follow a module that failed.
struct Attempt {
    std::string what;     ///< "trace its forward as part of Net", "record it as one call with its operations inside"
    std::string failure;  ///< "TraceError: …"; empty: it succeeded
    /// Both on one line: "WHAT: succeeded".
    std::string text() const;
    bool operator==(const Attempt&) const = default;
};

/// What was tried to make one call of a module: its operations inside, and on values if that failed. `failure`: why
/// the call has no operations inside; null if nothing is known of it.
std::vector<Attempt> attemptsAsOneCall(const graph::Expr& call, const std::string* failure);

/// One line for each.
std::string attemptsText(const std::vector<Attempt>& attempts);

}  // namespace sonde::trace
