#include "core/document/tracers_fx.h"

#include "core/trace/robust_tracer.h"

namespace sonde::document {

namespace {

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

TracedGraph result(const trace::Tracer& tracer, trace::Tracer::GraphPtr graph) {
    TracedGraph traced{std::move(graph), tracer.tree(), {}, {}};
    for (const auto& [path, message] : tracer.failures()) {
        traced.diagnostics.push_back({base::Severity::Info, "runs as one opaque call: " + message, path,
                                      "its forward depends on the data; its inside cannot be drawn"});
    }
    return traced;
}

/// The root as one call that runs it on values, with the reason.
base::Result<TracedGraph> opaque(trace::Tracer& tracer, const TraceRequest& request, const std::string& failure) {
    SONDE_ASSIGN(auto graph, tracer.traceOpaque(request.root));
    TracedGraph traced = result(tracer, std::move(graph));
    traced.diagnostics.insert(traced.diagnostics.begin(),
                              {base::Severity::Info, "the model cannot be traced and runs as one opaque call: " + failure,
                               request.root->className(), "export it with torch.jit.trace to see its inside"});
    return traced;
}

}  // namespace

base::Result<TracedGraph> traceWhatCanBe(const TraceRequest& request) {
    trace::RobustTracer tracer;
    setLeaves(tracer, request.options);
    auto graph = tracer.traceRepeatedly(request.root, request.concrete);
    if (!graph) return opaque(tracer, request, graph.error().what);
    return result(tracer, std::move(*graph));
}

base::Result<TracedGraph> traceModulePath(const TraceRequest& request) {
    trace::ModulePathTracer tracer;
    setLeaves(tracer, request.options);
    SONDE_ASSIGN(auto graph, tracer.trace(request.root, request.concrete));
    return result(tracer, std::move(graph));
}

base::Result<TracedGraph> traceRobust(const TraceRequest& request) {
    trace::RobustTracer tracer;
    setLeaves(tracer, request.options);
    trace::Tracer::GraphPtr graph = tracer.traceRobust(request.root, request.concrete);
    if (graph->nodeCount() == 0) return opaque(tracer, request, *tracer.failureMessage(*request.root));
    return result(tracer, std::move(graph));
}

}  // namespace sonde::document
