#include "core/session/diff/graph_side.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "core/graph/traits.h"
#include "core/session/watch/plain_operator.h"

namespace sonde::session::diff {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

constexpr std::size_t kMaxConstantText = 200;

bool isStoredExpr(const Expr& expr) { return expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr; }

Hash hashOfShape(const graph::Node& node) {
    const auto shape = node.constant && node.constant->isTensor() ? std::optional(node.constant->tensor().shape())
                                                                  : node.type.staticShape();
    Hash hash = 1;
    if (shape)
        for (std::size_t axis = 0; axis < shape->rank(); ++axis) hash = mixed(hash, static_cast<Hash>((*shape)[axis]));
    return hash;
}

Hash hashOfArgument(const Argument& argument) {
    Hash hash = static_cast<Hash>(argument.kind);
    if (argument.kind == Argument::Kind::Constant && !argument.constant.isTensor())
        hash = mixed(hash, hashOf(argument.constant.text(kMaxConstantText)));
    for (const Argument& item : argument.items) hash = mixed(hash, hashOfArgument(item));
    return hash;
}

/// Operators that ONNX and ATen name differently and that have no class of their own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOtherNames{{{"greater", "gt"},
                                                                                    {"greaterorequal", "ge"},
                                                                                    {"less", "lt"},
                                                                                    {"lessorequal", "le"},
                                                                                    {"reducemax", "max"},
                                                                                    {"amax", "max"},
                                                                                    {"reducemin", "min"},
                                                                                    {"amin", "min"},
                                                                                    {"mod", "remainder"}}};

/// What an operator does, in any vocabulary: its class, all products being one; its plain name if the class says
/// nothing.
Hash hashOfClass(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.opClass == operators::OpClass::Stack) return labelOf(operators::OpClass::Concat);
    if (traits.opClass == operators::OpClass::Slice || traits.opClass == operators::OpClass::Select)
        return labelOf(operators::OpClass::Index);
    if (traits.opClass == operators::OpClass::MaskedFill) return labelOf(operators::OpClass::Where);
    const std::string plain = plainOperator(expr);
    if (plain == "indexselect") return labelOf(operators::OpClass::Index);
    if (plain == "concatfromsequence") return labelOf(operators::OpClass::Concat);
    if (plain == "constantofshape") return labelOf(operators::OpClass::Create);
    if (plain == "trilu") return hashOf(expr.attributes.getInt("upper", 1) != 0 ? "triu" : "tril");
    if (const auto other = std::ranges::find(kOtherNames, plain, &std::pair<std::string_view, std::string_view>::first);
        other != kOtherNames.end())
        return hashOf(other->second);
    if (traits.is(operators::Trait::Convolves)) return 1;
    if (traits.is(operators::Trait::Multiplies)) return 2;
    if (traits.opClass == operators::OpClass::ReverseSub) return labelOf(operators::OpClass::Sub);
    const bool says = traits.opClass != operators::OpClass::Other && traits.opClass != operators::OpClass::Arithmetic;
    return says && !expr.op.name.empty() ? labelOf(traits.opClass) : hashOf(plain);
}

bool hasSlice(const Argument& argument) {
    return argument.kind == Argument::Kind::Slice || std::ranges::any_of(argument.items, hasSlice);
}

/// A part of a tensor, which Python takes with the operator that it takes members of lists with.
bool takesPartOfTensor(const InternalGraph& graph, const Expr& expr) {
    return graph::traitsOf(expr).opClass == operators::OpClass::Index && !expr.inputs.empty() &&
           (graph.node(expr.inputs.front()).type.isTensor() || std::ranges::any_of(expr.arguments, hasSlice));
}

/// A sum or product of tensors that the code writes with an operator of Python.
bool computesWithTensors(const InternalGraph& graph, const Expr& expr) {
    if (!graph::traitsOf(expr).is(operators::Trait::Broadcasts) || expr.outputs.size() != 1) return false;
    const tensor::TypeInfo& type = graph.node(expr.outputs.front()).type;
    return type.isTensor() && type.shape && !type.shape->empty();
}

