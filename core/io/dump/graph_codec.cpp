#include "core/io/dump/graph_codec.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sonde::io::dump {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using graph::ScopeId;
using tm::CodecError;
using tm::Json;

namespace {

constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxOutputs = 100'000;

[[noreturn]] void broken(const std::string& what) {
    throw CodecError{base::unreadable("the graph section is broken: " + what)};
}

class Encoder {
  public:
    Encoder(const InternalGraph& graph, tm::TensorTable& tensors, const NameOptions& names)
        : m_graph(graph), m_tensors(tensors), m_names(names),
          m_outputs(graph.outputs().begin(), graph.outputs().end()) {}

    Json run() {
        Json scopes = Json::array();
        for (const graph::Scope& scope : m_graph.scopes()) {
            const Json parent = scope.parent.valid() ? Json(scope.parent.index()) : Json();
            scopes.push_back({parent, scope.qualname, scope.moduleClass, scope.call, scope.inferred});
        }
        return {{"name", m_graph.name}, {"scopes", scopes}, {"body", body(m_graph.mainId())}};
    }

  private:
    Json body(BodyId id) {
        const graph::Body& body = m_graph.body(id);
        Json exprs = Json::array();
        for (const ExprId expr : body.order) exprs.push_back(this->expr(m_graph.expr(expr)));
        return {{"label", body.label}, {"exprs", exprs}, {"result", argument(body.result)}};
    }

    Json expr(const Expr& expr) {
        if (expr.callable) {
            throw CodecError{
                base::usageError("the module '" + expr.target + "' runs as one opaque call and cannot be dumped", {},
                                 "trace it with an example (--example), so that its operators are known")};
        }
        Json json{{"kind", static_cast<int>(expr.kind)},
                  {"op", {expr.op.domain, expr.op.name, expr.op.version}},
                  {"target", expr.target},
                  {"class", expr.moduleClass},
                  {"scope", expr.scope.index()}};
        if (m_names.operations && !expr.name.empty()) json["name"] = expr.name;
        if (++m_count; m_names.priorities && !expr.op.name.empty()) json["priority"] = m_count;
        if (expr.qualname) json["qualname"] = *expr.qualname;
        if (expr.isParameter) json["parameter"] = true;
        if (!m_names.parameters && expr.isParameter) json["target"] = "";
        json["args"] = list(expr.arguments);
        for (const auto& [name, value] : expr.keywords) json["keywords"].push_back({name, argument(value)});
        for (const tensor::Attribute& attribute : expr.attributes.items())
            json["attributes"].push_back({attribute.name, this->attribute(attribute.value)});
        json["outputs"] = Json::array();
        for (const NodeId output : expr.outputs) {
            m_numbers[output] = m_numbers.size();
            const graph::Node& node = m_graph.node(output);
            Json out{{"type", tm::toJson(node.type)}};
            if (m_names.nodes || isKept(output)) out["name"] = node.name;
            if (node.constant) out["constant"] = tm::toJson(*node.constant, m_tensors);
            json["outputs"].push_back(out);
        }
        for (const BodyId inner : expr.bodies) json["bodies"].push_back(body(inner));
        return json;
    }

    /// Outputs are known by name whatever is left out.
    bool isKept(NodeId node) const {
        return m_outputs.contains(node) || m_graph.expr(m_graph.node(node).producer).kind == ExprKind::Input;
    }

    Json list(const std::vector<Argument>& arguments) {
        Json json = Json::array();
        for (const Argument& each : arguments) json.push_back(argument(each));
        return json;
    }

    Json argument(const Argument& argument) {
        Json json = Json::array({static_cast<int>(argument.kind)});
        if (argument.kind == Argument::Kind::Node) json.push_back(m_numbers.at(argument.node));
        if (argument.kind == Argument::Kind::Constant) json.push_back(tm::toJson(argument.constant, m_tensors));
        if (argument.kind > Argument::Kind::Constant) json.push_back(list(argument.items));
        if (argument.kind == Argument::Kind::Dict) {
            Json keys = Json::array();
            for (const tensor::Value& key : argument.keys) keys.push_back(tm::toJson(key, m_tensors));
            json.push_back(keys);
        }
        return json;
    }

