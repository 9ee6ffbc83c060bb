#pragma once

#include <optional>
#include <vector>

#include "ui/context/debugger.h"

/// The values that a node in a loop has had in a debugged run so far, one for each iteration.
namespace sonde::context {

struct DebuggedIterations {
    std::vector<ItemId> items;      ///< in which they were made, the first one first
    std::optional<std::size_t> at;  ///< the one that is seen at the place of the run; none before the first
};

/// Of a run that is stopped; else, and of what no operation computes, there are none.
DebuggedIterations iterationsOf(const session::Session& session, NodeId node);
/// The item to go to for a value to be seen: see Debugger::goTo().
ItemId placeOf(const session::Session& session, const DebuggedIterations& iterations, std::size_t iteration);

}  // namespace sonde::context
