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
        out += indent;
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const Node& node = graph.node(expr.outputs[i]);
            out += (i ? ", " : "") + node.name + ": " + node.type.text();
        }
        const std::string& operation = expr.op.name.empty() ? expr.target : expr.op.name;
        out += " = " + std::string(name(expr.kind)) + " " + operation + "(" + argumentsText(graph, expr) + ")";
        if (!expr.attributes.empty()) {
            out += " {";
            bool first = true;
            for (const tensor::Attribute& attribute : expr.attributes.items()) {
                out += (first ? "" : ", ") + attribute.name + "=" + tensor::text(attribute.value);
                first = false;
            }
            out += "}";
        }
        if (expr.qualname && !expr.qualname->empty()) out += "  # " + *expr.qualname;
        out += "\n";
        for (BodyId inner : expr.bodies) {
            out += indent + "  " + graph.body(inner).label + ":\n";
            print(graph, inner, indent + "    ", out);
        }
    }
    out += indent + "return " + text(graph, body.result) + "\n";
}

}  // namespace

std::string printed(const InternalGraph& graph) {
    std::string out;
    print(graph, graph.mainId(), "", out);
    return out;
}

}  // namespace sonde::graph
