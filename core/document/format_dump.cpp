#include "core/document/format_dump.h"

#include <algorithm>

#include "core/analysis/parameters.h"
#include "core/base/mapped_file.h"
#include "core/document/finish.h"
#include "core/document/found_modules.h"
#include "core/document/test_cases.h"
#include "core/graph/inline_calls.h"
#include "core/io/dump/export_options.h"

namespace sonde::document {

namespace {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

/// The hierarchy that the graph tells of: the modules that were called, and those whose names its operations keep.
graph::ModuleTree modulesIn(const InternalGraph& graph) {
    graph::ModuleTree tree;
    for (const graph::Scope& scope : graph.scopes()) {
        const std::size_t module = tree.add(scope.qualname, scope.moduleClass);
        tree.mutableModule(module).inferred = scope.inferred;
    }
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.qualname) tree.add(*expr.qualname, expr.moduleClass);
    }
    return tree;
}

/// Sizes that nothing declares, not even by a symbol, were what the layers of the dumped model require.
bool isRequired(const tensor::TypeInfo& type) {
    if (!type.isTensor() || !type.shape) return true;
    return std::ranges::any_of(*type.shape, [](const tensor::Dim& dim) { return !dim.known() && dim.symbol.empty(); });
}

/// Inputs are known by the names that the file gave their nodes; those with a value of their own need not be given.
void nameInputs(Document& document, InternalGraph& graph) {
    for (const NodeId input : graph.inputs()) {
        Expr& expr = graph.mutableExpr(graph.node(input).producer);
        expr.target = graph.node(input).name;
        if (expr.arguments.empty()) document.inputs.push_back({expr.target, input, isRequired(graph.node(input).type)});
    }
}

void describe(Document& document, const io::dump::DumpFile& dump, std::size_t checkCount) {
    auto& properties = document.properties;
    properties.emplace_back("format version", std::to_string(dump.modelVersion));
    properties.emplace_back("format of the graph", io::dump::nameOf(dump.format));
    properties.emplace_back(kTestCasesProperty, std::to_string(dump.cases.size()));
    if (!dump.cases.empty()) properties.emplace_back("checked outputs", std::to_string(checkCount));
    if (!dump.priorities.empty())
        properties.emplace_back("operations with a priority", std::to_string(dump.priorities.size()));
    if (!dump.metadata) return;
    if (dump.metadata->optimizeOptions) {
        std::string text;
        const auto names = io::dump::InferenceOptions::names(*dump.metadata->optimizeOptions);
        for (const std::string& name : names ? *names : std::vector<std::string>{std::string(names.error().what)})
            text += (text.empty() ? "" : " ") + name;
        properties.emplace_back("optimised with", text.empty() ? "no options" : text);
    }
    if (!dump.metadata->applied.empty()) {
        std::string text;
        for (const auto& [name, count] : dump.metadata->applied)
            text += (text.empty() ? "" : ", ") + name + ": " + std::to_string(count);
        properties.emplace_back("operations changed by", std::move(text));
    }
    if (!dump.metadata->compatibleWith.empty())
        properties.emplace_back("compatible with", dump.metadata->compatibleWith);
    if (!dump.metadata->userInfo.empty()) properties.emplace_back("user info", io::dump::userInfoText(*dump.metadata));
}

base::Result<std::shared_ptr<Document>> openDump(const std::filesystem::path& path, const OpenOptions& options,
                                                 const base::WorkContext& work) {
    if (!options.tracer.empty() || !options.leaves.empty() || !options.concrete.empty()) {
        return base::usageError("a dump is already a graph: it cannot be traced with options", path.string(),
                                "leave out --tracer, --leaf and --concrete");
    }
    work.report("reading " + path.filename().string());
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    std::uint64_t end = 0;
    SONDE_ASSIGN(io::dump::DumpFile dump, io::dump::readDump(path, 0, &end));
    const std::vector<OutputCheck> checks = checksOf(*dump.graph);
    InternalGraph graph = withoutChecks(*dump.graph, checks);
    graph::ModuleTree modules = modulesIn(graph);
    if (options.flatten) graph = graph::withoutHierarchy(graph).graph;
    const std::vector<NodeId> outputs = graph.outputs();
    if (dump.outputNames.size() != outputs.size()) {
        return base::unreadable("the file names " + std::to_string(dump.outputNames.size()) + " outputs of " +
                                    std::to_string(outputs.size()),
                                path.string());
    }
    auto document = std::make_shared<Document>();
    document->title = path.filename().string();
    document->location = path.string();
    document->format = kDumpFormatName;
    describe(*document, dump, checks.size());
    document->diagnostics = dump.notes;
    if (end < file->sizeBytes()) document->properties.emplace_back("next dump at byte", std::to_string(end));
    document->properties.emplace_back("file size", std::to_string(file->sizeBytes()) + " bytes");
    document->fingerprint = fingerprintOf(file->bytes());
    nameInputs(*document, graph);
    for (std::size_t i = 0; i < outputs.size(); ++i) document->outputs.push_back({dump.outputNames[i], outputs[i]});
    if (!options.flatten && options.groups) addFoundModules(graph, modules, document->diagnostics);
    analysis::listParameters(graph, modules);
    document->modules = std::make_shared<const graph::ModuleTree>(std::move(modules));
    finish(*document, std::move(graph), work);
    if (work.cancelled()) return base::cancelled("inferring shapes");
    return document;
}

}  // namespace

Format dumpFormat() {
    return {"dump",
            "dump",
            "Dumps that `sonde dump` has written (.dump), with or without test cases",
            {"dump"},
            [](std::span<const std::byte> head, const std::filesystem::path&) { return io::dump::looksLikeDump(head); },
            openDump};
}

}  // namespace sonde::document