/// One integer or bool: a number of Python in the other vocabulary.
bool isNumber(const graph::Node& node) {
    using tensor::ValueKind;
    if (node.type.kind == ValueKind::Int || node.type.kind == ValueKind::Bool) return true;
    const auto shape = node.type.staticShape();
    const bool isWhole = tensor::isInteger(node.type.dtype) || node.type.dtype == tensor::DType::Bool;
    return isWhole && shape && shape->numel() == 1;
}

/// Counts and conditions of loops and branches, which scripts compute with numbers and ONNX with tensors of one
/// element.
bool isCounting(const InternalGraph& graph, const Expr& expr) {
    const auto isOne = [&](NodeId node) { return isNumber(graph.node(node)); };
    return expr.bodies.empty() && !expr.outputs.empty() && !expr.op.name.empty() &&
           std::ranges::all_of(expr.inputs, isOne) && std::ranges::all_of(expr.outputs, isOne);
}

/// Python's number of a tensor with one element of that kind, which ONNX reads as it is: the condition of a branch.
bool isNumberOf(const InternalGraph& graph, const Expr& expr) {
    if (expr.op.domain != "prim" || expr.inputs.size() != 1 || expr.outputs.size() != 1) return false;
    const tensor::DType given = graph.node(expr.inputs.front()).type.dtype;
    const std::string plain = plainOperator(expr);
    if (plain == "bool") return given == tensor::DType::Bool;
    if (plain == "int") return tensor::isInteger(given);
    return plain == "float" && tensor::isFloating(given);
}

/// The same value for the operation behind it: of a number, or a new dimension that only a concatenation reads (ONNX
/// has no operator that stacks).
bool isGlue(const InternalGraph& graph, const Expr& expr) {
    if (isNumberOf(graph, expr)) return true;
    const operators::OpClass opClass = graph::traitsOf(expr).opClass;
    if (expr.outputs.size() != 1) return false;
    const graph::Node& node = graph.node(expr.outputs.front());
    if (opClass == operators::OpClass::Cast)
        return !expr.inputs.empty() && isNumber(graph.node(expr.inputs.front())) && node.type.staticShape();
    return opClass == operators::OpClass::ExpandDims && !node.users.empty() &&
           std::ranges::all_of(node.users, [&](ExprId user) {
               return graph::traitsOf(graph.expr(user)).opClass == operators::OpClass::Concat;
           });
}

/// Takes rows of a stored table, as an embedding does.
bool looksUpRows(const FlatGraph& flat, ExprId id) {
    const InternalGraph& graph = flat.graph;
    const Expr& expr = graph.expr(id);
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.inputRole(0) != operators::InputRole::Embedding || expr.inputs.empty() || expr.outputs.empty())
        return false;
    const graph::Node &table = graph.node(flat.inputsOf(id).front()), &rows = graph.node(expr.outputs.front());
    return isStoredExpr(graph.expr(table.producer)) && table.constant && table.constant->isTensor() &&
           table.constant->tensor().rank() == 2 && !tensor::isInteger(rows.type.dtype);
}

}  // namespace

Hash hashOf(std::string_view text) {
    Hash hash = text.size();
    for (; text.size() >= 8; text.remove_prefix(8)) {
        Hash word = 0;
        std::memcpy(&word, text.data(), 8);
        hash = mixed(hash, word);
    }
    for (const char c : text) hash = mixed(hash, static_cast<unsigned char>(c));
    return hash;
}

bool isLayerWithWeights(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return traits.is(operators::Trait::Convolves) || traits.is(operators::Trait::Multiplies);
}

bool isValueExpr(const Expr& expr) {
    return isStoredExpr(expr) || expr.kind == ExprKind::Input || expr.kind == ExprKind::Output;
}

