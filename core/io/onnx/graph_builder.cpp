#include "core/io/onnx/graph_builder.h"

#include <queue>

#include <algorithm>
#include <numeric>

#include "core/graph/edit_origin.h"
#include "core/io/onnx/attributes.h"
#include "core/io/onnx/node_metadata.h"

namespace sonde::io::onnx {

using base::Result;
using base::unreadable;
using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Tensor;
using tensor::TypeInfo;

namespace {

constexpr int kMaxNesting = 64;                ///< of subgraphs and of functions that call functions
constexpr std::int64_t kNewestOpset = 28;      ///< of ai.onnx that is known (ONNX 1.23)
constexpr std::int64_t kMaxOpset = 100'000;    ///< of any domain: beyond is no version but damage
constexpr std::size_t kMaxUnfolded = 300'000;  ///< functions that call functions can multiply without end

std::string functionKey(std::string_view domain, std::string_view name, std::string_view overload) {
    return std::string(canonicalDomain(domain)) + "::" + std::string(name) + "::" + std::string(overload);
}

}  // namespace

NodeId Names::find(std::string_view name) const {
    for (const Names* names = this; names; names = names->outer) {
        if (const auto found = names->nodes.find(name); found != names->nodes.end()) return found->second;
    }
    return {};
}

GraphBuilder::GraphBuilder(Wire& wire, const ModelProto& model, TensorReader& tensors, const base::WorkContext& work,
                           graph::MissingFiles* missing)
    : m_wire(wire), m_model(model), m_tensors(tensors), m_work(work), m_missing(missing) {
    for (const FunctionProto& function : model.functions) {
        if (m_functions.emplace(functionKey(function.domain, function.name, function.overload), &function).second)
            continue;
        m_diagnostics.push_back({base::Severity::Warning,
                                 "the model has two functions '" + shown(function.name) + "'; the first is used", "",
                                 ""});
    }
}

std::string GraphBuilder::placeOf(const NodeProto& node) const {
    std::string place = shown(node.op);
    if (!node.name.empty()) place += " node '" + shown(node.name) + "'";
    return place + ", byte " + std::to_string(m_wire.offsetOf(node.message.data()));
}

base::Error GraphBuilder::inNode(base::Error error, const NodeProto& node) const {
    if (error.where.empty()) return error.at(placeOf(node));
    return error.withNote("in " + placeOf(node));
}

base::Error GraphBuilder::wireError() const {
    return unreadable("the file is damaged or cut off: " + m_wire.problem(),
                      "byte " + std::to_string(m_wire.problemOffset()));
}

std::string GraphBuilder::uniqueName(std::string_view name) {
    std::string candidate(name);
    if (!m_graph.findNode(candidate).valid()) return candidate;
    int& count = m_suffixes.try_emplace(candidate, 1).first->second;
    std::string result;
    do {
        result = candidate + "~" + std::to_string(++count);
    } while (m_graph.findNode(result).valid());
    return result;
}

graph::Origin GraphBuilder::originOf(const NodeProto& node) {
    for (const auto& [key, value] : node.metadata)
        if (key == kEditKey) return {std::string(graph::kEditOrigin), std::string(value)};
    return {std::string(node.op), std::string(node.name)};
}

NameHint GraphBuilder::hintOf(const NodeProto& node, const Place& place) const {
    NameHint hint;
    hint.call = place.call;
    hint.path = node.name;
    for (std::size_t i = 0; i < node.outputs.size() && hint.path.empty(); ++i) hint.path = node.outputs[i];
    hint.metadata.assign(node.metadata.begin(), node.metadata.end());
    return hint;
}

/// Versions that can be; newer ones than the known are only a finding.
Result<void> GraphBuilder::checkOpsets(const OpsetImports& opsets, const std::string& where) {
    for (const auto& [domain, version] : opsets) {
        if (version < 1 || version > kMaxOpset)
            return unreadable(
                "invalid opset version " + std::to_string(version) + " for domain '" + shown(domain) + "'",
                "opset import of " + where);
        if (domain.empty() && version > kNewestOpset) {
            m_diagnostics.push_back({base::Severity::Warning,
                                     "the model uses opset version " + std::to_string(version) +
                                         " of ai.onnx, newer than the supported " + std::to_string(kNewestOpset),
                                     "opset import of " + where,
                                     "operators may have changed since: compare the results"});
        }
    }
    return {};
}

/// The version of an operator's domain; 1 with a finding, once for each domain, if the file does not say it.
int GraphBuilder::versionOf(const std::string& domain, const NodeProto& node, const Place& place) {
    const auto version = place.opsets.find(domain);
    if (version != place.opsets.end()) return static_cast<int>(version->second);
    if (m_withoutVersion.insert(domain).second) {
        m_diagnostics.push_back({base::Severity::Warning,
                                 "the model imports no opset for domain '" + shown(domain) + "'; version 1 is assumed",
                                 placeOf(node), "export it again if results are wrong"});
    }
    return 1;
}

Result<void> GraphBuilder::build(const GraphProto& graph) {
    SONDE_TRY(checkOpsets(m_model.opsets, "the model"));
    for (const FunctionProto& function : m_model.functions)
        SONDE_TRY(checkOpsets(function.opsets, "function '" + shown(function.name) + "'"));
    Names names;
    Place place{m_graph.mainId(), names, m_model.opsets, nullptr, {}, {}, 0};
    m_graph.name = graph.name;
    SONDE_TRY(buildBody(graph, place));
    if (m_wire.failed()) return wireError();
    return {};
}

/// The inside of one GraphProto: inputs, initializers, nodes, results.
Result<void> GraphBuilder::buildBody(const GraphProto& graph, Place& place) {
    place.names.nodes.reserve(graph.inputs.size() + graph.initializers.size() + graph.nodes.size());
    std::unordered_set<std::string_view> initialized(graph.initializers.size());
    for (Bytes message : graph.initializers) initialized.insert(m_tensors.nameOf(message));
    for (Bytes message : graph.sparseInitializers) initialized.insert(m_tensors.nameOfSparse(message));
    std::unordered_map<std::string, TypeInfo> outerDeclared = std::exchange(m_declared, {});
    for (const std::vector<ValueInfoProto>* list : {&graph.valueInfo, &graph.outputs}) {
        for (const ValueInfoProto& info : *list) m_declared[std::string(info.name)] = readType(m_wire, info.type);
    }
    SONDE_TRY(buildInputs(graph, initialized, place));
    SONDE_TRY(buildInitializers(graph, place));
    SONDE_TRY(buildNodes(graph.nodes, place));
    std::vector<Argument> results;
    for (const ValueInfoProto& output : graph.outputs) {
        const NodeId node = place.names.find(output.name);
        if (!node.valid()) {
            return unreadable("graph output '" + shown(output.name) + "' is never produced",
                              "graph '" + shown(graph.name) + "'");
        }
        results.push_back(Argument::of(node));
    }
    m_declared = std::move(outerDeclared);
    m_graph.setResult(place.body, results.size() == 1 ? results.front()
                                                      : Argument::container(Argument::Kind::Tuple, std::move(results)));
    return {};
}

Result<void> GraphBuilder::buildInputs(const GraphProto& graph, const std::unordered_set<std::string_view>& initialized,
                                       Place& place) {
    for (const ValueInfoProto& input : graph.inputs) {
        // Before IR version 4 every initializer was listed as an input too.
        if (initialized.contains(input.name)) {
            m_declared[std::string(input.name)] = readType(m_wire, input.type);
            continue;
        }
        if (input.name.empty()) return unreadable("an input has no name", "graph '" + shown(graph.name) + "'");
        const NodeId node =
            m_graph.addInput(place.body, uniqueName(input.name), readType(m_wire, input.type), std::string(input.name));
        if (!place.names.nodes.emplace(input.name, node).second) {
            return unreadable("two inputs have the name '" + shown(input.name) + "'",
                              "graph '" + shown(graph.name) + "'");
        }
    }
    return {};
}

/// A constant whose value is still to be set.
NodeId GraphBuilder::addStored(Expr expr, std::string_view name, TypeInfo type, Place& place) {
    expr.kind = ExprKind::Constant;
    expr.body = place.body;
    const std::string nodeName = uniqueName(name);
    const ExprId id = m_graph.addExpr(std::move(expr), std::span(&nodeName, 1));
    const NodeId node = m_graph.expr(id).outputs.front();
    m_graph.setType(node, std::move(type));
    return node;
}

NodeId GraphBuilder::addConstant(Expr expr, std::string_view name, Tensor value, Place& place) {
    const NodeId node = addStored(std::move(expr), name, TypeInfo::tensor(value.dtype(), value.shape()), place);
    m_graph.setConstant(node, tensor::Value(std::move(value)));
    return node;
}

NodeId GraphBuilder::addMissing(Expr expr, std::string_view name, const TensorReader::Missing& missing, Place& place) {
    const NodeId node = addStored(std::move(expr), name, TypeInfo::tensor(missing.dtype, missing.shape), place);
    auto file = std::ranges::find(*m_missing, missing.location, &graph::MissingFile::location);
    if (file == m_missing->end())
        file = m_missing->insert(file, {missing.location, missing.reason, {}, 0, missing.isCutOff});
    file->tensors.push_back(m_graph.node(node).name);
    // Nothing says that the file would be as large as the shape tells.
    constexpr double kMaxBytes = 1e18;
    const double bytes =
        static_cast<double>(missing.shape.numel()) * static_cast<double>(tensor::bitsInFile(missing.dtype)) / 8;
    file->bytes = static_cast<std::int64_t>(std::min(static_cast<double>(file->bytes) + bytes, kMaxBytes));
    return node;
}

Result<void> GraphBuilder::buildInitializers(const GraphProto& graph, Place& place) {
    const auto add = [&](Bytes name, Bytes message, bool sparse) -> Result<void> {
        if (m_work.cancelled()) return base::cancelled("reading weights");
        const auto missing = m_missing && !sparse ? m_tensors.missing(message) : std::nullopt;
        Tensor value;
        if (!missing) {
            SONDE_ASSIGN(value, sparse ? m_tensors.readSparse(message) : m_tensors.read(message));
        }
        if (place.names.nodes.contains(name))
            return unreadable("two initializers have the name '" + shown(name) + "'",
                              "graph '" + shown(graph.name) + "'");
        Expr expr;
        expr.isParameter = true;
        expr.target = name;
        expr.name = name;
        if (const Bytes edited = sparse ? Bytes() : m_tensors.metadataOf(message, kEditKey); edited.data())
            expr.origins = {{std::string(graph::kWeightEditOrigin), std::string(edited)}};
        place.names.nodes.emplace(name, missing ? addMissing(std::move(expr), name, *missing, place)
                                                : addConstant(std::move(expr), name, std::move(value), place));
        return {};
    };
    for (Bytes message : graph.initializers) SONDE_TRY(add(m_tensors.nameOf(message), message, false));
    for (Bytes message : graph.sparseInitializers) SONDE_TRY(add(m_tensors.nameOfSparse(message), message, true));
    if (m_wire.failed()) return wireError();
    return {};
}

Result<void> GraphBuilder::buildNodes(const std::vector<NodeProto>& nodes, Place& place) {
    SONDE_ASSIGN(const std::vector<std::size_t> order, sorted(nodes, place));
    std::size_t done = 0;
    for (std::size_t index : order) {
        if (m_work.cancelled()) return base::cancelled("reading the graph");
        if (place.depth == 0 && done % 64 == 0) m_work.report("reading the graph", done, nodes.size());
        ++done;
        SONDE_TRY(buildNode(nodes[index], place));
        if (m_wire.failed()) return wireError();
    }
    return {};
}

void GraphBuilder::collectReads(const NodeProto& node, std::vector<Bytes>& reads, int depth) {
    for (Bytes input : node.inputs) {
        if (!input.empty()) reads.push_back(input);
    }
    if (depth > kMaxNesting) return;
    for (Bytes message : node.attributes) {
        for (Bytes inner : readAttribute(m_wire, message).graphs) {
            const GraphProto graph = readGraph(m_wire, inner);
            for (const NodeProto& innerNode : graph.nodes) collectReads(innerNode, reads, depth + 1);
            for (const ValueInfoProto& output : graph.outputs) reads.push_back(output.name);
        }
    }
}

Result<std::vector<std::size_t>> GraphBuilder::sorted(const std::vector<NodeProto>& nodes, const Place& place) {
    std::unordered_map<std::string_view, std::size_t> maker(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (Bytes output : nodes[i].outputs) {
            if (output.empty()) continue;
            if (const auto [known, added] = maker.emplace(output, i); !added) {
                if (known->second == i)
                    return unreadable("the node produces '" + shown(output) + "' twice", placeOf(nodes[i]));
                return unreadable("two nodes produce '" + shown(output) + "'", placeOf(nodes[i]));
            }
        }
    }
    std::vector<std::pair<std::size_t, std::size_t>> edges;  // from the producer to the reader
    edges.reserve(nodes.size());
    std::vector<Bytes> reads;
    bool inOrder = true;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        reads.clear();
        collectReads(nodes[i], reads, place.depth);
        std::sort(reads.begin(), reads.end());
        reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
        for (Bytes read : reads) {
            const auto found = maker.find(read);
            if (found == maker.end()) continue;
            // A subgraph may have a name of its own that the node makes too: only its inputs count as a cycle.
            const bool own = found->second == i;
            if (own && std::find(nodes[i].inputs.begin(), nodes[i].inputs.end(), read) == nodes[i].inputs.end())
                continue;
            inOrder = inOrder && found->second < i;
            edges.emplace_back(found->second, i);
        }
    }
    std::vector<std::size_t> order(nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (inOrder) return order;
    order.clear();
    std::vector<std::vector<std::size_t>> users(nodes.size());
    std::vector<std::size_t> waiting(nodes.size(), 0);
    for (const auto& [from, reader] : edges) {
        users[from].push_back(reader);
        ++waiting[reader];
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (waiting[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
        const std::size_t next = ready.top();
        ready.pop();
        order.push_back(next);
        for (std::size_t user : users[next]) {
            if (--waiting[user] == 0) ready.push(user);
        }
    }
    if (order.size() < nodes.size()) {
        const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t count) { return count > 0; });
        return unreadable("the graph has a cycle", placeOf(nodes[static_cast<std::size_t>(stuck - waiting.begin())]));
    }
    m_diagnostics.push_back(
        {base::Severity::Info, "the nodes of the file are not in topological order; they were sorted", "", ""});
    return order;
}

const FunctionProto* GraphBuilder::findFunction(const NodeProto& node) const {
    if (m_functions.empty()) return nullptr;
    const auto found = m_functions.find(functionKey(node.domain, node.op, node.overload));
    return found == m_functions.end() ? nullptr : found->second;
}

Result<void> GraphBuilder::buildNode(const NodeProto& node, Place& place) {
    if (place.call && ++m_unfolded > kMaxUnfolded) {
        return unreadable("the model's functions expand to more than " + std::to_string(kMaxUnfolded) + " operations",
                          placeOf(node));
    }
    if (node.op.empty()) return unreadable("a node has no operator", placeOf(node));
    if (const FunctionProto* function = findFunction(node)) return unfold(node, *function, place);
    return buildOperator(node, place);
}

Result<std::vector<NodeId>> GraphBuilder::readInputs(const NodeProto& node, const Place& place) const {
    std::vector<NodeId> inputs;
    for (Bytes input : node.inputs) {
        NodeId id;
        if (!input.empty()) {
            id = place.names.find(input);
            if (!id.valid()) {
                // A body's own input may stand for an argument that a function's caller left out.
                if (place.names.nodes.contains(input)) {
                    inputs.push_back({});
                    continue;
                }
                return unreadable("the node reads '" + shown(input) + "', which is never produced", placeOf(node));
            }
        }
        inputs.push_back(id);
    }
    while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
    return inputs;
}

Result<void> GraphBuilder::define(std::string_view name, NodeId id, const NodeProto& by, Place& place) const {
    if (!place.names.nodes.emplace(name, id).second) {
        return unreadable("two nodes produce '" + shown(name) + "'", placeOf(by));
    }
    return {};
}

Result<void> GraphBuilder::buildOperator(const NodeProto& node, Place& place) {
    Expr expr;
    expr.kind = ExprKind::Apply;
    expr.body = place.body;
    expr.target = node.op;
    expr.name = node.name;
    expr.op.domain = canonicalDomain(node.domain);
    expr.op.name = node.op;
    expr.op.version = versionOf(expr.op.domain, node, place);
    expr.origins.push_back(originOf(node));
    SONDE_ASSIGN(const std::vector<NodeId> inputs, readInputs(node, place));
    for (NodeId input : inputs) expr.arguments.push_back(input.valid() ? Argument::of(input) : Argument::omitted());
    std::vector<std::pair<Bytes, std::pair<Bytes, const Names*>>> bodies;
    MissingAttributes missing;
    SONDE_TRY(buildAttributes(node, place, expr, bodies, missing));

    std::size_t count = node.outputs.size();
    while (count > 0 && node.outputs[count - 1].empty()) --count;
    NameHint hint = hintOf(node, place);
    if (expr.op.domain.empty() && node.op == "Constant" && count == 1) {
        if (!missing.empty()) {
            expr.op = {};  // nothing can compute it: it is a stored value that is lacking
            const NodeId id =
                addMissing(std::move(expr), place.prefix + std::string(node.outputs[0]), missing.front().second, place);
            hint.expr = m_graph.node(id).producer;
            m_hints.push_back(std::move(hint));
            return define(node.outputs[0], id, node, place);
        }
        if (std::optional<Tensor> value = constantValue(expr.attributes)) {
            if (place.call) value = sharedConstant(node, std::move(*value));
            const NodeId id =
                addConstant(std::move(expr), place.prefix + std::string(node.outputs[0]), std::move(*value), place);
            hint.expr = m_graph.node(id).producer;
            m_hints.push_back(std::move(hint));
            return define(node.outputs[0], id, node, place);
        }
    }
    // An operation that lacks an attribute takes it as a further input, which has no value: no run can come to it.
    for (const auto& [attribute, tensor] : missing) {
        const std::string name = std::string(hint.path) + "." + std::string(attribute);
        expr.arguments.push_back(Argument::of(addMissing({}, uniqueName(place.prefix + name), tensor, place)));
    }
    std::vector<std::string> names;
    std::unordered_set<std::string> taken;
    for (std::size_t i = 0; i < count; ++i) {
        // An output left out in the middle still has its place.
        const std::string own =
            node.outputs[i].empty() ? std::string(hint.path) + ":" + std::to_string(i) : std::string(node.outputs[i]);
        std::string name = uniqueName(place.prefix + own);
        while (!taken.insert(name).second) name += "~";
        names.push_back(std::move(name));
    }
    const ExprId id = m_graph.addExpr(std::move(expr), names);
    hint.expr = id;
    m_hints.push_back(std::move(hint));
    // Subgraphs come before the outputs are known by name: they cannot read what their owner makes.
    for (const auto& [label, body] : bodies) {
        if (auto built = buildSubgraph(id, label, body.first, body.second, place); !built)
            return inNode(built.error(), node);
    }
    for (std::size_t i = 0; i < count; ++i) {
        const NodeId output = m_graph.expr(id).outputs[i];
        if (node.outputs[i].empty()) continue;
        if (const auto declared = m_declared.find(std::string(node.outputs[i]));
            declared != m_declared.end() && !place.call) {
            m_graph.setType(output, declared->second);
        }
        SONDE_TRY(define(node.outputs[i], output, node, place));
    }
    return {};
}

/// All calls of a function have its constant in one memory: it is one weight, as an initializer of several readers is.
Tensor GraphBuilder::sharedConstant(const NodeProto& node, Tensor value) {
    for (Bytes message : node.attributes)
        if (!readAttribute(m_wire, message).reference.empty()) return value;  // the caller's, another one in each call
    return m_functionConstants.try_emplace(node.attributes.front().data(), std::move(value)).first->second;
}

Result<void> GraphBuilder::buildAttributes(const NodeProto& node, const Place& place, Expr& expr,
                                           std::vector<std::pair<Bytes, std::pair<Bytes, const Names*>>>& bodies,
                                           MissingAttributes& missing) {
    for (Bytes message : node.attributes) {
        AttributeProto attribute = readAttribute(m_wire, message);
        if (m_wire.failed()) return wireError();
        const Names* names = &place.names;
        const Bytes name = attribute.name;
        if (!attribute.reference.empty()) {
            if (!place.attributes)
                return unreadable(
                    "attribute '" + shown(name) + "' refers to a function's attribute outside of a function",
                    placeOf(node));
            const auto given = place.attributes->find(attribute.reference);
            // An attribute that the caller does not set takes the operator's own default.
            if (given == place.attributes->end()) continue;
            attribute = given->second.attribute;
            names = given->second.names ? given->second.names : names;
        }
        if (expr.attributes.has(name))
            return unreadable("attribute '" + shown(name) + "' is given twice", placeOf(node));
        if (attribute.type == AttributeType::Graph || attribute.type == AttributeType::Graphs) {
            std::vector<tensor::BodyRef> references;
            for (Bytes graph : attribute.graphs) {
                references.push_back({bodies.size()});
                bodies.push_back({name, {graph, names}});
            }
            if (references.empty()) return unreadable("attribute '" + shown(name) + "' has no value", placeOf(node));
            if (attribute.type == AttributeType::Graph) expr.attributes.set(std::string(name), references.front());
            else expr.attributes.set(std::string(name), std::move(references));
            continue;
        }
        if (m_missing && attribute.type == AttributeType::Tensor && !attribute.tensors.empty()) {
            if (auto lacking = m_tensors.missing(attribute.tensors.front())) {
                missing.emplace_back(name, std::move(*lacking));
                continue;
            }
        }
        auto value = attributeValue(m_wire, m_tensors, attribute);
        if (!value) return inNode(value.error(), node);
        expr.attributes.set(std::string(name), std::move(*value));
    }
    return {};
}

Result<void> GraphBuilder::buildSubgraph(ExprId owner, Bytes label, Bytes message, const Names* outer,
                                         const Place& place) {
    if (place.depth >= kMaxNesting) return unreadable("graphs nest more than " + std::to_string(kMaxNesting) + " deep");
    const GraphProto graph = readGraph(m_wire, message);
    if (m_wire.failed()) return wireError();
    Names names{outer, {}};
    Place inside{m_graph.addBody(owner, std::string(label)),
                 names,
                 place.opsets,
                 place.attributes,
                 place.call,
                 place.prefix,
                 place.depth + 1};
    return buildBody(graph, inside);
}

/// Puts a function's nodes where it is called. Its inputs are the caller's nodes, its outputs get the caller's names.
Result<void> GraphBuilder::unfold(const NodeProto& node, const FunctionProto& function, Place& place) {
    if (std::find(m_unfolding.begin(), m_unfolding.end(), &function) != m_unfolding.end()) {
        return unreadable("function '" + shown(function.name) + "' calls itself", placeOf(node));
    }
    if (place.depth >= kMaxNesting) return unreadable("functions are nested more than 64 calls deep", placeOf(node));
    SONDE_ASSIGN(const std::vector<NodeId> inputs, readInputs(node, place));
    CallAttributes attributes;
    for (Bytes message : function.attributeDefaults) {
        const AttributeProto fallback = readAttribute(m_wire, message);
        attributes[fallback.name] = {fallback, nullptr};
    }
    for (Bytes message : node.attributes) {
        AttributeProto attribute = readAttribute(m_wire, message);
        const Bytes name = attribute.name;
        const Names* names = &place.names;
        if (!attribute.reference.empty()) {
            const auto given =
                place.attributes ? place.attributes->find(attribute.reference) : CallAttributes::const_iterator{};
            if (!place.attributes || given == place.attributes->end()) continue;
            attribute = given->second.attribute;
            names = given->second.names;
        }
        attributes[name] = {std::move(attribute), names};
    }
    Names names;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
        names.nodes.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : NodeId{});
    }
    const NameHint hint = hintOf(node, place);
    const std::size_t call = m_calls.size();
    m_calls.push_back({std::string(function.name), std::string(hint.path), hint});
    Place inside{place.body,     names, function.opsets, &attributes, call, place.prefix + std::string(hint.path) + "/",
                 place.depth + 1};
    auto declared = std::exchange(m_declared, {});
    m_unfolding.push_back(&function);
    const auto built = buildNodes(function.nodes, inside);
    m_unfolding.pop_back();
    m_declared = std::move(declared);
    if (!built) return inNode(built.error(), node);
    for (std::size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        const NodeId made = names.find(function.outputs[i]);
        if (!made.valid())
            return unreadable("function '" + shown(function.name) + "' does not produce its output '" +
                                  shown(function.outputs[i]) + "'",
                              placeOf(node));
        const std::string wanted = place.prefix + std::string(node.outputs[i]);
        const std::string& current = m_graph.node(made).name;
        if (current.starts_with(inside.prefix) && !m_graph.findNode(wanted).valid()) {
            if (auto renamed = m_graph.rename(made, wanted); !renamed) return inNode(renamed.error(), node);
        }
        SONDE_TRY(define(node.outputs[i], made, node, place));
    }
    return {};
}

}  // namespace sonde::io::onnx
