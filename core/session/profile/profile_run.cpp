#include "core/session/profile/profile_run.h"

#include <algorithm>

#include "core/analysis/infer.h"
#include "core/base/resident_memory.h"
#include "core/exec/run_trace.h"
#include "core/graph/missing_data.h"
#include "core/session/edits/edit_count.h"
#include "core/session/run.h"

namespace sonde::session {

base::Result<std::shared_ptr<const analysis::RunProfile>> profileRun(const document::Document& document,
                                                                     const ProfileRequest& request,
                                                                     const base::WorkContext& work) {
    RunTask task;
    // A graph of its own: packed weights of other runs of the document's belong to those, and would not be seen.
    task.graph = graph::withKeptOf(std::make_shared<const graph::InternalGraph>(*document.graph), document.graph);
    task.settings.threads = request.threads;
    task.settings.seed = request.seed;
    task.settings.repeat = std::max<std::size_t>(request.repeat, 1);
    task.points.exact = request.isExact;
    task.points.edits = request.edits.values;
    SONDE_ASSIGN(task.inputs, request.edits.edited(request.inputs, work));
    task.runner = std::make_shared<exec::Runner>(request.threads);
    if (!request.isFused) task.live = std::make_shared<LiveRun>(task.graph);
    work.report("running the model for its profile");
    analysis::ProfiledRun traced;
    base::resetResidentPeak();  // what was given back before the run is no part of its growth
    const auto before = base::residentMemory();
    RunResult result;
    {
        const exec::RunTrace::Scope scope(&traced.trace);
        result = doRun(task, work);
    }
    const auto after = base::residentMemory();
    if (result.run.error) return *result.run.error;
    if (work.cancelled()) return base::cancelled("running the model for its profile");
    analysis::ProfileSource source{document.title,     result.types.graph, document.modules,
                                   result.run.threads, request.isFused,    0};
    if (!source.graph)
        source.graph =
            std::make_shared<const graph::InternalGraph>(analysis::typedFor(*document.graph, request.inputs));
    if (before && after) source.growthBytes = after->peak - before->peak;
    auto profile = std::make_shared<analysis::RunProfile>(analysis::profileOf(source, traced, *result.run.recording));
    if (request.edits.count > 0) profile->notes.push_back("with " + editCountText(request.edits.count));
    if (request.measuresLimits) {
        SONDE_ASSIGN(profile->limits, analysis::machineLimits(task.runner->pool(), work));
    }
    return std::shared_ptr<const analysis::RunProfile>(std::move(profile));
}

}  // namespace sonde::session