bool isCallWithBody(const Expr& expr) { return expr.op.name.empty() && expr.bodies.size() == 1 && !isValueExpr(expr); }

bool onlyMoves(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return expr.bodies.empty() && (traits.is(operators::Trait::MovesData) || traits.mayBeView());
}

Hash functionOf(const FlatGraph& flat, ExprId id) {
    return looksUpRows(flat, id) ? labelOf(operators::OpClass::Embedding) : hashOfClass(flat.graph.expr(id));
}

std::string operatorName(const Expr& expr) {
    if (expr.op.name.empty()) return expr.moduleClass.empty() ? expr.target : expr.moduleClass;
    return expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
}

FlatGraph::FlatGraph(const InternalGraph& of, bool isPlain) : graph(of), origin(of.nodeCount()), users(of.nodeCount()) {
    for (std::size_t i = 0; i < origin.size(); ++i) origin[i] = NodeId(i);
    const std::vector<ExprId> all = graph.recursiveOrder(graph.mainId());
    // Into calls: arguments come before what is inside.
    for (const ExprId id : all) {
        const Expr& expr = graph.expr(id);
        if (!isCallWithBody(expr)) continue;
        const graph::Body& body = graph.body(expr.bodies.front());
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i)
            origin[body.inputs[i].index()] = expr.inputs[i];
    }
    // Out of calls. A call that gives several values as one is an operation of its own.
    for (const ExprId id : all) {
        const Expr& expr = graph.expr(id);
        if (!isCallWithBody(expr)) continue;
        const graph::Body& body = graph.body(expr.bodies.front());
        if (body.outputs.size() != expr.outputs.size()) continue;
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) origin[expr.outputs[i].index()] = body.outputs[i];
    }
    // A member of what an operation gives as one, or the same value again.
    const auto passesOn = [isPlain, this](const Expr& expr) {
        const operators::Traits& traits = graph::traitsOf(expr);
        const bool isMember =
            expr.op.domain == "prim" && traits.opClass == operators::OpClass::Index && !takesPartOfTensor(graph, expr);
        return isPlain && (traits.isIdentityAtInference() || isMember || isGlue(graph, expr)) &&
               expr.outputs.size() == 1 && !expr.inputs.empty();
    };
    for (const ExprId id : all)
        if (const Expr& expr = graph.expr(id); passesOn(expr))
            origin[expr.outputs.front().index()] = expr.inputs.front();
    for (std::size_t i = 0; i < origin.size(); ++i) {
        NodeId node = NodeId(i);
        for (std::size_t step = 0; step < origin.size() && origin[node.index()] != node; ++step)
            node = origin[node.index()];
        // Every value on the way is as far as this one.
        for (NodeId at = NodeId(i); at != node;) {
            const NodeId next = origin[at.index()];
            origin[at.index()] = node;
            at = next;
        }
    }
    for (const ExprId id : all) {
        const Expr& expr = graph.expr(id);
        const bool isLeftOut = isCallWithBody(expr) && !expr.outputs.empty() && producer(expr.outputs.front()) != id;
        const bool isOfPython = expr.op.domain == "prim" && expr.bodies.empty() && !takesPartOfTensor(graph, expr) &&
                                !computesWithTensors(graph, expr);
        const bool isAside = passesOn(expr) || (isPlain && (isOfPython || isCounting(graph, expr)));
        if (isValueExpr(expr) || isLeftOut || isAside) continue;
        order.push_back(id);
        for (const NodeId input : inputsOf(id)) users[input.index()].push_back(id);
    }
}

std::vector<NodeId> FlatGraph::inputsOf(ExprId id) const {
    std::vector<NodeId> inputs;
    for (const NodeId input : graph.expr(id).inputs) inputs.push_back(origin[input.index()]);
    return inputs;
}

