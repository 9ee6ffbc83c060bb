#include "core/document/fx_results.h"

#include "core/document/attempts.h"

namespace sonde::document {

TracedGraph tracedGraph(const trace::Tracer& tracer, trace::Tracer::GraphPtr graph) {
    TracedGraph traced{std::move(graph), tracer.tree(), {}, {}};
    for (const auto& [path, message] : tracer.failures()) {
        if (path.empty()) continue;
        traced.diagnostics.push_back(
            {base::Severity::Info, "runs as one opaque call: " + message, path,
             "the control flow of its forward depends on the data, so its operations cannot be drawn"});
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

namespace {

/// What was tried to make the one call of an opaque root.
std::vector<trace::Attempt> attemptsAtCall(const trace::Tracer& tracer, const graph::InternalGraph& graph) {
    const auto inside = tracer.failures().find({});
    for (const graph::ExprId id : graph.main().order) {
        if (graph.expr(id).kind == graph::ExprKind::CallModule)
            return trace::attemptsAsOneCall(graph.expr(id),
                                            inside == tracer.failures().end() ? nullptr : &inside->second);
    }
    return {};
}

}  // namespace

base::Result<TracedGraph> opaqueRoot(trace::Tracer& tracer, const TraceRequest& request, const std::string& failure,
                                     const std::vector<trace::Attempt>& tried) {
    SONDE_ASSIGN(auto graph, tracer.traceOpaque(request.root));
    TracedGraph traced = tracedGraph(tracer, std::move(graph));
    traced.tree.mutableModule(0).failure = failure;
    traced.diagnostics.insert(
        traced.diagnostics.begin(),
        {base::Severity::Warning, "the model cannot be traced and runs as one opaque call: " + failure,
         request.root->className(), "export it with torch.jit.trace to see its operations"});
    addAttempts(traced.diagnostics, {}, tried);
    addAttempts(traced.diagnostics, {}, attemptsAtCall(tracer, *traced.graph));
    return traced;
}

}  // namespace sonde::document
