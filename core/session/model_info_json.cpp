#include <nlohmann/json.hpp>

#include "core/graph/missing_data.h"
#include "core/session/model_info.h"

namespace sonde::session {

namespace {

using Json = nlohmann::ordered_json;
using tensor::SymbolicSum;

/// A number, or an expression in the open dimensions; null if it is not known.
Json sumJson(const SymbolicSum& sum, bool isKnown = true) {
    if (!isKnown) return {};
    if (const auto number = sum.constant()) return *number;
    return sum.known() ? Json(sum.text()) : Json();
}

Json typeJson(const tensor::TypeInfo& type, Json value) {
    value["type"] = type.text();
    if (!type.isTensor()) return value;
    value["dtype"] = type.dtype == tensor::DType::Undefined ? Json() : Json(std::string(tensor::name(type.dtype)));
    value["shape"] = Json();
    if (!type.shape) return value;
    Json shape = Json::array();
    for (const tensor::Dim& dim : *type.shape)
        shape.push_back(dim.known() ? Json(dim.value) : dim.symbol.empty() ? Json() : Json(dim.symbol));
    value["shape"] = std::move(shape);
    return value;
}

Json valuesJson(const graph::InternalGraph& graph, const std::vector<document::NamedNode>& values) {
    Json list = Json::array();
    for (const document::NamedNode& value : values)
        list.push_back(typeJson(graph.node(value.node).type, {{"name", value.name}}));
    return list;
}

Json pairsJson(const std::vector<std::pair<std::string, std::string>>& pairs) {
    Json object = Json::object();
    for (const auto& [key, value] : pairs) object[key] = value;
    return object;
}

Json fileJson(const ModelFile& file) {
    Json json{{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}};
    if (file.sha256.empty()) json["sha256"] = Json();
    return json;
}

Json missingJson(const graph::MissingFiles& missing) {
    Json list = Json::array();
    for (const graph::MissingFile& file : missing)
        list.push_back(
            {{"path", file.location}, {"reason", file.reason}, {"tensors", file.tensors}, {"bytes", file.bytes}});
    return list;
}

Json fileJson(const FileFacts& facts, const graph::MissingFiles& missing) {
    Json json{{"path", facts.path}, {"sha256", Json()}, {"bytes", Json()}};
    if (facts.file) json.update(fileJson(*facts.file));
    json["path"] = facts.path;
    json["format"] = facts.format;
    json["producer"] = facts.producer.empty() ? Json() : Json(facts.producer);
    json["external"] = Json::array();
    for (const ModelFile& file : facts.external) json["external"].push_back(fileJson(file));
    json["missing"] = missingJson(missing);
    json["properties"] = pairsJson(facts.properties);
    return json;
}

void addCost(Json& json, const analysis::CostSum& sum) {
    json["macs"] = sumJson(sum.multiplyAdds, sum.hasMultiplyAdds());
    json["flops"] = sumJson(sum.flops, sum.hasFlops());
    json["bytes_read"] = sumJson(sum.bytesRead, sum.hasBytes());
    json["bytes_written"] = sumJson(sum.bytesWritten, sum.hasBytes());
    json["activation_bytes"] = sumJson(sum.activationBytes, sum.hasActivations());
    const auto intensity = sum.intensity();
    json["intensity"] = intensity ? Json(*intensity) : Json();
}

Json costJson(const ModelInfo& info) {
    Json json{{"for", info.costBasis}};
    addCost(json, info.cost.total);
    json["peak_activation_bytes"] = info.cost.peakActivationBytes ? Json(*info.cost.peakActivationBytes) : Json();
    json["not_counted"] = Json::object();
    for (const auto& [op, count] : info.cost.notCounted) json["not_counted"][op] = count;
    json["not_counted_nodes"] = Json::array();
    for (const graph::ExprId id : info.cost.notCountedExprs) {
        const graph::Expr& expr = info.graph->expr(id);
        if (!expr.outputs.empty()) json["not_counted_nodes"].push_back(info.graph->node(expr.outputs.front()).name);
    }
    json["without_bytes"] = info.cost.bytesUnknown;
    json["assumptions"] = info.cost.assumptions;
    return json;
}

Json modulesJson(const document::Document& document, const ModelInfo& info) {
    Json list = Json::array();
    const auto& modules = document.modules->modules();
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const analysis::ModuleSums& sums = info.counts.ofModule[i];
        Json module{{"qualname", modules[i].qualname},          {"class", modules[i].moduleClass},
                    {"parameters", sums.parameters.elements},   {"buffers", sums.buffers.elements},
                    {"parameter_bytes", sums.parameters.bytes}, {"tied", sums.tied}};
        addCost(module, info.cost.ofModule[i]);
        list.push_back(std::move(module));
    }
    return list;
}

Json tensorsJson(const ModelInfo& info, bool (*isWanted)(const analysis::StoredTensor&)) {
    Json list = Json::array();
    for (const analysis::StoredTensor& tensor : info.counts.tensors)
        if (isWanted(tensor)) list.push_back(tensor.names);
    return list;
}

/// A number of indices, "all", or 0 where it does not depend on the input's values.
Json fieldJson(const analysis::FieldSize& size) {
    return size.kind == analysis::FieldSize::Kind::All ? Json("all") : Json(size.size);
}

Json nodesJson(const ModelInfo& info) {
    Json list = Json::array();
    const graph::InternalGraph& graph = *info.graph;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        const analysis::ExprCost& cost = info.cost.ofExpr[id.index()];
        if (cost.part == analysis::CostPart::None || expr.outputs.empty()) continue;
        Json node{{"name", graph.node(expr.outputs.front()).name},
                  {"operator", analysis::operatorTitle(expr)},
                  {"qualname", expr.qualname ? Json(*expr.qualname) : Json()}};
        Json field = Json::array();
        for (std::size_t axis = 0; axis < info.fields.axes().size(); ++axis)
            field.push_back(fieldJson(info.fields.of(expr.outputs.front(), axis)));
        node["receptive_field"] = std::move(field);
        constexpr const char* kParts[] = {"none", "counted", "sum of its parts", "not counted", "not executed"};
        node["part"] = kParts[static_cast<std::size_t>(cost.part)];
        if (cost.part == analysis::CostPart::Counted || cost.part == analysis::CostPart::Owner) addCost(node, cost.sum);
        list.push_back(std::move(node));
    }
    return list;
}

