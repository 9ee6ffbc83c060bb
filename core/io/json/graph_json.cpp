#include "core/io/json/graph_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/number_text.h"

namespace sonde::io {

namespace {

using OrderedJson = nlohmann::ordered_json;
using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;

OrderedJson names(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    OrderedJson list = OrderedJson::array();
    for (NodeId node : nodes) list.push_back(graph.node(node).name);
    return list;
}

OrderedJson shapeJson(const tensor::TypeInfo& type) {
    if (!type.shape) return nullptr;
    OrderedJson dims = OrderedJson::array();
    for (const tensor::Dim& dim : *type.shape) {
        if (dim.known()) {
            dims.push_back(dim.value);
        } else if (!dim.symbol.empty()) {
            dims.push_back(dim.symbol);
        } else {
            dims.push_back(nullptr);
        }
    }
    return dims;
}

/// JSON has no NaN and no infinity: those become text.
OrderedJson number(double value) {
    return std::isfinite(value) ? OrderedJson(value) : OrderedJson(base::shortestText(value));
}

OrderedJson attributeJson(const tensor::AttributeValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* real = std::get_if<double>(&value)) return number(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) return *integers;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return *texts;
    if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
        OrderedJson list = OrderedJson::array();
        for (double real : *reals) list.push_back(number(real));
        return list;
    }
    return tensor::text(value);
}

OrderedJson sourceJson(const Expr& expr) {
    OrderedJson source = OrderedJson::object();
    if (!expr.name.empty()) source["name"] = expr.name;
    const graph::SourcePlace place = expr.source.place();
    if (!place.file.empty()) source["file"] = place.file;
    if (place.line > 0) source["line"] = place.line;
    if (!place.stack.empty()) source["stack"] = place.stack;
    if (!place.problem.empty()) source["problem"] = place.problem;
    if (!expr.origins.empty()) {
        OrderedJson origins = OrderedJson::array();
        for (const graph::Origin& origin : expr.origins) origins.push_back({{"op", origin.op}, {"name", origin.name}});
        source["origins"] = std::move(origins);
    }
    return source;
}

OrderedJson nodeJson(const InternalGraph& graph, const Expr& expr, const graph::Node& node) {
    OrderedJson attributes = OrderedJson::object();
    for (const tensor::Attribute& attribute : expr.attributes.items())
        attributes[attribute.name] = attributeJson(attribute.value);
    return OrderedJson{{"id", node.id.value},
                       {"name", node.name},
                       {"op", expr.op.name.empty() ? expr.target : expr.op.name},
                       {"domain", expr.op.domain},
                       {"kind", std::string(graph::name(expr.kind))},
                       {"qualname", expr.qualname ? OrderedJson(*expr.qualname) : OrderedJson(nullptr)},
                       {"module_class", expr.moduleClass},
                       {"scope", expr.scope.value},
                       {"inputs", names(graph, expr.inputs)},
                       {"outputs", names(graph, expr.outputs)},
                       {"dtype", node.type.dtype == tensor::DType::Undefined
                                     ? OrderedJson(nullptr)
                                     : OrderedJson(std::string(tensor::name(node.type.dtype)))},
                       {"shape", shapeJson(node.type)},
                       {"attributes", std::move(attributes)},
                       {"source", sourceJson(expr)}};
}

OrderedJson scopeJson(const graph::Scope& scope) {
    return OrderedJson{{"id", scope.id.value},
                       {"parent", scope.parent.valid() ? OrderedJson(scope.parent.value) : OrderedJson(nullptr)},
                       {"qualname", scope.qualname},
                       {"module_class", scope.moduleClass},
                       {"call", scope.call},
                       {"inferred", scope.inferred}};
}

OrderedJson graphObject(const InternalGraph& graph) {
    OrderedJson root;
    root["format"] = "sonde-graph";
    root["version"] = 1;
    root["inputs"] = names(graph, graph.inputs());
    root["outputs"] = names(graph, graph.outputs());
    root["nodes"] = OrderedJson::array();
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        for (NodeId node : expr.outputs) root["nodes"].push_back(nodeJson(graph, expr, graph.node(node)));
    }
    root["scopes"] = OrderedJson::array();
    for (const graph::Scope& scope : graph.scopes()) root["scopes"].push_back(scopeJson(scope));
    return root;
}

}  // namespace

std::string graphJson(const InternalGraph& graph, const std::vector<JsonPart>& parts,
                      const std::vector<JsonFailure>& failures, const std::vector<NodeId>& required,
                      const std::vector<JsonUnvisited>& unvisited, bool hasAllLists) {
    OrderedJson root = graphObject(graph);
    if (!required.empty()) root["demanded_inputs"] = names(graph, required);
    if (hasAllLists)
        for (const char* key : {"parts", "failures", "unvisited"}) root[key] = OrderedJson::array();
    for (const JsonPart& part : parts) {
        root["parts"].push_back({{"qualname", part.qualname},
                                 {"module_class", part.moduleClass},
                                 {"failure", part.failure},
                                 {"note", part.note},
                                 {"graph", part.graph ? graphObject(*part.graph) : OrderedJson(nullptr)}});
    }
    for (const JsonFailure& failure : failures) {
        root["failures"].push_back(
            {{"qualname", failure.qualname}, {"module_class", failure.moduleClass}, {"message", failure.message}});
        if (!failure.tried.empty()) root["failures"].back()["tried"] = failure.tried;
    }
    for (const JsonUnvisited& module : unvisited) {
        root["unvisited"].push_back(
            {{"qualname", module.qualname}, {"module_class", module.moduleClass}, {"reason", module.reason}});
    }
    return root.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace sonde::io
