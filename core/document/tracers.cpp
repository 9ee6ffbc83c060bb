#include "core/document/tracers.h"

#include <algorithm>

#include "core/document/tracer_custom.h"
#include "core/document/tracer_robust.h"
#include "core/document/tracer_traced_module.h"
#include "core/document/tracers_fx.h"

namespace sonde::document {

const std::vector<TracerInfo>& tracers() {
    static const std::vector<TracerInfo> table{
        {"", "Automatic", "traces what can be traced; the rest becomes opaque calls", traceWhatCanBe},
        {"module-path", "Module path", "symbolic trace like torch.fx, with the module of each node", traceModulePath},
        {"traced-module", "Traced module",
         "runs the model on an example and records the operations; branches are followed", traceAsTracedModule},
        {"robust", "Robust", "symbolic trace that turns modules that cannot be traced into leaves", traceRobust},
        {"custom", "Custom",
         "symbolic trace that records indexed assignment, in-place operations and conditions, then removes the writes",
         traceCustom},
    };
    return table;
}

base::Result<const TracerInfo*> findTracer(std::string_view id) {
    const auto found = std::ranges::find(tracers(), id, &TracerInfo::id);
    if (found != tracers().end()) return &*found;
    std::string known;
    for (const TracerInfo& tracer : tracers()) {
        if (!tracer.id.empty()) known += (known.empty() ? "" : ", ") + std::string(tracer.id);
    }
    return base::usageError("there is no tracer '" + std::string(id) + "'", "--tracer", "tracers: " + known);
}

}  // namespace sonde::document