/// Of each output in each input, by axis; and the largest that a value has which does not see all of the axis.
Json fieldsJson(const document::Document& document, const ModelInfo& info) {
    Json list = Json::array();
    for (const document::NamedNode& input : document.inputs) {
        std::vector<std::size_t> axes;
        for (std::size_t i = 0; i < info.fields.axes().size(); ++i)
            if (info.fields.axes()[i].input == input.node) axes.push_back(i);
        if (axes.empty()) continue;
        Json outputs = Json::object(), largest = Json::array(), whole = Json::array();
        for (const document::NamedNode& output : document.outputs) {
            Json& sizes = outputs[output.name] = Json::array();
            for (const std::size_t axis : axes) sizes.push_back(fieldJson(info.fields.of(output.node, axis)));
        }
        for (const std::size_t axis : axes) {
            const graph::NodeId most = info.fields.largest(axis), all = info.fields.firstWhole(axis);
            largest.push_back(
                most.valid() ? Json{{"size", info.fields.of(most, axis).size}, {"node", info.graph->node(most).name}}
                             : Json());
            whole.push_back(all.valid() ? Json(info.graph->node(all).name) : Json());
        }
        list.push_back({{"input", input.name}, {"outputs", outputs}, {"largest", largest}, {"all_from", whole}});
    }
    return list;
}

std::string titleOf(const std::string& domain, const std::string& name) {
    return domain.empty() ? name : domain + "::" + name;
}

