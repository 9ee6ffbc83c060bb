#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/progress.h"
#include "core/base/thread_pool.h"
#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/exec/replay.h"
#include "core/exec/run_options.h"

namespace sonde::exec {

/// Runs plans with one thread pool, and keeps memory between runs. One run at a time; not thread-safe.
class Runner {
  public:
    explicit Runner(std::size_t threads = 0);
    ~Runner();

    /// `inputs` in the order of graph().inputs(), already of the right kinds; none for an input that is not given (it
    /// fails only if something needs it). The error, if any, is inside the recording; it names the node, its qualname,
    /// the operator, and the types of its inputs.
    Recording run(const Plan& plan, std::span<const Value> inputs, const base::WorkContext& work = {},
                  const RunOptions& options = {});
    /// Does one operation of a plan again, on the values that it had: the same results, bit for bit. Also while a run
    /// of the plan waits in its observer. Errors: it cannot be done again (see replayable), a value is missing (Usage);
    /// what the operation says.
    base::Result<std::vector<Value>> replay(const Plan& plan, const ReplayInputs& inputs,
                                            const base::WorkContext& work = {}, const RunOptions& options = {});
    /// Gives memory back to the system that earlier values were in and no value is in now, but for `keptBytes` of it.
    void trim(std::size_t keptBytes = 0);
    base::ThreadPool& pool();

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::exec
