#include "core/document/tracer_custom.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "core/document/fx_results.h"
#include "core/document/tracer_concrete.h"
#include "core/io/torchscript/script_module.h"
#include "core/passes/inplace.h"
#include "core/trace/custom_tracer.h"

namespace sonde::document {

namespace {

/// --concrete values of all parameters annotate; with an example, parameters that are not among them take theirs from
/// it.
base::Result<std::optional<trace::ConcreteArguments>> annotations(const TraceRequest& request) {
    if (request.concrete.empty()) return std::optional<trace::ConcreteArguments>();
    trace::ConcreteArguments concrete = request.concrete;
    SONDE_ASSIGN(auto examples, exampleInputs(request));
    for (auto& [name, value] : examples) concrete.emplace(name, std::move(value));
    if (!request.options.inputData.empty()) {
        for (const trace::ForwardParameter& parameter : request.root->signature()) {
            if (parameter.fallback) concrete.emplace(parameter.name, *parameter.fallback);
        }
    }
    return std::optional(std::move(concrete));
}

/// The source system annotates with values for all parameters. With some of them the trace is specialised for those,
/// as it is with the other tracers.
bool coversAll(const trace::ConcreteArguments& concrete, const trace::Module& root) {
    return std::ranges::all_of(
        root.signature(), [&](const trace::ForwardParameter& parameter) { return concrete.contains(parameter.name); });
}

/// A name that the model does not have is an error, as it is among values for all parameters (custom-trace.md).
base::Result<void> checkKnown(const trace::ConcreteArguments& concrete, const trace::Module& root) {
    std::vector<std::string> names;
    for (const trace::ForwardParameter& parameter : root.signature()) names.push_back(parameter.name);
    for (const auto& [name, value] : concrete)
        if (std::ranges::find(names, name) == names.end())
            return base::usageError("the model has no parameter '" + name + "'", "--concrete " + name,
                                    base::didYouMean(name, names));
    return {};
}

base::Result<trace::Tracer::GraphPtr> withoutSlices(const graph::InternalGraph& recorded, bool) {
    auto graph = std::make_shared<graph::InternalGraph>(recorded);
    passes::removeUnnecessarySlices(*graph);
    return graph;
}

}  // namespace

base::Result<TracedGraph> traceCustom(const TraceRequest& request) {
    trace::CustomTracerOptions options;
    // A script's in-place operations have become new values already: there is nothing to remove or to mark.
    if (dynamic_cast<const io::script::ScriptModule*>(request.root.get())) options.purify = withoutSlices;
    trace::CustomTracer tracer(std::move(options));
    setLeaves(tracer, request.options);
    tracer.setRecordsControlFlow(true);  // of archives: branches and loops as exprs that own bodies
    trace::CustomTraceOptions how;
    SONDE_ASSIGN(how.concrete, annotations(request));
    if (how.concrete && !coversAll(*how.concrete, *request.root)) {
        SONDE_TRY(checkKnown(*how.concrete, *request.root));
        how.concrete.reset();
    }
    if (!how.concrete) how.fixed = withAbsent(request);
    SONDE_ASSIGN(const auto example, followExample(tracer, request));
    SONDE_ASSIGN(auto graph, tracer.traceCustom(request.root, how));
    if (example) example->finish(*graph);
    return tracedGraph(tracer, std::move(graph));
}

}  // namespace sonde::document
