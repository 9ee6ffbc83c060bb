#include "core/export/lowering/lowering.h"

#include <algorithm>

#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::exporting {

namespace {

constexpr int kOpset = 18;

std::int64_t wholeNumber(const Value& value) {
    const auto number = ops::intOf(value);
    if (!number) LoweredCall::fail(number.error().what);
    return *number;
}

}  // namespace

using graph::Expr;
using graph::ExprKind;
using tensor::TypeInfo;

const Argument& LoweredCall::argument(std::size_t index) const {
    if (index >= m_arguments.size()) fail("argument " + std::to_string(index) + " is missing");
    m_read.insert(index);
    return m_arguments[index];
}

bool LoweredCall::has(std::size_t index) const {
    if (index >= m_arguments.size() || m_arguments[index].kind == Argument::Kind::Omitted) return false;
    return m_arguments[index].kind != Argument::Kind::Constant || !m_arguments[index].constant.isNone();
}

NodeId LoweredCall::tensorOf(const Argument& argument, DType dtype) {
    if (argument.kind == Argument::Kind::Node) return argument.node;
    if (argument.kind == Argument::Kind::Constant) {
        if (argument.constant.isTensor()) return constant(argument.constant.tensor());
        if (argument.constant.isNumber()) {
            const bool whole = argument.constant.kind() == tensor::ValueKind::Int;
            return constant(scalarOf(argument.constant, dtype != DType::Undefined ? dtype
                                                        : whole                   ? DType::Int64
                                                                                  : DType::Float32));
        }
    }
    fail("an argument is not a tensor");
}

NodeId LoweredCall::tensor(std::size_t index, DType dtype) { return tensorOf(argument(index), dtype); }

std::vector<NodeId> LoweredCall::tensors(std::size_t index) {
    const Argument& list = argument(index);
    std::vector<NodeId> nodes;
    if (list.kind == Argument::Kind::List || list.kind == Argument::Kind::Tuple) {
        for (const Argument& item : list.items) nodes.push_back(tensorOf(item));
        return nodes;
    }
    if (list.kind != Argument::Kind::Constant || !list.constant.isListLike())
        fail("an argument is not a list of tensors");
    for (const Value& item : list.constant.items()) nodes.push_back(tensorOf(Argument::of(item)));
    return nodes;
}

const Value& LoweredCall::value(std::size_t index) const {
    const Argument& given = argument(index);
    if (given.kind != Argument::Kind::Constant) fail("argument " + std::to_string(index) + " depends on the data");
    return given.constant;
}

double LoweredCall::number(std::size_t index, double fallback) const {
    if (!has(index)) return fallback;
    const Value& given = value(index);
    if (given.isNumber()) return given.number();
    if (given.isTensor() && given.tensor().numel() == 1) return given.tensor().toDouble(0);
    fail("argument " + std::to_string(index) + " is not a number");
}

std::int64_t LoweredCall::integer(std::size_t index) const { return has(index) ? wholeNumber(value(index)) : 0; }

std::string LoweredCall::text(std::size_t index) const {
    return has(index) && value(index).kind() == tensor::ValueKind::String ? value(index).toString() : std::string();
}

std::vector<std::int64_t> LoweredCall::integers(std::size_t index) const {
    if (!has(index)) return {};
    if (argument(index).kind == Argument::Kind::List || argument(index).kind == Argument::Kind::Tuple) {
        std::vector<std::int64_t> numbers;
        for (const Argument& item : argument(index).items) {
            if (item.kind != Argument::Kind::Constant || !item.constant.isNumber())
                fail("argument " + std::to_string(index) + " depends on the data");
            numbers.push_back(wholeNumber(item.constant));
        }
        return numbers;
    }
    const Value& given = value(index);
    if (given.isNumber()) return {wholeNumber(given)};
    if (!given.isListLike()) fail("argument " + std::to_string(index) + " is not a list of numbers");
    std::vector<std::int64_t> numbers;
    for (const Value& item : given.items()) {
        if (!item.isNumber()) fail("argument " + std::to_string(index) + " is not a list of numbers");
        numbers.push_back(wholeNumber(item));
    }
    return numbers;
}

std::vector<std::int64_t> LoweredCall::spread(std::size_t index, std::size_t rank, std::int64_t fallback) const {
    std::vector<std::int64_t> numbers = integers(index);
    if (numbers.empty()) numbers.assign(rank, fallback);
    if (numbers.size() == 1) numbers.assign(rank, numbers.front());
    if (numbers.size() != rank) fail("argument " + std::to_string(index) + " does not have one number for each axis");
    return numbers;
}

std::int64_t LoweredCall::axis(std::size_t index, std::size_t rank) const {
    const std::int64_t given = integer(index), most = static_cast<std::int64_t>(rank);
    if (given < -most || given >= most) fail("invalid axis " + std::to_string(given));
    return given < 0 ? given + most : given;
}

