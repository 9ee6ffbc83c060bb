#pragma once

#include <vector>

#include "core/exec/plan_impl.h"

namespace sonde::exec {

/// When the steps of a plan let go of values.
class Releases {
  public:
    /// Linear in the graph. The plan must outlive it.
    explicit Releases(const PlanImpl& plan);

    /// A value is dropped after the last step that reads it; results of the body stay. In a row that holds the steps of
    /// called bodies (`isRow`) their values are its own.
    void plan(graph::BodyId body, std::vector<Step>& steps, bool isRow) const;

  private:
    void collectReads(const Step& step, std::vector<NodeId>& reads) const;

    const PlanImpl& m_plan;
    const InternalGraph& m_graph;
    std::vector<graph::BodyId> m_home;  ///< by source node
};

/// Steps of the main body: nothing after the last end point runs. (Inside bodies the runner stops by itself.)
void cutAfterEnds(const PlanImpl& plan, std::vector<Step>& steps);

}  // namespace sonde::exec
