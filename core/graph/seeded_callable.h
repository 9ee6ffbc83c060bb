#pragma once

#include <cstdint>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// One that may draw random numbers.
class SeededCallable : public Callable {
  public:
    using Callable::call;
    /// @param seed  decides what is drawn
    virtual base::Result<std::vector<Value>> call(std::span<const Value> arguments, std::uint64_t seed) const = 0;
};

}  // namespace sonde::graph