std::vector<std::int64_t> LoweredCall::axes(std::size_t index, std::size_t rank) const {
    std::vector<std::int64_t> all = integers(index);
    if (all.empty()) {
        for (std::size_t i = 0; i < rank; ++i) all.push_back(static_cast<std::int64_t>(i));
    }
    for (std::int64_t& one : all) one += one < 0 ? static_cast<std::int64_t>(rank) : 0;
    return all;
}

TypeInfo LoweredCall::typeOf(std::size_t index) const {
    const Argument& given = argument(index);
    if (given.kind == Argument::Kind::Node) return m_graph.node(given.node).type;
    return given.kind == Argument::Kind::Constant ? TypeInfo::of(given.constant) : TypeInfo();
}

Shape LoweredCall::shapeOf(NodeId node) const {
    std::vector<std::int64_t> dims;
    const auto& shape = m_graph.node(node).type.shape;
    if (!shape) fail("a shape is unknown");
    for (const tensor::Dim& dim : *shape) dims.push_back(dim.value);
    return Shape(dims);
}

const Tensor& LoweredCall::result(std::size_t index) const {
    if (index >= m_results.size() || !m_results[index].isTensor()) fail("it returns no tensor");
    return m_results[index].tensor();
}

DType LoweredCall::widen(std::string_view name, std::vector<NodeId>& inputs) {
    if (inputs.empty() || !inputs.front().valid()) return DType::Undefined;
    const DType own = dtypeOf(inputs.front()), wide = computedAs(name, own);
    if (wide == own) return DType::Undefined;
    for (NodeId& input : inputs)
        if (input.valid() && dtypeOf(input) == own) input = cast(input, wide);
    return own;
}

std::vector<NodeId> LoweredCall::ops(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes,
                                     const std::vector<std::pair<DType, Shape>>& types) {
    if (const DType own = widen(name, inputs); own != DType::Undefined) {
        std::vector<std::pair<DType, Shape>> wide = types;
        for (auto& [dtype, shape] : wide) dtype = dtype == own ? computedAs(name, own) : dtype;
        std::vector<NodeId> made = ops(name, std::move(inputs), std::move(attributes), wide);
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = cast(made[i], types[i].first);
        return made;
    }
    Expr made;
    made.kind = ExprKind::Apply;
    made.body = m_body;
    made.scope = m_expr.scope.valid() ? m_expr.scope : m_graph.rootScope();
    made.qualname = m_expr.qualname;
    made.moduleClass = m_expr.moduleClass;
    made.source = m_expr.source;
    made.origins = m_expr.origins;
    made.op = {"", std::string(name), kOpset};
    made.target = name;
    made.attributes = std::move(attributes);
    // Without the last ones that are not given: ONNX Runtime takes Conv with an empty third input for one with a bias,
    // and optimises none of what follows.
    while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
    for (NodeId input : inputs) made.arguments.push_back(input.valid() ? Argument::of(input) : Argument::omitted());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < types.size(); ++i)
        names.push_back(freeName(m_baseName + "/" + std::string(name), names));
    made.name = names.front();
    const bool isOpen = m_opensShapes || std::ranges::any_of(inputs, [&](NodeId input) { return this->isOpen(input); });
    const graph::ExprId id = m_graph.addExpr(std::move(made), names);
    const std::vector<NodeId> outputs = m_graph.expr(id).outputs;
    for (std::size_t i = 0; i < types.size(); ++i)
        m_graph.setType(outputs[i], TypeInfo::tensor(types[i].first, types[i].second));
    if (isOpen) recordOpen(m_graph.expr(id), outputs);
    return outputs;
}

/// The first one that is free: looked for from the last number on, for a rule may make thousands.
std::string LoweredCall::freeName(const std::string& wanted, const std::vector<std::string>& others) {
    const auto isTaken = [&](const std::string& name) {
        return m_graph.findNode(name).valid() || std::ranges::find(others, name) != others.end();
    };
    std::string free = wanted;
    if (!isTaken(free)) return free;
    int& number = m_known.names[wanted];
    do free = wanted + "_" + std::to_string(++number);
    while (isTaken(free));
    return free;
}

// ---- dim sizes that depend on the data

TypeInfo LoweredCall::openTypeOf(NodeId node) const {
    const auto open = m_known.open.find(node);
    return open != m_known.open.end() ? open->second : m_graph.node(node).type;
}

