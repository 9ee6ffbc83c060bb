#pragma once

#include <chrono>
#include <vector>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout::compose {

/// Opening many levels at once takes the sum of their times. Graphviz may be fast for each level and slow for a
/// thousand of them: this limits Graphviz's time for one scene, estimated from measured times of graphs of that size.
/// It does not measure at run time, so that the same scene gets the same engines each time.
class TimeBudget {
  public:
    /// An estimate is right within a factor of two on an idle machine. It is multiplied by this factor, so that the
    /// user does not wait on a busy one either.
    static constexpr double kSafetyFactor = 4;

    /// `ms`: of Graphviz for the whole scene, summed over all helpers. `budget`: for one graph.
    TimeBudget(std::chrono::milliseconds ms, std::chrono::milliseconds budget)
        : m_left(static_cast<double>(ms.count())), m_budget(budget) {}

    /// By graph: whether Graphviz should lay it out. Small ones come first. Unless these are the last ones, half of the
    /// remaining time is reserved for the levels around them.
    std::vector<bool> grant(const std::vector<const BoxGraph*>& graphs, bool last);

  private:
    double m_left;
    std::chrono::milliseconds m_budget;
};

}  // namespace sonde::layout::compose