    /// The number of the alternative, and its content.
    Json attribute(const tensor::AttributeValue& value) {
        const Json content = std::visit([this](const auto& each) { return contentOf(each); }, value);
        return Json::array({value.index(), content});
    }
    template <typename T>
    Json contentOf(const T& value) {
        if constexpr (std::is_same_v<T, tensor::Tensor>) return m_tensors.add(value);
        else if constexpr (std::is_same_v<T, tensor::TypeInfo>) return tm::toJson(value);
        else if constexpr (std::is_same_v<T, tensor::BodyRef>) return value.index;
        else if constexpr (std::is_same_v<T, tensor::AttributeRef>) return value.name;
        else if constexpr (std::is_same_v<T, double>) return tm::toJson(tensor::Value::ofFloat(value), m_tensors);
        else return value;
    }
    template <typename T>
    Json contentOf(const std::vector<T>& values) {
        Json json = Json::array();
        for (const T& value : values) json.push_back(contentOf(value));
        return json;
    }

    const InternalGraph& m_graph;
    tm::TensorTable& m_tensors;
    NameOptions m_names;
    std::unordered_set<NodeId> m_outputs;
    std::unordered_map<NodeId, std::size_t> m_numbers;
    std::int64_t m_count = 0;  ///< of exprs so far
};

class Decoder {
  public:
    Decoder(const Json& json, const std::vector<tensor::Tensor>& tensors, GraphExtras* extras)
        : m_json(json), m_tensors(tensors), m_extras(extras), m_graph(std::make_shared<InternalGraph>()) {}

    std::shared_ptr<InternalGraph> run() {
        m_graph->name = m_json.at("name").get<std::string>();
        const Json& scopes = m_json.at("scopes");
        for (std::size_t i = 0; i < scopes.size(); ++i) {
            const Json& scope = scopes[i];
            if (i == 0) {
                m_graph->mutableScope(m_graph->rootScope()).moduleClass = scope.at(2).get<std::string>();
                continue;
            }
            const auto parent = scope.at(0).get<std::size_t>();
            if (parent >= i) broken("a scope before its parent");
            m_graph->addScope(ScopeId(parent), scope.at(1).get<std::string>(), scope.at(2).get<std::string>(),
                              scope.at(3).get<int>(), scope.at(4).get<bool>());
        }
        body(m_json.at("body"), m_graph->mainId(), 0);
        if (const auto valid = m_graph->validate(); !valid) broken(valid.error().text());
        return m_graph;
    }

  private:
    void body(const Json& json, BodyId id, int depth) {
        if (depth > kMaxDepth) broken("bodies nest too deeply");
        for (const Json& each : json.at("exprs")) expr(each, id, depth);
        m_graph->setResult(id, argument(json.at("result"), 0));
    }

    std::string nodeName(const Json& output) {
        if (const auto name = output.find("name"); name != output.end()) return name->get<std::string>();
        return "unnamed" + std::to_string(m_nodes.size());
    }

    void expr(const Json& json, BodyId body, int depth) {
        const Json& outputs = json.at("outputs");
        const int kind = json.at("kind").get<int>();
        if (kind < 0 || kind > static_cast<int>(ExprKind::Output)) broken("an expr of kind " + std::to_string(kind));
        if (!outputs.is_array() || outputs.empty() || outputs.size() > kMaxOutputs) broken("an expr without outputs");
        const auto scope = json.at("scope").get<std::size_t>();
        if (scope >= m_graph->scopeCount()) broken("a scope that does not exist");
        ExprId id;
        if (static_cast<ExprKind>(kind) == ExprKind::Input) {
            const NodeId input =
                m_graph->addInput(body, nodeName(outputs.at(0)), tm::typeFrom(outputs.at(0).at("type")),
                                  json.at("target").get<std::string>(), m_graph->body(body).order.size());
            id = m_graph->node(input).producer;
            m_graph->setArguments(id, list(json.at("args"), 0));
        } else {
            Expr made;
            made.kind = static_cast<ExprKind>(kind);
            made.op = {json.at("op").at(0).get<std::string>(), json.at("op").at(1).get<std::string>(),
                       json.at("op").at(2).get<int>()};
            made.target = json.at("target").get<std::string>();
            made.arguments = list(json.at("args"), 0);
            if (const auto keywords = json.find("keywords"); keywords != json.end()) {
                for (const Json& entry : *keywords)
                    made.keywords.emplace_back(entry.at(0).get<std::string>(), argument(entry.at(1), 0));
            }
            made.body = body;
            made.scope = ScopeId(scope);
            std::vector<std::string> names;
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                const auto name = outputs[i].find("name");
                names.push_back(name != outputs[i].end() ? name->get<std::string>()
                                                         : "unnamed" + std::to_string(m_nodes.size() + i));
            }
            id = m_graph->addExpr(std::move(made), names);
        }
        Expr& expr = m_graph->mutableExpr(id);
        expr.scope = ScopeId(scope);
        if (const auto attributes = json.find("attributes"); attributes != json.end()) {
            for (const Json& entry : *attributes)
                expr.attributes.set(entry.at(0).get<std::string>(), attribute(entry.at(1)));
        }
        expr.moduleClass = json.at("class").get<std::string>();
        expr.name = json.value("name", "");
        expr.isParameter = json.value("parameter", false);
        if (const auto qualname = json.find("qualname"); qualname != json.end())
            expr.qualname = qualname->get<std::string>();
        const std::vector<NodeId> made = expr.outputs;
        if (const auto priority = json.find("priority"); m_extras && priority != json.end() && !made.empty())
            m_extras->priorities.emplace_back(m_graph->node(made.front()).name, priority->get<std::int64_t>());
        for (std::size_t i = 0; i < made.size() && i < outputs.size(); ++i) {
            m_nodes.push_back(made[i]);
            m_graph->setType(made[i], tm::typeFrom(outputs[i].at("type")));
            if (const auto constant = outputs[i].find("constant"); constant != outputs[i].end())
                m_graph->setConstant(made[i], tm::valueFrom(*constant, m_tensors));
        }
        if (const auto bodies = json.find("bodies"); bodies != json.end()) {
            for (const Json& inner : *bodies)
                this->body(inner, m_graph->addBody(id, inner.at("label").get<std::string>()), depth + 1);
        }
    }

