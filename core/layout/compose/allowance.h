#pragma once

#include <chrono>
#include <vector>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout::compose {

/// Whoever opens much at once waits for all levels together. Each level alone may be quick for Graphviz and a thousand
/// of them slow: this shares out how much of its time one scene may take, by what graphs of that size took before. Does
/// not measure, so that the same scene gets the same engines each time.
class Allowance {
  public:
    /// What is expected of a graph holds within a factor of two where nothing else runs; it counts so many times, that
    /// whoever waits does not notice where something does.
    static constexpr double kCaution = 4;

    /// `ms`: of Graphviz for the whole scene, summed over all helpers. `budget`: for one graph.
    Allowance(std::chrono::milliseconds ms, std::chrono::milliseconds budget)
        : m_left(static_cast<double>(ms.count())), m_budget(budget) {}

    /// By graph: whether Graphviz should do it. Small ones go first. Unless these are the last ones, half of what is
    /// left is kept for those around them.
    std::vector<bool> grant(const std::vector<const BoxGraph*>& graphs, bool last);

  private:
    double m_left;
    std::chrono::milliseconds m_budget;
};

}  // namespace sonde::layout::compose