std::vector<NodeId> FlatGraph::readBy(ExprId id) const {
    std::vector<NodeId> read = inputsOf(id);
    for (const graph::BodyId body : graph.expr(id).bodies)
        for (const NodeId output : graph.body(body).outputs) read.push_back(origin[output.index()]);
    return read;
}

std::vector<NodeId> FlatGraph::outputs() const {
    std::vector<NodeId> outputs;
    for (const NodeId output : graph.outputs()) outputs.push_back(origin[output.index()]);
    return outputs;
}

std::vector<NodeId> FlatGraph::computedInputsOf(ExprId id) const {
    std::vector<NodeId> computed;
    for (const NodeId input : inputsOf(id)) {
        const graph::Node& node = graph.node(input);
        const tensor::TypeInfo& type = node.type;
        const bool isOfNumbers =
            type.kind && !type.isTensor() && std::ranges::none_of(type.elements, &tensor::TypeInfo::isTensor);
        const bool isOne = isOfNumbers || (type.isTensor() && type.shape && type.shape->empty());
        if (!isStoredExpr(graph.expr(node.producer)) && !isOne) computed.push_back(input);
    }
    return computed;
}

bool FlatGraph::isAffine(ExprId id) const {
    switch (graph::traitsOf(graph.expr(id)).opClass) {
        case operators::OpClass::BatchNorm:
        case operators::OpClass::Add:
        case operators::OpClass::Sub:
        case operators::OpClass::ReverseSub:
        case operators::OpClass::Mul:
        case operators::OpClass::Div: return computedInputsOf(id).size() == 1;
        default: return false;
    }
}

GraphSide::GraphSide(const InternalGraph& of, bool isOneVocabulary)
    : FlatGraph(of, !isOneVocabulary), label(of.exprCount(), 0), detail(of.exprCount(), 0), kernel(of.exprCount(), 0),
      match(of.exprCount()), partOf(of.exprCount()), m_isOneVocabulary(isOneVocabulary) {
    hashOperations();
    m_mayBeFolded.assign(graph.exprCount(), false);
    if (!isOneVocabulary) findFolded();
    up = upstream(label, false, Positions::Count);
    upDetail = upstream(detail, isOneVocabulary, Positions::Count);
    down = downstream(label, Positions::Count);
    downDetail = downstream(detail, Positions::Count);
    place = places(label, false);
    placeDetail = places(detail, isOneVocabulary);
}

std::vector<Hash> GraphSide::places(const std::vector<Hash>& own, bool withTypes) const {
    std::vector<Hash> hashes = upstream(own, withTypes, Positions::Ignored);
    const std::vector<Hash> behind = downstream(own, Positions::Ignored);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = mixed(hashes[i], behind[i]);
    return hashes;
}

void GraphSide::findFolded() {
    for (const ExprId id : order) {
        if (!isAffine(id) || weightsOf(id).empty()) continue;
        const ExprId before = producer(computedInputsOf(id).front());
        m_mayBeFolded[id.index()] = isLayerWithWeights(graph.expr(before)) || m_mayBeFolded[before.index()];
    }
}

std::vector<NodeId> GraphSide::hashedInputsOf(ExprId id) const {
    return m_isOneVocabulary ? inputsOf(id) : computedInputsOf(id);
}

void GraphSide::hashOperations() {
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        const Hash own =
            m_isOneVocabulary ? mixed(hashOf(plainOperator(expr)), expr.outputs.size()) : functionOf(*this, id);
        label[id.index()] = own;
        kernel[id.index()] = hashOfKernel(id);
        if (!m_isOneVocabulary) {
            // Of what both vocabularies say alike.
            detail[id.index()] = kernel[id.index()] != 0 ? mixed(own, kernel[id.index()]) : own;
            continue;
        }
        Hash full = own;
        for (const tensor::Attribute& attribute : expr.attributes.items())
            full = mixed(mixed(full, hashOf(attribute.name)), hashOf(tensor::text(attribute.value, kMaxConstantText)));
        for (const Argument& argument : expr.arguments) full = mixed(full, hashOfArgument(argument));
        for (const auto& [name, argument] : expr.keywords)
            full = mixed(mixed(full, hashOf(name)), hashOfArgument(argument));
        for (const NodeId weight : weightsOf(id)) full = mixed(full, hashOfShape(graph.node(weight)));
        detail[id.index()] = full;
    }
}

