#include "core/base/visible_text.h"
#include "core/graph/internal_graph.h"

namespace sonde::graph {

namespace {

std::string text(const InternalGraph& graph, const Argument& argument) {
    const auto joined = [&](const char* open, const char* close) {
        std::string result = open;
        for (std::size_t i = 0; i < argument.items.size(); ++i) {
            if (i) result += ", ";
            if (argument.kind == Argument::Kind::Dict) result += argument.keys[i].text(40) + ": ";
            result += text(graph, argument.items[i]);
        }
        return result + close;
    };
    switch (argument.kind) {
        case Argument::Kind::Omitted: return "_";
        case Argument::Kind::Node: return graph.node(argument.node).name;
        case Argument::Kind::Constant: return argument.constant.text(60);
        case Argument::Kind::List: return joined("[", "]");
        case Argument::Kind::Tuple: return joined("(", argument.items.size() == 1 ? ",)" : ")");
        case Argument::Kind::Dict: return joined("{", "}");
        case Argument::Kind::Slice: return joined("slice(", ")");
    }
    return {};
}

std::string argumentsText(const InternalGraph& graph, const Expr& expr) {
    std::string result;
    for (const Argument& argument : expr.arguments) result += (result.empty() ? "" : ", ") + text(graph, argument);
    for (const auto& [key, argument] : expr.keywords) {
        result += (result.empty() ? "" : ", ") + key + "=" + text(graph, argument);
    }
    return result;
}

void print(const InternalGraph& graph, BodyId bodyId, const std::string& indent, std::string& out) {
    const Body& body = graph.body(bodyId);
    for (ExprId id : body.order) {
        const Expr& expr = graph.expr(id);
        std::string line;
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const Node& node = graph.node(expr.outputs[i]);
            line += (i ? ", " : "") + node.name + ": " + node.type.text();
        }
        const std::string& operation = expr.op.name.empty() ? expr.target : expr.op.name;
        line += " = " + std::string(name(expr.kind)) + " " + operation + "(" + argumentsText(graph, expr) + ")";
        if (!expr.attributes.empty()) {
            line += " {";
            bool first = true;
            for (const tensor::Attribute& attribute : expr.attributes.items()) {
                line += (first ? "" : ", ") + attribute.name + "=" + tensor::text(attribute.value);
                first = false;
            }
            line += "}";
        }
        if (expr.qualname && !expr.qualname->empty()) line += "  # " + *expr.qualname;
        out += indent + base::visibleText(line) + "\n";
        for (BodyId inner : expr.bodies) {
            out += indent + "  " + base::visibleText(graph.body(inner).label) + ":\n";
            print(graph, inner, indent + "    ", out);
        }
    }
    out += indent + "return " + base::visibleText(text(graph, body.result)) + "\n";
}

}  // namespace

std::string printed(const InternalGraph& graph) {
    std::string out;
    print(graph, graph.mainId(), "", out);
    return out;
}

}  // namespace sonde::graph
