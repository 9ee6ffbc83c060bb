#include "core/document/tracers_fx.h"

#include "core/document/tracer_concrete.h"
#include "core/document/tracer_robust.h"
#include "core/trace/robust_tracer.h"

namespace sonde::document {

TracedGraph tracedGraph(const trace::Tracer& tracer, trace::Tracer::GraphPtr graph) {
    TracedGraph traced{std::move(graph), tracer.tree(), {}, {}};
    for (const auto& [path, message] : tracer.failures()) {
        if (path.empty()) continue;
        traced.diagnostics.push_back({base::Severity::Info, "runs as one opaque call: " + message, path,
                                      "its forward depends on the data; its inside cannot be drawn"});
    }
    return traced;
}

void setLeaves(trace::ModulePathTracer& tracer, const OpenOptions& options) {
    for (const std::string& leaf : options.registeredLeaves) tracer.addLeafClass(leaf);
    for (const std::string& leaf : options.leaves) {
        if (leaf == "none") {
            tracer.setTraceAll(true);
        } else {
            tracer.addLeafClass(leaf);
        }
    }
}

base::Result<TracedGraph> opaqueRoot(trace::Tracer& tracer, const TraceRequest& request, const std::string& failure) {
    SONDE_ASSIGN(auto graph, tracer.traceOpaque(request.root));
    TracedGraph traced = tracedGraph(tracer, std::move(graph));
    traced.tree.mutableModule(0).failure = failure;
    traced.diagnostics.insert(
        traced.diagnostics.begin(),
        {base::Severity::Info, "the model cannot be traced and runs as one opaque call: " + failure,
         request.root->className(), "export it with torch.jit.trace to see its inside"});
    return traced;
}

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
    } else if (tracer.failure() && tracer.failure()->kind() == trace::TraceErrorKind::Foreign) {
        return std::move(graph).error();  // the model's own code refuses; it would refuse values, too
    } else {
        SONDE_ASSIGN(traced, opaqueRoot(tracer, request, graph.error().what));
    }
    if (!tracer.failures().empty()) SONDE_TRY(addParts(traced, request));
    return traced;
}

base::Result<TracedGraph> traceModulePath(const TraceRequest& request) {
    trace::ModulePathTracer tracer;
    setLeaves(tracer, request.options);
    SONDE_ASSIGN(const auto example, followExample(tracer, request));
    SONDE_ASSIGN(auto graph, tracer.trace(request.root, request.concrete));
    if (example) example->finish(*graph);
    return tracedGraph(tracer, std::move(graph));
}

}  // namespace sonde::document