std::vector<Hash> GraphSide::upstream(const std::vector<Hash>& own, bool withTypes, Positions positions) const {
    const bool isOrdered = positions == Positions::Count;
    std::vector<Hash> ofNode(graph.nodeCount(), 0), ofExpr(graph.exprCount(), 0);
    for (std::size_t i = 0; i < graph.bodyCount(); ++i) {
        const graph::Body& body = graph.body(graph::BodyId(i));
        const Hash owner = body.owner.valid() ? mixed(own[body.owner.index()], hashOf(body.label)) : 3;
        // The inputs of a loop are told apart by what they are for, those of a network by what reads them.
        const bool isCounted = isOrdered || body.owner.valid();
        for (std::size_t k = 0; k < body.inputs.size(); ++k)
            ofNode[body.inputs[k].index()] = mixed(owner, isCounted ? k : 0);
    }
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::Input) continue;
        if (m_mayBeFolded[id.index()] && expr.outputs.size() == 1) {
            // What it is given is told apart from other results by nothing but the operator.
            const NodeId from = computedInputsOf(id).front();
            ofExpr[id.index()] = ofNode[from.index()];
            ofNode[expr.outputs.front().index()] = ofNode[from.index()];
            continue;
        }
        Hash hash = isStoredExpr(expr) ? 5 : own[id.index()];
        if (isStoredExpr(expr) && withTypes && !expr.outputs.empty())
            hash = mixed(hash, hashOfShape(graph.node(expr.outputs.front())));
        Hash sum = 0;
        for (const NodeId input : hashedInputsOf(id)) {
            if (isOrdered) hash = mixed(hash, ofNode[input.index()]);
            else sum += mixed(13, ofNode[input.index()]);
        }
        if (!isOrdered) hash = mixed(hash, sum);
        ofExpr[id.index()] = hash;
        for (std::size_t k = 0; k < expr.outputs.size(); ++k) ofNode[expr.outputs[k].index()] = mixed(hash, k);
    }
    return ofExpr;
}

std::vector<Hash> GraphSide::downstream(const std::vector<Hash>& own, Positions positions) const {
    const bool isOrdered = positions == Positions::Count;
    std::vector<Hash> ofExpr(graph.exprCount(), 0), asResult(graph.nodeCount(), 0);
    for (std::size_t i = 0; i < graph.bodyCount(); ++i) {
        const graph::Body& body = graph.body(graph::BodyId(i));
        if (body.owner.valid() && isCallWithBody(graph.expr(body.owner))) continue;
        const Hash owner = body.owner.valid() ? mixed(own[body.owner.index()], hashOf(body.label)) : 7;
        for (std::size_t k = 0; k < body.outputs.size(); ++k)
            asResult[origin[body.outputs[k].index()].index()] +=
                mixed(mixed(owner, 11), isOrdered || body.owner.valid() ? k : 0);
    }
    // Sums: users have no order, and are many.
    std::vector<Hash> ofNode = std::move(asResult);
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        // One file asks for the rank of what another one only reads.
        const bool isQuery = graph::traitsOf(graph.expr(*id)).query != operators::ShapeQuery::None;
        if (!m_isOneVocabulary && isQuery) continue;
        if (m_mayBeFolded[id->index()] && graph.expr(*id).outputs.size() == 1) {
            const Hash behind = ofNode[graph.expr(*id).outputs.front().index()];
            ofExpr[id->index()] = behind;
            ofNode[computedInputsOf(*id).front().index()] += behind;
            continue;
        }
        Hash hash = own[id->index()];
        for (const NodeId output : graph.expr(*id).outputs) hash = mixed(hash, ofNode[output.index()]);
        ofExpr[id->index()] = hash;
        const std::vector<NodeId> inputs = hashedInputsOf(*id);
        for (std::size_t k = 0; k < inputs.size(); ++k) ofNode[inputs[k].index()] += mixed(hash, isOrdered ? k + 1 : 1);
    }
    return ofExpr;
}