void LoweredCall::recordOpen(const Expr& made, const std::vector<NodeId>& outputs) {
    const ops::OpDef* op = ops::Registry::all().find(made.op.domain, made.op.name, made.op.version);
    if (!op) fail(made.op.name + " is not known");
    std::vector<TypeInfo> types;
    std::vector<Value> constants;
    for (const Argument& input : made.arguments) {
        const bool isNode = input.kind == Argument::Kind::Node;
        types.push_back(isNode ? openTypeOf(input.node) : TypeInfo::of(Value()));
        constants.push_back(isNode ? m_graph.node(input.node).constant.value_or(Value()) : Value());
    }
    std::optional<ops::Inferred> inferred;
    if (const auto attributes = ops::completeAttributes(*op, made.attributes)) {
        if (auto found = ops::infer(*op, types, constants, *attributes, outputs.size())) inferred = std::move(*found);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const TypeInfo& own = m_graph.node(outputs[i]).type;
        const bool isKnown = inferred && i < inferred->types.size() && inferred->types[i].shape &&
                             inferred->types[i].shape->size() == own.shape->size();
        std::vector<tensor::Dim> dims =
            isKnown ? *inferred->types[i].shape : std::vector<tensor::Dim>(own.shape->size());
        bool anyOpen = false;
        for (tensor::Dim& dim : dims) {
            if (!dim.known()) dim = {};
            anyOpen = anyOpen || !dim.known();
        }
        if (anyOpen) m_known.open[outputs[i]] = TypeInfo::tensor(own.dtype, std::move(dims));
    }
}

bool LoweredCall::isOpen(NodeId node, std::size_t axis) const {
    const auto open = m_known.open.find(node);
    return open != m_known.open.end() && !open->second.shape->at(axis).known();
}

NodeId LoweredCall::sizesOf(NodeId node) {
    const Shape shape = shapeOf(node);
    if (!isOpen(node)) return integersNode(shape.dims());
    return opOf("Shape", {node}, {}, DType::Int64, Shape{static_cast<std::int64_t>(shape.rank())});
}

NodeId LoweredCall::sizeOf(NodeId node, std::size_t axis) {
    if (!isOpen(node, axis)) return integersNode({shapeOf(node)[axis]});
    const auto from = static_cast<std::int64_t>(axis);
    return opOf("Shape", {node}, {{"start", from}, {"end", from + 1}}, DType::Int64, Shape{1});
}

NodeId LoweredCall::integersOf(std::size_t index) {
    const Argument& list = argument(index);
    if (std::ranges::none_of(list.items, [](const Argument& item) { return item.kind == Argument::Kind::Node; }) &&
        list.kind != Argument::Kind::Node)
        return integersNode(integers(index));
    std::vector<Argument> items = list.items;
    if (list.kind == Argument::Kind::Node) items = {list};
    std::vector<NodeId> parts;
    for (const Argument& item : items)
        parts.push_back(reshaped(cast(tensorOf(item, DType::Int64), DType::Int64), Shape{1}));
    return parts.size() == 1 ? parts.front()
                             : opOf("Concat", parts, {{"axis", std::int64_t{0}}}, DType::Int64,
                                    Shape{static_cast<std::int64_t>(parts.size())});
}

std::optional<std::size_t> LoweredCall::openAxisIn(NodeId node, const Shape& shape) const {
    const auto open = m_known.open.find(node);
    if (open == m_known.open.end()) return std::nullopt;
    const auto product = [](const std::vector<std::int64_t>& dims, std::size_t from, std::size_t to) {
        std::int64_t all = 1;
        for (std::size_t i = from; i < to; ++i) all *= dims[i];
        return all;
    };
    const std::vector<tensor::Dim>& dims = *open->second.shape;
    const auto isUnknown = [](const tensor::Dim& dim) { return !dim.known(); };
    if (std::ranges::count_if(dims, isUnknown) != 1) return std::nullopt;
    const auto at = static_cast<std::size_t>(std::ranges::find_if(dims, isUnknown) - dims.begin());
    const std::vector<std::int64_t> from = shapeOf(node).dims(), to = shape.dims();
    const std::int64_t before = product(from, 0, at), after = product(from, at + 1, from.size());
    std::optional<std::size_t> only;
    for (std::size_t axis = 0; axis < to.size(); ++axis) {
        const std::int64_t left = product(to, 0, axis), right = product(to, axis + 1, to.size());
        if (left <= 0 || right <= 0 || before % left != 0 || after % right != 0) continue;
        if (only) return std::nullopt;
        only = axis;
    }
    return only;
}

