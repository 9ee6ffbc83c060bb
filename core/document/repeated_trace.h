#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document_types.h"
#include "core/document/trace_options.h"
#include "core/graph/internal_graph.h"
#include "core/passes/report.h"
#include "core/trace/module.h"
#include "core/trace/var.h"

namespace sonde::document {

/// A function of tensors that is recorded by its first call (dump.md, "Recorded functions"). Later calls call the
/// function again, compare what it does with the recording (it is an error if that is no longer the same), and run the
/// compiled recording; the options change each of that. What is under trace::PausedTracing in the function is not
/// recorded. For one thread at a time.
class RepeatedTrace {
  public:
    using Function = std::function<trace::Var(std::span<const trace::Var>)>;

    /// One parameter for each input.
    RepeatedTrace(Function function, std::vector<trace::ForwardParameter> parameters, TraceOptions options = {});
    ~RepeatedTrace();
    RepeatedTrace(RepeatedTrace&&) noexcept;
    RepeatedTrace& operator=(RepeatedTrace&&) noexcept;

    /// The values that this call of the function returns, computed by the engine: the leaves of its containers in
    /// order; none if calls only record. Where it returns other values than before, or decides otherwise by values,
    /// that is compiled, too; the last eight compiled forms are kept. A tensor among the inputs is an input of the
    /// recording; a number, text or None reaches the function as it is. Run errors: "trace error because REASON" (see
    /// trace::repetitionMismatch), what cannot be traced, what an operator or a guard says, results that the
    /// optimisation changed (TraceOptions::optLevel below 0). Usage errors: another count of inputs; with
    /// captureAsConst what is not a tensor; bad options. What the function itself throws reaches the caller. After all
    /// of them the trace is what it was.
    base::Result<std::vector<tensor::Value>> call(std::span<const tensor::Value> inputs,
                                                  const base::WorkContext& work = {});
    const TraceOptions& options() const;
    /// What was recorded; null before the first call.
    const std::shared_ptr<const graph::InternalGraph>& recorded() const;
    /// What the last call ran: the recording after the passes of the level, with steps that run again if it is to take
    /// less memory. Null until it is needed for the first time.
    std::shared_ptr<const graph::InternalGraph> compiled() const;
    /// What each of these passes did.
    std::vector<passes::PassReport> passReports() const;
    /// Times of the last compiled call as JSON, by operator under "profiler" (see analysis::profileJson). Usage errors:
    /// profiling is off, or fewer than two calls ran the compiled form.
    base::Result<std::string> getProfile() const;
    /// The recording as a model, to be dumped (exporting::makeDump), checked or saved. Usage errors: nothing is
    /// recorded, captureAsConst is off, the function returns nothing.
    base::Result<std::shared_ptr<const Document>> document(const base::WorkContext& work = {}) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::document