Hash GraphSide::hashOfKernel(ExprId id) const {
    if (!graph::traitsOf(graph.expr(id)).is(operators::Trait::Convolves)) return 0;
    for (const NodeId weight : weightsOf(id))
        if (const auto& shape = graph.node(weight).type.shape; shape && shape->size() > 2)
            return hashOfShape(graph.node(weight));
    return 0;
}

std::vector<NodeId> GraphSide::weightsOf(ExprId id) const {
    std::vector<NodeId> weights;
    for (const NodeId input : inputsOf(id))
        if (isStoredExpr(graph.expr(producer(input)))) weights.push_back(input);
    return weights;
}

Hash GraphSide::weightNames(ExprId id) const {
    Hash hash = 0;
    for (const NodeId weight : weightsOf(id)) {
        const Expr& stored = graph.expr(producer(weight));
        if (!stored.isParameter) continue;
        hash = mixed(hash, hashOf(stored.kind == ExprKind::GetAttr ? stored.target : graph.node(weight).name));
    }
    return hash;
}

Hash GraphSide::weightPaths(ExprId id) const {
    for (const NodeId weight : weightsOf(id)) {
        const Expr& stored = graph.expr(producer(weight));
        const std::string& name = stored.kind == ExprKind::GetAttr ? stored.target : graph.node(weight).name;
        if (stored.isParameter && name.find('.') == std::string::npos) return 0;
    }
    return weightNames(id);
}

Hash GraphSide::weightValues(ExprId id) const {
    Hash hash = 0;
    for (const NodeId weight : weightsOf(id)) {
        const auto& constant = graph.node(weight).constant;
        if (!constant || !constant->isTensor() || constant->tensor().numel() < 2 ||
            constant->tensor().dtype() == tensor::DType::String)
            continue;
        const auto tensor = constant->tensor().contiguous();
        if (!tensor) continue;
        const auto bytes = static_cast<std::size_t>(tensor->numel()) * tensor::itemSize(tensor->dtype());
        hash = mixed(hash, hashOf({reinterpret_cast<const char*>(tensor->bytes()), bytes}));
    }
    return hash;
}

std::vector<std::pair<NodeId, Hash>> GraphSide::storedElements() const {
    const auto hashOfBytes = [](const tensor::Tensor& tensor) -> Hash {
        const auto whole = tensor.contiguous();
        if (!whole) return 0;
        const std::size_t item = tensor::itemSize(whole->dtype()),
                          bytes = item * static_cast<std::size_t>(whole->numel());
        if (std::memcmp(whole->bytes(), whole->bytes() + item, bytes - item) == 0) return 0;
        return hashOf({reinterpret_cast<const char*>(whole->bytes()), bytes});
    };
    std::vector<std::pair<NodeId, Hash>> stored;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!isStoredExpr(expr) || expr.outputs.empty()) continue;
        const auto& constant = graph.node(expr.outputs.front()).constant;
        if (!constant || !constant->isTensor() || constant->tensor().numel() < 2 ||
            constant->tensor().dtype() == tensor::DType::String)
            continue;
        const tensor::Tensor& tensor = constant->tensor();
        Hash hash = hashOfBytes(tensor);
        if (hash != 0 && tensor.rank() == 2) hash += hashOfBytes(tensor.transposed(0, 1));
        if (hash != 0) stored.emplace_back(origin[expr.outputs.front().index()], hash);
    }
    return stored;
}

}  // namespace sonde::session::diff
