#include "core/trace/listing.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/base/visible_text.h"

namespace sonde::trace {

using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Calls visit(expr, node) for each node of the main body.
template <typename Visit>
void forEachNode(const InternalGraph& graph, Visit&& visit) {
    for (graph::ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        for (NodeId node : expr.outputs) visit(expr, graph.node(node));
    }
}

/// The words of torch.fx for the kinds.
std::string_view opWord(ExprKind kind) {
    switch (kind) {
        case ExprKind::Input: return "placeholder";
        case ExprKind::Constant:
        case ExprKind::GetAttr: return "get_attr";
        case ExprKind::CallModule: return "call_module";
        case ExprKind::CallMethod: return "call_method";
        case ExprKind::CallFunction:
        case ExprKind::Apply: return "call_function";
        case ExprKind::Output: return "output";
    }
    return "?";
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

struct Cluster {
    std::map<std::string, std::unique_ptr<Cluster>> children;
    std::vector<const graph::Node*> nodes;
};

/// The group of a node: its origin; a buffer's read goes to its first user's.
std::string groupOf(const InternalGraph& graph, const Expr& expr, const graph::Node& node) {
    if (expr.qualname) return *expr.qualname;
    if (expr.kind != ExprKind::Output && !node.users.empty())
        return graph.expr(node.users.front()).qualname.value_or("");
    return {};
}

void print(const Cluster& cluster, const std::string& path, const std::string& indent, std::string& out) {
    for (const graph::Node* node : cluster.nodes) out += indent + quoted(node->name) + ";\n";
    for (const auto& [name, child] : cluster.children) {
        const std::string inner = path.empty() ? name : path + '.' + name;
        out += indent + "subgraph " + quoted("cluster_" + inner) + " {\n";
        out += indent + "  label=" + quoted(inner) + ";\n";
        print(*child, inner, indent + "  ", out);
        out += indent + "}\n";
    }
}

}  // namespace

std::string originListing(const InternalGraph& graph, const std::function<bool(graph::NodeId)>& shown) {
    std::string text;
    const auto add = [&](const Expr& expr, const graph::Node& node) {
        text += "Node " + base::visibleText(node.name) + " is from module";
        if (!expr.qualname) {
            text += " None";
        } else if (!expr.qualname->empty()) {
            text += ' ' + base::visibleText(*expr.qualname);
        }
        text += '\n';
    };
    if (shown) {
        for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
            for (const graph::NodeId node : graph.expr(id).outputs)
                if (shown(node)) add(graph.expr(id), graph.node(node));
        return text;
    }
    forEachNode(graph, [&](const Expr& expr, const graph::Node& node) {
        // A file's weights are values of the model and not steps of it; a module's reads of them (GetAttr) are.
        if (expr.kind == ExprKind::Constant && expr.isParameter) return;
        add(expr, node);
    });
    return text;
}

std::string originTable(const InternalGraph& graph) {
    std::string text = "index\tname\top\ttarget\tmodule\n";
    std::size_t index = 0;
    forEachNode(graph, [&](const Expr& expr, const graph::Node& node) {
        text += std::to_string(index++) + '\t' + node.name + '\t' + std::string(opWord(expr.kind)) + '\t' +
                expr.target + '\t' + expr.qualname.value_or("None") + '\n';
    });
    return text;
}

std::string clusteredDot(const InternalGraph& graph) {
    Cluster top;
    forEachNode(graph, [&](const Expr& expr, const graph::Node& node) {
        Cluster* place = &top;
        std::string_view rest;
        const std::string path = groupOf(graph, expr, node);
        for (rest = path; !rest.empty();) {
            const std::size_t dot = rest.find('.');
            std::unique_ptr<Cluster>& child = place->children[std::string(rest.substr(0, dot))];
            if (!child) child = std::make_unique<Cluster>();
            place = child.get();
            rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
        }
        place->nodes.push_back(&node);
    });
    std::string text = "digraph " + quoted(graph.name) + " {\n";
    print(top, {}, "  ", text);
    forEachNode(graph, [&](const Expr& expr, const graph::Node& node) {
        for (NodeId input : expr.inputs)
            text += "  " + quoted(graph.node(input).name) + " -> " + quoted(node.name) + ";\n";
    });
    return text + "}\n";
}

}  // namespace sonde::trace