std::vector<NodeId> LoweredCall::makeAll(std::string_view name, std::vector<NodeId> inputs,
                                         tensor::Attributes attributes, std::size_t outputs) {
    const ops::OpDef* op = ops::Registry::all().find("", name, kOpset);
    if (!op) fail(std::string(name) + " is not known");
    if (const DType own = widen(name, inputs); own != DType::Undefined) {
        std::vector<NodeId> made = makeAll(name, std::move(inputs), std::move(attributes), outputs);
        for (NodeId& each : made)
            if (dtypeOf(each) == computedAs(name, own)) each = cast(each, own);
        return made;
    }
    std::vector<TypeInfo> types;
    std::vector<Value> constants;
    for (NodeId input : inputs) {
        types.push_back(input.valid() ? m_graph.node(input).type : TypeInfo::of(Value()));
        constants.push_back(input.valid() ? m_graph.node(input).constant.value_or(Value()) : Value());
    }
    const auto complete = ops::completeAttributes(*op, attributes);
    if (!complete) fail(complete.error().what);
    const auto inferred = ops::infer(*op, types, constants, *complete, outputs);
    if (!inferred) fail(inferred.error().what);
    std::vector<std::pair<DType, Shape>> known;
    for (const TypeInfo& type : inferred->types) {
        const auto shape = type.staticShape();
        if (!shape || type.dtype == DType::Undefined)
            fail("the shape that " + std::string(name) + " returns is unknown");
        known.emplace_back(type.dtype, *shape);
    }
    return ops(name, std::move(inputs), std::move(attributes), known);
}

NodeId LoweredCall::opOf(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes, DType dtype,
                         const Shape& shape) {
    return ops(name, std::move(inputs), std::move(attributes), {{dtype, shape}}).front();
}

NodeId LoweredCall::op(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes) {
    return opOf(name, std::move(inputs), std::move(attributes), result().dtype(), result().shape());
}

NodeId LoweredCall::constant(const Tensor& value, const std::string& name) {
    const auto packed = value.contiguous();
    if (!packed) fail(packed.error().what);
    const std::pair<const void*, std::string> key{value.numel() > 0 ? value.storage().get() : nullptr,
                                                  value.typeText() + "@" + std::to_string(value.offsetElements())};
    // One weight that is read in several places stays one.
    if (key.first && value.isContiguous()) {
        if (const auto known = m_known.constants.find(key); known != m_known.constants.end()) return known->second;
    }
    Expr made;
    made.kind = ExprKind::Constant;
    made.body = m_graph.mainId();
    made.scope = m_graph.rootScope();
    made.target = name;
    made.isParameter = !name.empty();
    // Bodies read it too: it precedes the operators that own them.
    const std::string free = freeName(name.empty() ? m_baseName + "/constant" : name);
    const NodeId node =
        m_graph
            .expr(m_graph.addExpr(std::move(made), std::span(&free, 1),
                                  m_body == m_graph.mainId() ? std::nullopt : std::optional(m_graph.inputs().size())))
            .outputs.front();
    m_graph.setType(node, TypeInfo::tensor(value.dtype(), value.shape()));
    m_graph.setConstant(node, Value(*packed));
    if (key.first && value.isContiguous()) m_known.constants[key] = node;
    return node;
}

NodeId LoweredCall::integersNode(const std::vector<std::int64_t>& values) {
    return constant(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
}

NodeId LoweredCall::scalar(double value, DType dtype) { return constant(scalarOf(Value::ofFloat(value), dtype)); }

NodeId LoweredCall::filled(const Shape& shape, double value) {
    const auto typed = Tensor::of<double>(shape, std::vector<double>(static_cast<std::size_t>(shape.numel()), value))
                           .cast(result().dtype());
    if (!typed) fail(typed.error().what);
    return constant(*typed);
}

Tensor LoweredCall::scalarOf(const Value& number, DType dtype) {
    const auto typed = ops::asTensor(number, dtype);
    if (!typed) fail(typed.error().what);
    return *typed;
}

NodeId LoweredCall::cast(NodeId node, DType dtype) {
    if (dtypeOf(node) == dtype) return node;
    return opOf("Cast", {node}, {{"to", static_cast<std::int64_t>(dtype)}}, dtype, shapeOf(node));
}

NodeId LoweredCall::reshaped(NodeId node, const Shape& shape) {
    const std::optional<std::size_t> open = openAxisIn(node, shape);
    if (shapeOf(node) == shape) return node;
    std::vector<std::int64_t> dims = shape.dims();
    if (isOpen(node) && !open) fixesSizes();
    const std::int64_t rest = -1;  // whatever is left for it
    if (open) dims[*open] = rest;
    return opOf("Reshape", {node, integersNode(dims)}, {{"allowzero", std::int64_t{!open}}}, dtypeOf(node), shape);
}

NodeId LoweredCall::permuted(NodeId node, const std::vector<std::int64_t>& order) {
    const Shape from = shapeOf(node);
    std::vector<std::int64_t> dims;
    for (std::int64_t axis : order) dims.push_back(from[static_cast<std::size_t>(axis)]);
    return opOf("Transpose", {node}, {{"perm", order}}, dtypeOf(node), Shape(dims));
}

}  // namespace sonde::exporting
