#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/trace/traced_module.h"

namespace sonde::trace {

/// What built-in modules do, as graphs: for each a traced module that is built in, with a graph for every way in which
/// the graphs of `top` call it. Files hold these, and passes change them. The module's own tensors are shared.
///
/// Needs an EvaluatorScope, as any trace does, and no active tracer.
class BuiltinGraphs {
  public:
    /// `top` and its graphs must live as long.
    explicit BuiltinGraphs(const TracedModule& top) { collect(top); }

    /// The same for the same module. A traced module is returned as it is. Errors: a call whose inputs have unknown
    /// shapes, or what the module's code does that cannot be recorded.
    base::Result<std::shared_ptr<Module>> of(const std::shared_ptr<Module>& module);
    /// Puts them in the place of all built-in modules in the hierarchy.
    base::Result<void> replaceBelow(TracedModule& module);

  private:
    void collect(const TracedModule& module);
    base::Result<void> takeOver(TracedModule& made, const TracedModule& traced);

    std::map<const Module*, std::vector<const TracedExpr*>> m_calls;
    std::map<const Module*, std::shared_ptr<TracedModule>> m_made;
};

}  // namespace sonde::trace
