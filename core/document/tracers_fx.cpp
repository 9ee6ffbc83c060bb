#include "core/document/tracers_fx.h"

#include "core/document/attempts.h"
#include "core/document/fx_results.h"
#include "core/document/tracer_concrete.h"
#include "core/document/tracer_robust.h"
#include "core/trace/robust_tracer.h"

namespace sonde::document {

base::Result<TracedGraph> traceWhatCanBe(const TraceRequest& request) {
    trace::RobustTracer tracer;
    setLeaves(tracer, request.options);
    SONDE_ASSIGN(const auto example, followExample(tracer, request));
    tracer.setRecordsControlFlow(true);
    auto graph = tracer.traceRepeatedly(request.root, request.concrete);
    if (example && graph) example->finish(**graph);
    TracedGraph traced;
    if (graph) {
        traced = tracedGraph(tracer, std::move(*graph));
        addAttempts(traced, *request.root, tracer);
    } else if (tracer.failure() && tracer.failure()->kind() == trace::TraceErrorKind::Foreign) {
        return std::move(graph).error();  // the model's own code refuses; it would refuse values, too
    } else {
        const std::string& failure = graph.error().what;
        SONDE_ASSIGN(traced, opaqueRoot(tracer, request, failure, {{"trace its forward as a root", failure}}));
    }
    if (!tracer.failures().empty()) SONDE_TRY(addParts(traced, request));
    return traced;
}

base::Result<TracedGraph> traceModulePath(const TraceRequest& request) {
    trace::ModulePathTracer tracer;
    setLeaves(tracer, request.options);
    SONDE_ASSIGN(const auto example, followExample(tracer, request));
    SONDE_ASSIGN(auto graph, tracer.trace(request.root, withAbsent(request)));
    if (example) example->finish(*graph);
    return tracedGraph(tracer, std::move(graph));
}

}  // namespace sonde::document
