#include "core/document/document_types.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "core/base/number_text.h"
#include "core/document/traced_numbers.h"
#include "core/graph/scope_output.h"

namespace sonde::document {

namespace {

using base::Result;
using base::usageError;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

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
    const auto isMeant = [qualname](std::string_view each) { return each == qualname; };
    if (const auto found = graph::moduleOutputs(graph, isMeant, 1); !found.empty()) return found.front();
    std::vector<std::string> names;
    if (modules) {
        for (const graph::ModuleInfo& module : modules->modules()) names.push_back(module.qualname);
        if (modules->find(qualname))
            return usageError("module '" + std::string(qualname) + "' has no output: it is never called");
    }
    return usageError("there is no module '" + std::string(qualname) + "'", {}, base::didYouMean(qualname, names));
}

/// What tables and files of values call a node: an input or output by its own name ("out_1"), or with what is before
/// the names there ("out.out_1", "in.x", "node.conv1").
NodeId nodeOfKey(const Document& document, std::string_view text) {
    const auto named = [](const std::vector<NamedNode>& all, std::string_view name) {
        const auto found = std::ranges::find(all, name, &NamedNode::name);
        return found == all.end() ? NodeId() : found->node;
    };
    if (text.starts_with("out.")) return named(document.outputs, text.substr(4));
    if (text.starts_with("in.")) return named(document.inputs, text.substr(3));
    if (text.starts_with("node.")) return document.graph->findNode(text.substr(5));
    const NodeId output = named(document.outputs, text);
    return output.valid() ? output : named(document.inputs, text);
}

/// A weight or another constant by the name that the model has for it: "fc1.weight", as its module's path says it.
NodeId storedNode(const InternalGraph& graph, std::string_view text) {
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const Expr& expr = graph.expr(ExprId(i));
        const bool isStored = expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr;
        if (graph.isErased(ExprId(i)) || !isStored || expr.outputs.empty()) continue;
        const bool isQualified = expr.qualname && !expr.qualname->empty() && *expr.qualname + '.' + expr.target == text;
        if (expr.target == text || expr.name == text || isQualified) return expr.outputs.front();
    }
    return {};
}

}  // namespace

std::vector<NodeId> Document::revaluedNodes() const {
    std::vector<NodeId> nodes;
    for (const passes::PassReport& report : passReports) {
        for (const passes::NodeChange& change : report.changed) {
            if (change.newValue) nodes.push_back(change.node);
        }
    }
    return nodes;
}

Result<NodeId> Document::findNode(std::string_view text) const {
    // A name wins, whatever it looks like: tensors of a file may be called "#1" or end in ':'.
    if (const NodeId node = graph->findNode(text); node.valid()) return node;
    if (text.starts_with('#')) return nodeByNumber(*graph, text);
    if (text.starts_with('%') && tracedModule) return nodeOfTracedNumber(*graph, *tracedModule, text);
    if (text.ends_with(':')) return nodeOfModule(*graph, modules.get(), text.substr(0, text.size() - 1));
    if (const NodeId node = nodeOfKey(*this, text); node.valid()) return node;
    if (const NodeId node = text.empty() ? NodeId() : storedNode(*graph, text); node.valid()) return node;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < graph->nodeCount(); ++i) names.push_back(graph->node(NodeId(i)).name);
    std::string hint = base::didYouMean(text, names);
    // Commands take names in backticks.
    if (hint.find('`') != std::string::npos) hint += R"( Within backticks, a backtick of a name is \`.)";
    if (modules && modules->find(text)) hint = "for the output of the module write '" + std::string(text) + ":'";
    if (hint.empty()) hint = "`sonde trace " + location + "` lists the nodes; #12 and QUALNAME: name nodes too";
    return usageError("there is no node '" + std::string(text) + "'", {}, std::move(hint));
}

}  // namespace sonde::document
