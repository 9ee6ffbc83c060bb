#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "core/analysis/query/query.h"
#include "core/document/document_json.h"
#include "core/document/tracer_robust.h"
#include "core/export/write_export.h"
#include "core/graph/source_files.h"
#include "core/trace/listing.h"

namespace sonde::app {

namespace {

struct TraceOptions {
    ModelOptions model;
    std::string format = "nodes";
    std::string save;
    std::string where;
};

/// The listing of the nodes that a query finds. A wrong query is shown with a mark under the place that is meant.
base::Result<int> list(const document::Document& document, const std::string& where) {
    const graph::InternalGraph& graph = *document.graph;
    analysis::QueryProblem problem;
    const std::optional<analysis::Query> query = analysis::Query::parse(where, &problem);
    if (!query) {
        const std::string mark(std::max<std::size_t>(1, problem.length), '^');
        fmt::print(stderr, "{}\n{}{}\n", where, std::string(problem.at, ' '), mark);
        return problem.error();
    }
    std::vector<bool> found(graph.nodeCount(), false);
    analysis::QueryFacts facts;
    facts.modules = document.modules.get();
    for (const graph::NodeId node : query->run(graph, facts)) found[node.index()] = true;
    fmt::print("{}", trace::originListing(graph, [&](graph::NodeId node) { return found[node.index()]; }));
    return 0;
}

base::Result<int> trace(TraceOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load({}, {{{"--save", options.save}}}));
    if (!options.save.empty()) {
        const exporting::ExportChoice choice{exporting::ExportFormat::TracedModule, {}};
        SONDE_TRY(exporting::writeExport(*document, choice, options.save, {}, commandLineWork()));
    }
    const graph::InternalGraph& graph = *document->graph;
    if (!options.where.empty()) {
        if (options.format != "nodes")
            return base::usageError("--where lists nodes", "--format " + options.format, "leave --format out");
        return list(*document, options.where);
    }
    const bool collection = options.model.open.tracer == "robust";
    const std::string text = options.format == "nodes"
                                 ? collection ? document::collectionListing(*document) : trace::originListing(graph)
                             : options.format == "json" ? document::documentJson(*document)
                             : options.format == "dot"  ? trace::clusteredDot(graph)
                             : document->text.empty()   ? graph::printed(graph)
                                                        : document->text;
    SONDE_TRY(graph::checkFiles(document->graph));
    fmt::print("{}", text);
    // Beside the listing, which stays what fx prints; JSON has all of it.
    if (collection && options.format != "json") fmt::print(stderr, "{}", document::collectionNotes(*document));
    return 0;
}

}  // namespace

Verb traceVerb() {
    return {
        "trace", "Print a model's graph: its nodes and their modules", "sonde trace zoo:resnet18 --format nodes",
        [](CLI::App& command) {
            auto options = std::make_shared<TraceOptions>();
            options->model.addTo(command);
            options->model.needsValues = false;
            command.add_option("--format", options->format, "nodes, graph, json or dot")
                ->check(CLI::IsMember({"nodes", "graph", "json", "dot"}))
                ->capture_default_str();
            command
                .add_option("--where", options->where,
                            "Only the nodes that a query finds: 'op:Conv and shape:[*,64,*,*] and qualname:layer3.*'")
                ->type_name("QUERY");
            command
                .add_option(
                    "--save", options->save,
                    "With --tracer traced-module: write the traced module with its parameters to FILE, which every verb opens")
                ->type_name("FILE");
            command.add_option("--input-data", options->model.open.inputData,
                               "Example inputs, as --example: x:image.png;mask:#rand(0,1)");
            return std::function<base::Result<int>()>([options] { return trace(*options); });
        }};
}

}  // namespace sonde::app
