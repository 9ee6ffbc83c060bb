#include "core/exec/runner.h"

#include "core/exec/execution.h"

namespace sonde::exec {

struct Runner::Impl {
    explicit Impl(std::size_t threads) : pool(threads) {}
    base::ThreadPool pool;
    RunMemory memory;
};

Runner::Runner(std::size_t threads) : m_impl(std::make_unique<Impl>(threads)) {}
Runner::~Runner() = default;
base::ThreadPool& Runner::pool() { return m_impl->pool; }

Recording Runner::run(const Plan& plan, std::span<const Value> inputs, const base::WorkContext& work,
                      const RunOptions& options) {
    ops::RunEnvironment environment;
    environment.pool = &m_impl->pool;
    environment.stop = work.stop;
    environment.seed = options.seed;
    environment.exact = plan.options().exact;
    m_impl->memory.prepared.select(plan.sharedGraph(), environment.exact);
    m_impl->memory.census.select(plan.sharedGraph());
    m_impl->memory.blocks.nextRun();
    FileCheck files(plan.sharedGraph(), inputs);
    Recording recording;
    std::optional<base::Error> changed = files.changed();
    if (!changed) {
        recording = Execution(plan, work, options, environment, m_impl->memory, files).run(inputs);
        changed = files.changed();
    }
    return changed ? recordingOfChangedFiles(plan, std::move(*changed), recording.totalNs) : std::move(recording);
}

base::Result<std::vector<Value>> Runner::replay(const Plan& plan, const ReplayInputs& inputs,
                                                const base::WorkContext& work, const RunOptions& options) {
    ops::RunEnvironment environment;
    environment.pool = &m_impl->pool;
    environment.stop = work.stop;
    environment.seed = options.seed;
    environment.exact = plan.options().exact;
    FileCheck files(plan.sharedGraph(), {});
    if (auto changed = files.changed()) return std::move(*changed);
    m_impl->memory.prepared.select(plan.sharedGraph(), environment.exact);
    RunOptions once = options;
    once.countsBad = false;
    auto outputs = Execution(plan, work, once, environment, m_impl->memory, files).replay(inputs);
    if (auto changed = files.changed()) return std::move(*changed);
    return outputs;
}

void Runner::trim(std::size_t keptBytes) { m_impl->memory.blocks.trim(keptBytes); }

}  // namespace sonde::exec
