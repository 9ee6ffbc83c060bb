#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/verb.h"
#include "app/verbs/options.h"
#include "core/document/document_json.h"
#include "core/document/tracer_robust.h"
#include "core/trace/listing.h"

namespace sonde::app {

namespace {

struct TraceOptions {
    ModelOptions model;
    std::string format = "nodes";
};

base::Result<int> trace(TraceOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load());
    const graph::InternalGraph& graph = *document->graph;
    const bool collection = options.model.open.tracer == "robust";
    const std::string text = options.format == "nodes"   ? collection ? document::collectionListing(*document) : trace::originListing(graph)
                             : options.format == "json"  ? document::documentJson(*document)
                             : options.format == "dot"   ? trace::clusteredDot(graph)
                             : document->text.empty()     ? graph::printed(graph)
                                                          : document->text;
    fmt::print("{}", text);
    return 0;
}

}  // namespace

Verb traceVerb() {
    return {"trace", "Print a model's graph: its nodes with the module that each comes from",
            "sonde trace zoo:resnet18 --format nodes", [](CLI::App& command) {
                auto options = std::make_shared<TraceOptions>();
                options->model.addTo(command);
                command.add_option("--format", options->format, "nodes, graph, json or dot")
                    ->check(CLI::IsMember({"nodes", "graph", "json", "dot"}))
                    ->capture_default_str();
                command.add_option("--input-data", options->model.open.inputData,
                                   "Example inputs, as --example: x:image.png;mask:#rand(0,1)");
                return std::function<base::Result<int>()>([options] { return trace(*options); });
            }};
}

}  // namespace sonde::app
