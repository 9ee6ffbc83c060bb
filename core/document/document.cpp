#include "core/document/document.h"

#include <algorithm>
#include <iterator>

#include "core/base/current_stop.h"
#include "core/base/mapped_file.h"
#include "core/base/nearest.h"
#include "core/base/number_text.h"
#include "core/document/finish.h"
#include "core/document/format_plugin.h"
#include "core/document/model_passes.h"
#include "core/document/traced_model.h"
#include "core/document/unknown_file.h"
#include "core/graph/scope_output.h"
#include "core/graph/source_files.h"

namespace sonde::document {

namespace {

using base::Result;
using base::usageError;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

constexpr std::string_view kZoo = "zoo:";
constexpr std::size_t kHeadBytes = 64 * 1024;

Result<NodeId> nodeByNumber(const InternalGraph& graph, std::string_view text) {
    const auto number = base::parseNumber<std::uint64_t>(text.substr(1));
    if (!number || *number >= graph.nodeCount() || graph.isErased(graph.node(NodeId(*number)).producer)) {
        return usageError("there is no node " + std::string(text), {},
                          "nodes have the numbers #0 to #" + std::to_string(graph.nodeCount() - 1));
    }
    return NodeId(*number);
}

Result<NodeId> nodeOfModule(const InternalGraph& graph, const graph::ModuleTree* modules, std::string_view qualname) {
    if (qualname.empty() && !graph.outputs().empty()) return graph.outputs().front();
    // A leaf is one call; its first one counts, as with scopes.
    for (ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::CallModule && expr.target == qualname && !expr.outputs.empty())
            return expr.outputs.front();
    }
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    for (const graph::Scope& scope : graph.scopes()) {
        if (scope.qualname != qualname) continue;
        if (const NodeId node = graph::outputOfScope(graph, scope.id, order); node.valid()) return node;
    }
    std::vector<std::string> names;
    if (modules) {
        for (const graph::ModuleInfo& module : modules->modules()) names.push_back(module.qualname);
        if (modules->find(qualname))
            return usageError("module '" + std::string(qualname) + "' has no output: it is never called");
    }
    return usageError("there is no module '" + std::string(qualname) + "'", {}, base::didYouMean(qualname, names));
}

}  // namespace

Result<NodeId> Document::findNode(std::string_view text) const {
    // A name wins, whatever it looks like: tensors of a file may be called "#1" or end in ':'.
    if (const NodeId node = graph->findNode(text); node.valid()) return node;
    if (text.starts_with('#')) return nodeByNumber(*graph, text);
    if (text.ends_with(':')) return nodeOfModule(*graph, modules.get(), text.substr(0, text.size() - 1));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < graph->nodeCount(); ++i) names.push_back(graph->node(NodeId(i)).name);
    std::string hint = base::didYouMean(text, names);
    if (modules && modules->find(text)) hint = "for the output of the module write '" + std::string(text) + ":'";
    if (hint.empty()) hint = "`sonde trace " + location + "` lists the nodes; #12 and QUALNAME: name nodes too";
    return usageError("there is no node '" + std::string(text) + "'", {}, std::move(hint));
}

namespace {

/// What is done for every format once there is a graph.
Result<void> complete(Document& document, const OpenOptions& options, const base::WorkContext& work) {
    document.options = options;
    SONDE_TRY(applyPasses(document, options, work));
    findUnknownOperators(document);
    return {};
}

Result<std::shared_ptr<Document>> openAny(const std::string& model, const OpenOptions& options,
                                          const base::WorkContext& work) {
    if (std::string_view(model).starts_with(kZoo)) {
        SONDE_ASSIGN(const std::shared_ptr<Document> document, openZooModel(model.substr(kZoo.size()), options, work));
        SONDE_TRY(complete(*document, options, work));
        return document;
    }
    const std::filesystem::path path(model);
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file,
                 base::MappedFile::open(splitModelPath(model).first));
    const std::span<const std::byte> head = file->window(0, std::min(file->sizeBytes(), kHeadBytes));
    for (const Format& format : formats()) {
        if (!format.recognises(head, path)) continue;
        if (!options.weights.empty() && !format.takesWeights) {
            return usageError("weights can be given to built-in models and models in C++ only", model,
                              "a file has its own weights: open it without --weights");
        }
        SONDE_ASSIGN(const std::shared_ptr<Document> document, format.open(path, options, work));
        SONDE_TRY(complete(*document, options, work));
        return document;
    }
    return unknownFile(path, head, file->sizeBytes());
}

/// Each file once, besides the mappings that tensors read: opening looks into a file several times.
base::MappedFiles withoutRepeats(const base::MappedFiles& files) {
    base::MappedFiles kept;
    std::ranges::copy_if(files, std::back_inserter(kept), [](const auto& file) { return file.use_count() > 1; });
    for (const auto& file : files) {
        if (std::ranges::none_of(kept, [&](const auto& other) { return other->path() == file->path(); }))
            kept.push_back(file);
    }
    return kept;
}

/// Every graph of the document gets to know the files that it was read from.
void keepFiles(Document& document, const base::MappedFiles& opened) {
    const base::MappedFiles files = withoutRepeats(opened);
    document.graph = graph::withFiles(std::move(document.graph), files);
    document.original = graph::withFiles(std::move(document.original), files);
    for (Part& part : document.parts) part.graph = graph::withFiles(std::move(part.graph), files);
}

}  // namespace

Result<std::shared_ptr<const Document>> open(const std::string& model, const OpenOptions& options,
                                             const base::WorkContext& work) {
    const base::StopScope stop(work.stop);
    const base::MappedFilesScope files;
    auto document = openAny(model, options, work);
    // Bytes that changed while they were read make a wrong model, or an error that is about nothing.
    SONDE_TRY(base::checkUnchanged(files.files(), "model file"));
    if (!document) return std::move(document).error();
    keepFiles(**document, files.files());
    return std::shared_ptr<const Document>(std::move(*document));
}

}  // namespace sonde::document
