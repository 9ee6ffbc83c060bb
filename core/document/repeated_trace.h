#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/graph/internal_graph.h"
#include "core/trace/module.h"
#include "core/trace/var.h"

namespace sonde::document {

/// A function of tensors that is recorded by its first call, and whose later calls are compared with it (dump.md,
/// "Recorded functions"): they run as the function says, and it is an error if that is no longer what was recorded.
/// What is under trace::PausedTracing in the function is not recorded. For one thread at a time.
class RepeatedTrace {
  public:
    using Function = std::function<trace::Var(std::span<const trace::Var>)>;

    /// One parameter for each input.
    RepeatedTrace(Function function, std::vector<trace::ForwardParameter> parameters)
        : m_function(std::move(function)), m_parameters(std::move(parameters)) {}

    /// The values that the function returns, computed by the engine. Run errors: "trace error because REASON" (see
    /// trace::repetitionMismatch), what cannot be traced, what an operator says. What the function itself throws
    /// reaches the caller. After all of them the trace is what it was.
    base::Result<std::vector<tensor::Value>> call(std::span<const tensor::Value> inputs,
                                                  const base::WorkContext& work = {});
    /// What was recorded; null before the first call.
    const std::shared_ptr<const graph::InternalGraph>& recorded() const { return m_recorded; }

  private:
    Function m_function;
    std::vector<trace::ForwardParameter> m_parameters;
    std::shared_ptr<const graph::InternalGraph> m_recorded;
};

}  // namespace sonde::document
