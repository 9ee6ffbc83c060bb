#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/exec/plan_options.h"
#include "core/ops/registry/registry.h"

namespace sonde::exec {

struct PlanImpl;

/// What to compute, in which order, where each value lives and what is kept. Made once for (graph, watch set, end set)
/// and then run any number of times; immutable and thread-safe.
class Plan {
  public:
    /// Never fails for an unknown operator: that expr is in the plan and fails when it is reached.
    static base::Result<std::shared_ptr<const Plan>> make(std::shared_ptr<const InternalGraph> graph,
                                                          PlanOptions options,
                                                          const ops::Registry& registry = ops::Registry::all());
    ~Plan();

    const InternalGraph& graph() const;
    const std::shared_ptr<const InternalGraph>& sharedGraph() const;
    const PlanOptions& options() const;
    /// Exprs of the main body that will run, in order.
    const std::vector<ExprId>& steps() const;
    /// Operators that the plan needs and the registry lacks: one line each, all of them.
    const std::vector<std::string>& missingOperators() const;

    const PlanImpl& impl() const { return *m_impl; }  ///< for the engine

  private:
    Plan();
    std::unique_ptr<PlanImpl> m_impl;
};

}  // namespace sonde::exec