void addOperators(Json& root, const ModelInfo& info) {
    const graph::InternalGraph& graph = *info.graph;
    root["operator_versions"] = Json::array();
    root["unsupported_nodes"] = Json::object();
    for (const analysis::OperatorUse& use : info.structure.operators) {
        root["operator_versions"].push_back(
            {{"domain", use.domain}, {"name", use.name}, {"version", use.version}, {"count", use.count}});
        if (!use.isUnsupported) continue;
        Json& nodes = root["unsupported_nodes"][titleOf(use.domain, use.name)];
        if (nodes.is_null()) nodes = Json::array();
        for (const graph::NodeId node : use.nodes) nodes.push_back(graph.node(node).name);
    }
    root["control_flow"] = Json::array();
    for (const analysis::ControlFlow& control : info.structure.control) {
        const graph::Expr& expr = graph.expr(control.expr);
        root["control_flow"].push_back(
            {{"node", expr.outputs.empty() ? expr.target : graph.node(expr.outputs.front()).name},
             {"operator", analysis::operatorTitle(expr)},
             {"bodies", control.bodies}});
    }
}

}  // namespace

std::string modelInfoJson(const document::Document& document, const ModelInfo& info, bool withNodes) {
    const graph::InternalGraph& graph = *document.graph;
    Json root{{"format", "sonde-info"},
              {"version", 1},
              {"file", fileJson(info.file, graph::missingOf(document.graph))},
              {"inputs", valuesJson(graph, document.inputs)},
              {"outputs", valuesJson(graph, document.outputs)},
              {"parameters", info.counts.parameters.elements},
              {"buffers", info.counts.buffers.elements},
              {"parameter_bytes", info.counts.parameters.bytes},
              {"macs", sumJson(info.cost.total.multiplyAdds, info.cost.total.hasMultiplyAdds())},
              {"operators", info.summary.operators},
              {"unsupported", info.summary.unsupported},
              {"modules", document.modules->modules().size()},
              {"nodes", info.summary.nodes}};
    root["opset_imports"] = Json::object();
    for (const auto& [domain, version] : info.file.opsets) root["opset_imports"][domain] = version;
    root["metadata"] = pairsJson(info.file.metadata);
    root["functions"] = info.file.functions;
    root["doc_strings"] = Json::array();
    for (const auto& [where, text] : info.file.docStrings)
        root["doc_strings"].push_back({{"where", where}, {"text", text}});
    const analysis::ComputedWeights computed = analysis::computedWeights(*info.graph);
    root["computed_weights"] = {{"count", computed.count}, {"elements", computed.elements}};
    root["buffer_bytes"] = info.counts.buffers.bytes;
    root["constants"] = info.counts.constants.elements;
    root["constant_bytes"] = info.counts.constants.bytes;
    root["bytes_by_dtype"] = Json::object();
    for (const DTypeBytes& each : info.byDType)
        root["bytes_by_dtype"][std::string(tensor::name(each.dtype))] = each.bytes;
    root["tied"] = tensorsJson(info, &isTiedParameter);
    root["unused"] = tensorsJson(info, &isUnusedTensor);
    addOperators(root, info);
    root["depth"] = info.structure.depth;
    if (!info.structure.path.empty()) {
        Json nodes = Json::array();
        for (const graph::NodeId node : info.structure.path) nodes.push_back(graph.node(node).name);
        root["longest_path"] = {{"from", graph.node(info.structure.path.front()).name},
                                {"to", graph.node(info.structure.path.back()).name},
                                {"operations", info.structure.depth},
                                {"nodes", std::move(nodes)}};
    }
    root["receptive_field"] = fieldsJson(document, info);
    root["dynamic_dimensions"] = Json::array();
    for (const analysis::DynamicDimension& dimension : info.dimensions)
        root["dynamic_dimensions"].push_back({{"name", dimension.name},
                                              {"size", dimension.size ? Json(*dimension.size) : Json()},
                                              {"inputs", dimension.inputs},
                                              {"outputs", dimension.outputs},
                                              {"nodes", dimension.nodes.size()}});
    root["cost"] = costJson(info);
    root["by_module"] = modulesJson(document, info);
    if (withNodes) root["by_node"] = nodesJson(info);
    if (!info.notes.empty()) root["notes"] = info.notes;
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::session
