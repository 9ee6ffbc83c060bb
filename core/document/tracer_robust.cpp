#include "core/document/tracer_robust.h"

#include <algorithm>
#include <set>

#include "core/analysis/infer.h"
#include "core/base/visible_text.h"
#include "core/document/attempts.h"
#include "core/document/fx_results.h"
#include "core/trace/listing.h"
#include "core/trace/robust_tracer.h"

namespace sonde::document {

namespace {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using trace::GraphCollection;
using trace::Module;

constexpr std::string_view kNoForward = "NotImplementedError";

/// Names as seen from the model: those of a part's graph begin at the part.
void prefixNames(InternalGraph& graph, const std::string& prefix) {
    const auto join = [&prefix](std::string& name) { name = name.empty() ? prefix : prefix + '.' + name; };
    for (std::size_t i = 0; i < graph.scopeCount(); ++i) join(graph.mutableScope(graph::ScopeId(i)).qualname);
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        if (graph.isErased(ExprId(i))) continue;
        Expr& expr = graph.mutableExpr(ExprId(i));
        if (expr.qualname) join(*expr.qualname);
        const bool isConstant = expr.kind == ExprKind::GetAttr && expr.target.starts_with("_tensor_constant");
        if ((expr.kind == ExprKind::CallModule || expr.kind == ExprKind::GetAttr) && !isConstant) join(expr.target);
    }
}

GraphCollection collect(const TraceRequest& request) {
    GraphCollection collection([&request] {
        auto tracer = std::make_unique<trace::RobustTracer>();
        setLeaves(*tracer, request.options);
        return tracer;
    });
    collection.recursiveTrace(request.root, request.concrete, [&request] { return request.work.cancelled(); });
    return collection;
}

std::vector<Part> partsOf(const GraphCollection& collection, Module& root) {
    std::unordered_map<const Module*, std::string> paths;
    for (const auto& [path, module] : trace::namedModules(root)) paths.emplace(module, path);
    std::vector<Part> parts;
    for (const GraphCollection::Entry& entry : collection.entries()) {
        // Lists and dicts of modules have nothing that could be traced; what is in them has parts of its own.
        if (entry.root.get() == &root || entry.failure.starts_with(kNoForward)) continue;
        Part part{paths.at(entry.root.get()), entry.root->className(), entry.failure, {}, {}};
        if (part.failure.empty()) {
            InternalGraph graph = *entry.graph;
            prefixNames(graph, part.qualname);
            base::Diagnostics findings;  // told where the whole model calls the part
            analysis::inferTypes(graph, findings);
            part.graph = std::make_shared<const InternalGraph>(std::move(graph));
            if (entry.isLeaf) part.note = "leaf module, not traced into";
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

/// The hierarchy with what the whole collection says of it.
graph::ModuleTree treeOf(const GraphCollection& collection, Module& root) {
    graph::ModuleTree tree = trace::moduleTree(root);
    for (std::size_t i = 0; i < tree.modules().size(); ++i) {
        graph::ModuleInfo& info = tree.mutableModule(i);
        const Module* module = root.find(info.qualname);
        if (!module) continue;
        info.visited = i == 0 || !collection.isUnvisited(*module);
        const std::string* failure = collection.failureMessage(*module);
        if (failure && !failure->starts_with(kNoForward)) info.failure = *failure;
    }
    graph::explainUnvisited(tree, [&](const std::string& qualname) {
        const Module* module = root.find(qualname);
        return !qualname.empty() && module && collection.tracer()->isLeafModule(*module, qualname);
    });
    return tree;
}

/// "  leaf because it fails: a.b (TypeError: …)" for each failed module that the graph calls.
std::string failedLeaves(const InternalGraph& graph, const graph::ModuleTree& tree) {
    std::string text;
    std::set<std::string> told;
    for (ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind != ExprKind::CallModule || !told.insert(expr.target).second) continue;
        const auto index = tree.find(expr.target);
        if (!index || tree.module(*index).failure.empty()) continue;
        text += "  leaf because it fails: " + expr.target + " (" + tree.module(*index).failure + ")\n";
    }
    return text;
}

std::string indented(const std::string& lines) {
    std::string text;
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin) + 1;
        text += "  " + lines.substr(begin, end - begin);
        begin = end;
    }
    return text;
}

}  // namespace

base::Result<TracedGraph> traceRobust(const TraceRequest& request) {
    const GraphCollection collection = collect(request);
    if (request.work.cancelled()) return base::cancelled("tracing");
    const GraphCollection::Entry& first = collection.entries().front();
    TracedGraph traced;
    if (first.failure.empty()) {
        traced.graph = first.graph;
    } else {
        trace::RobustTracer tracer;
        setLeaves(tracer, request.options);
        SONDE_ASSIGN(traced, opaqueRoot(tracer, request, first.failure, collection.attempts(*request.root)));
    }
    traced.tree = treeOf(collection, *request.root);
    traced.parts = partsOf(collection, *request.root);
    for (const graph::ModuleInfo& module : traced.tree.modules()) {
        if (module.failure.empty() || module.qualname.empty()) continue;
        traced.diagnostics.push_back({base::Severity::Info, "is a leaf because it fails: " + module.failure,
                                      module.qualname, "its children have graphs of their own"});
    }
    addAttempts(traced, *request.root, *collection.tracer());
    return traced;
}

base::Result<void> addParts(TracedGraph& traced, const TraceRequest& request) {
    const GraphCollection collection = collect(request);
    if (request.work.cancelled()) return base::cancelled("tracing");
    traced.parts = partsOf(collection, *request.root);
    return {};
}

std::string collectionListing(const Document& document) {
    const graph::ModuleTree& tree = *document.modules;
    const std::string& failure = tree.module(0).failure;
    const std::string leaves = failedLeaves(*document.graph, tree);
    if (failure.empty() && leaves.empty() && document.parts.empty()) return trace::originListing(*document.graph);
    std::string text = "Graph of the root module\n";
    text += failure.empty() ? leaves + indented(trace::originListing(*document.graph)) : "  fails: " + failure + '\n';
    for (const Part& part : document.parts) {
        text += "Graph of " + part.qualname + '\n';
        if (!part.graph) {
            text += "  fails: " + part.failure + '\n';
        } else if (!part.note.empty()) {
            text += "  " + part.note + '\n';
        } else {
            text += failedLeaves(*part.graph, tree) + indented(trace::originListing(*part.graph));
        }
    }
    return text;
}

std::string collectionNotes(const Document& document) {
    const auto named = [](const graph::ModuleInfo& module) {
        const std::string place = module.qualname.empty() ? "the model" : "module " + module.qualname;
        return module.moduleClass.empty() ? place : place + " (" + module.moduleClass + ')';
    };
    std::string text;
    for (const graph::ModuleInfo& module : document.modules->modules()) {
        if (!module.failure.empty()) {
            text += base::visibleText(named(module) + " cannot be traced: " + module.failure) + '\n';
            for (const std::string_view attempt : triedWith(document, module.qualname))
                text += "  tried to " + base::visibleText(attempt) + '\n';
        } else if (!module.visited) {
            text += base::visibleText(named(module) + " was never called: " + module.note) + '\n';
        }
    }
    return text;
}

}  // namespace sonde::document