    std::vector<Argument> list(const Json& json, int depth) {
        std::vector<Argument> items;
        for (const Json& item : json) items.push_back(argument(item, depth));
        return items;
    }

    Argument argument(const Json& json, int depth) {
        if (depth > kMaxDepth) broken("arguments nest too deeply");
        const int kind = json.at(0).get<int>();
        if (kind < 0 || kind > static_cast<int>(Argument::Kind::Slice))
            broken("an argument of kind " + std::to_string(kind));
        switch (static_cast<Argument::Kind>(kind)) {
            case Argument::Kind::Omitted: return Argument::omitted();
            case Argument::Kind::Node: return Argument::of(tm::elementAt(m_nodes, json.at(1)));
            case Argument::Kind::Constant: return Argument::of(tm::valueFrom(json.at(1), m_tensors));
            default: break;
        }
        std::vector<tensor::Value> keys;
        if (static_cast<Argument::Kind>(kind) == Argument::Kind::Dict) {
            for (const Json& key : json.at(2)) keys.push_back(tm::valueFrom(key, m_tensors));
            if (keys.size() != json.at(1).size()) broken("a dict with more keys than values");
        }
        if (static_cast<Argument::Kind>(kind) == Argument::Kind::Slice && json.at(1).size() != 3)
            broken("a slice without three parts");
        return Argument::container(static_cast<Argument::Kind>(kind), list(json.at(1), depth + 1), std::move(keys));
    }

    tensor::AttributeValue attribute(const Json& json) {
        const Json& content = json.at(1);
        const auto each = [&](auto read) {
            std::vector<decltype(read(content))> values;
            for (const Json& item : content) values.push_back(read(item));
            return values;
        };
        const auto number = [&](const Json& item) {
            const tensor::Value value = tm::valueFrom(item, m_tensors);
            if (!value.isNumber()) broken("an attribute that is not a number");
            return value.number();
        };
        const auto tensor = [&](const Json& item) { return tm::elementAt(m_tensors, item); };
        switch (json.at(0).get<int>()) {
            case 0: return content.get<std::int64_t>();
            case 1: return number(content);
            case 2: return content.get<std::string>();
            case 3: return content.get<std::vector<std::int64_t>>();
            case 4: return each(number);
            case 5: return content.get<std::vector<std::string>>();
            case 6: return tensor(content);
            case 7: return each(tensor);
            case 8: return tm::typeFrom(content);
            case 9: return each([](const Json& item) { return tm::typeFrom(item); });
            case 10: return tensor::BodyRef{content.get<std::size_t>()};
            case 11: return each([](const Json& item) { return tensor::BodyRef{item.get<std::size_t>()}; });
            case 12: return tensor::AttributeRef{content.get<std::string>()};
            default: broken("an attribute of an unknown kind");
        }
    }

    const Json& m_json;
    const std::vector<tensor::Tensor>& m_tensors;
    GraphExtras* m_extras;
    std::shared_ptr<InternalGraph> m_graph;
    std::vector<NodeId> m_nodes;
};

}  // namespace

Json graphJson(const InternalGraph& graph, tm::TensorTable& tensors, const NameOptions& names) {
    return Encoder(graph, tensors, names).run();
}

std::shared_ptr<InternalGraph> graphFrom(const Json& json, const std::vector<tensor::Tensor>& tensors,
                                         GraphExtras* extras) {
    return Decoder(json, tensors, extras).run();
}

}  // namespace sonde::io::dump
