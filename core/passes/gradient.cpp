#include "core/passes/gradient.h"

#include <algorithm>
#include <set>

#include "core/graph/traits.h"
#include "core/passes/gradient_builder.h"

namespace sonde::passes {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

GradientBuilder::GradientBuilder(InternalGraph& graph, ExprId gradient) : m_graph(graph), m_gradient(gradient) {
    for (ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        if (expr.op.domain.empty() && !expr.op.name.empty()) m_version = std::max(m_version, expr.op.version);
    }
}

Expr GradientBuilder::blank() const {
    if (!m_gradient.valid()) {
        Expr expr;
        expr.body = m_graph.mainId();
        expr.scope = m_graph.rootScope();
        return expr;
    }
    const Expr& gradient = m_graph.expr(m_gradient);
    Expr expr;
    expr.body = gradient.body;
    expr.scope = gradient.scope;
    expr.qualname = gradient.qualname;
    expr.moduleClass = gradient.moduleClass;
    expr.origins = gradient.origins;
    return expr;
}

std::string GradientBuilder::freeName(const std::string& wanted) {
    int& count = m_names[wanted];
    std::string name = wanted + (count == 0 ? std::string() : "_" + std::to_string(count));
    for (++count; m_graph.findNode(name).valid(); ++count) name = wanted + "_" + std::to_string(count);
    return name;
}

std::size_t GradientBuilder::position() const {
    const auto& order = m_graph.main().order;
    if (!m_gradient.valid()) return order.size();
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), m_gradient) - order.begin());
}

NodeId GradientBuilder::insert(Expr expr, std::string_view name) {
    const std::string unique = freeName(std::string(name));
    return m_graph.expr(m_graph.addExpr(std::move(expr), std::span(&unique, 1), position())).outputs.front();
}

std::vector<NodeId> GradientBuilder::make(graph::OpKey op, std::vector<NodeId> inputs, tensor::Attributes attributes,
                                          std::size_t outputs) {
    if (m_problem.empty() && std::ranges::any_of(inputs, [](NodeId input) { return !input.valid(); }))
        fail(op.name + " is missing an input");
    if (!m_problem.empty()) return std::vector<NodeId>(outputs);
    Expr expr = blank();
    expr.kind = ExprKind::Apply;
    expr.target = op.name;
    expr.op = std::move(op);
    expr.attributes = std::move(attributes);
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    return insertCall(std::move(expr), outputs);
}

/// The dtype of what an operator gives for floating-point numbers, where it gives such: rules make numbers of it.
DType GradientBuilder::floatingResult(const Expr& expr) const {
    static const std::set<std::string_view> kOthers{"Shape", "Size", "Equal", "Greater", "Less", "And", "Not", "Range"};
    if (expr.op.name == "Cast") return static_cast<DType>(expr.attributes.getInt("to", 0));
    if (kOthers.contains(expr.op.name)) return DType::Undefined;
    for (const Argument& argument : expr.arguments) {
        if (argument.kind != Argument::Kind::Node) continue;
        const DType dtype = m_graph.node(argument.node).type.dtype;
        if (tensor::isFloating(dtype)) return dtype;
    }
    return DType::Undefined;
}

std::vector<NodeId> GradientBuilder::insertCall(Expr expr, std::size_t outputs) {
    const DType dtype = floatingResult(expr);
    const std::string wanted = "gradient/" + expr.op.name;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i)
        names.push_back(freeName(outputs == 1 ? wanted : wanted + ":" + std::to_string(i)));
    const std::vector<NodeId> made = m_graph.expr(m_graph.addExpr(std::move(expr), names, position())).outputs;
    if (dtype == DType::Undefined) return made;
    tensor::TypeInfo type;
    type.kind = tensor::ValueKind::Tensor;
    type.dtype = dtype;
    for (const NodeId node : made) m_graph.setType(node, type);
    return made;
}

NodeId GradientBuilder::sized(NodeId node, const std::vector<std::int64_t>& dims) {
    if (node.valid()) m_graph.setType(node, tensor::TypeInfo::tensor(m_graph.node(node).type.dtype, Shape(dims)));
    return node;
}

NodeId GradientBuilder::like(const Expr& original, const std::vector<NodeId>& inputs, tensor::Attributes attributes) {
    if (!m_problem.empty()) return {};
    Expr expr = blank();
    expr.kind = ExprKind::Apply;
    expr.target = original.target;
    expr.op = original.op;
    expr.attributes = std::move(attributes);
    for (NodeId input : inputs) expr.arguments.push_back(input.valid() ? Argument::of(input) : Argument::omitted());
    return insertCall(std::move(expr), 1).front();
}

NodeId GradientBuilder::constant(Tensor value) {
    if (!m_problem.empty()) return {};
    Expr expr = blank();
    expr.kind = ExprKind::Constant;
    const tensor::TypeInfo type = tensor::TypeInfo::tensor(value.dtype(), value.shape());
    const NodeId node = insert(std::move(expr), "gradient/constant");
    m_graph.setType(node, type);
    m_graph.setConstant(node, tensor::Value(std::move(value)));
    return node;
}

NodeId GradientBuilder::number(double value, NodeId like) {
    const DType dtype = like.valid() ? m_graph.node(like).type.dtype : DType::Undefined;
    auto typed = Tensor::scalar<double>(value).cast(dtype == DType::Undefined ? DType::Float32 : dtype);
    if (!typed) fail(typed.error().what);
    return typed ? constant(std::move(*typed)) : NodeId{};
}

NodeId GradientBuilder::integers(const std::vector<std::int64_t>& values) {
    return constant(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
}

NodeId GradientBuilder::filled(NodeId x, double value, DType dtype) {
    if (const DType known = m_graph.node(x).type.dtype; known != DType::Undefined) dtype = known;
    const auto one = Tensor::of<double>({1}, {value}).cast(dtype == DType::Undefined ? DType::Float32 : dtype);
    if (!one) fail(one.error().what);
    return one ? op("ConstantOfShape", {shapeOf(x)}, {{"value", *one}}) : NodeId{};
}

NodeId GradientBuilder::reduced(std::string_view name, NodeId x, const std::vector<std::int64_t>& axes) {
    const bool asInput = m_version >= (name == "ReduceSum" ? 13 : 18);
    if (asInput) return op(name, {x, integers(axes)}, {{"keepdims", std::int64_t{1}}});
    return op(name, {x}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
}

NodeId GradientBuilder::unsqueezed(NodeId x, std::int64_t axis) {
    if (m_version >= 13) return op("Unsqueeze", {x, integers({axis})});
    const auto rank = rankOf(x);
    if (axis < 0 && !rank) fail("the rank of " + m_graph.node(x).name + " is unknown");
    return op("Unsqueeze", {x},
              {{"axes",
                std::vector<std::int64_t>{axis < 0 ? axis + static_cast<std::int64_t>(rank.value_or(0)) + 1 : axis}}});
}

NodeId GradientBuilder::transposed(NodeId x) {
    const auto rank = rankOf(x);
    if (!rank || *rank < 2) {
        fail("the rank of '" + m_graph.node(x).name + "' is unknown");
        return {};
    }
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < *rank; ++i) order.push_back(static_cast<std::int64_t>(i));
    std::swap(order[*rank - 1], order[*rank - 2]);
    return op("Transpose", {x}, {{"perm", order}});
}

NodeId GradientBuilder::castLike(NodeId x, NodeId like) {
    if (!x.valid() || !like.valid()) return x;
    const DType own = m_graph.node(x).type.dtype, other = m_graph.node(like).type.dtype;
    if (own == other || own == DType::Undefined || other == DType::Undefined) return x;
    return op("Cast", {x}, {{"to", static_cast<std::int64_t>(other)}});
}

NodeId GradientBuilder::summedTo(NodeId g, NodeId x, NodeId like) {
    if (!g.valid() || !x.valid()) return {};
    const auto own = dimSizesOf(x), given = dimSizesOf(like);
    if (own && given && *own == *given) return g;
    return prim("grad_sum_to", {g, x}, {}, 1).front();
}

std::optional<std::size_t> GradientBuilder::rankOf(NodeId node) const {
    const auto& shape = m_graph.node(node).type.shape;
    return shape ? std::optional(shape->size()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> GradientBuilder::dimSizesOf(NodeId node) const {
    const auto& shape = m_graph.node(node).type.shape;
    if (!shape) return std::nullopt;
    std::vector<std::int64_t> dimSizes;
    for (const tensor::Dim& dim : *shape) {
        if (!dim.known()) return std::nullopt;
        dimSizes.push_back(dim.value);
    }
    return dimSizes;
}

void GradientBuilder::give(NodeId node, NodeId gradient) {
    if (!gradient.valid() || !node.valid()) return;
    if (!m_graph.node(gradient).type.shape) m_graph.setType(gradient, m_graph.node(node).type);
    NodeId& sum = m_gradients[node];
    sum = sum.valid() ? add(sum, gradient) : gradient;
    if (sum.valid() && !m_graph.node(sum).type.shape) m_graph.setType(sum, m_graph.node(node).type);
}

NodeId GradientBuilder::gradientOf(NodeId node) const {
    const auto found = m_gradients.find(node);
    return found == m_gradients.end() ? NodeId{} : found->second;
}

void GradientBuilder::copy(const Expr& original, std::map<NodeId, NodeId>& standIns) {
    const Expr expr = original;
    if (!expr.bodies.empty()) return fail("'" + expr.op.name + "' contains graphs");
    Expr made = blank();
    made.kind = expr.kind;
    made.op = expr.op;
    made.target = expr.target;
    made.attributes = expr.attributes;
    made.origins = expr.origins;
    made.arguments = expr.arguments;
    for (Argument& argument : made.arguments) {
        argument.forEachNode([&](NodeId& node) {
            if (const auto found = standIns.find(node); found != standIns.end()) node = found->second;
        });
    }
    std::vector<std::string> names;
    for (NodeId output : expr.outputs) names.push_back(freeName("gradient/" + m_graph.node(output).name));
    const std::vector<NodeId> outputs = m_graph.expr(m_graph.addExpr(std::move(made), names, position())).outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        standIns[expr.outputs[i]] = outputs[i];
        m_graph.setType(outputs[i], m_graph.node(expr.outputs[i]).type);
    }
}

namespace {

/// The part of the main body that ys need and that depends on one of `sources`, in order; without what lies before
/// them.
std::vector<ExprId> exprsBetween(const InternalGraph& graph, const std::set<NodeId>& sources,
                                 const std::vector<NodeId>& ys) {
    std::set<NodeId> dependent = sources;
    std::vector<ExprId> order;
    for (ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        const bool depends = std::any_of(expr.inputs.begin(), expr.inputs.end(),
                                         [&](NodeId input) { return dependent.contains(input); });
        const bool isSource = std::any_of(expr.outputs.begin(), expr.outputs.end(),
                                          [&](NodeId output) { return sources.contains(output); });
        if (!depends || isSource) continue;
        dependent.insert(expr.outputs.begin(), expr.outputs.end());
        order.push_back(id);
    }
    std::set<NodeId> needed(ys.begin(), ys.end());
    std::vector<ExprId> result;
    for (std::size_t i = order.size(); i-- > 0;) {
        const Expr& expr = graph.expr(order[i]);
        if (std::none_of(expr.outputs.begin(), expr.outputs.end(),
                         [&](NodeId output) { return needed.contains(output); }))
            continue;
        needed.insert(expr.inputs.begin(), expr.inputs.end());
        result.push_back(order[i]);
    }
    std::reverse(result.begin(), result.end());
    return result;
}

bool isReal(const InternalGraph& graph, NodeId node) {
    const DType dtype = graph.node(node).type.dtype;
    return dtype == DType::Undefined || tensor::isFloating(dtype);
}

std::string operatorName(const Expr& expr) {
    return expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
}

/// Operators of a list that have no rule, each once.
std::string withoutRule(const InternalGraph& graph, const std::vector<ExprId>& exprs) {
    std::set<std::string> names;
    for (ExprId id : exprs) {
        const Expr& expr = graph.expr(id);
        const bool real =
            std::any_of(expr.outputs.begin(), expr.outputs.end(), [&](NodeId output) { return isReal(graph, output); });
        if (real && !findGradientRule(expr)) names.insert(operatorName(expr));
    }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Empty if it worked.
std::string expandOne(InternalGraph& graph, ExprId id, std::vector<NodeId>& results) {
    const Expr gradient = graph.expr(id);
    const auto names = [&](const char* attribute) { return gradient.attributes.getStrings(attribute); };
    std::vector<NodeId> named;
    for (const char* attribute : {"xs", "zs"}) {
        for (const std::string& name : names(attribute)) named.push_back(graph.findNode(name));
    }
    const std::size_t count = names("xs").size();
    const std::string yName = gradient.attributes.getString("y", "");
    NodeId y = graph.findNode(yName);
    if (!y.valid()) return "no such tensor '" + yName + "'";
    if (std::any_of(named.begin(), named.end(), [](NodeId node) { return !node.valid(); }))
        return "a tensor named in xs or zs does not exist";
    if (gradient.inputs.size() != named.size() || gradient.arguments.size() != named.size() ||
        gradient.outputs.size() > count || count == 0) {
        return "the number of its inputs does not match xs and zs";
    }
    std::vector<ExprId> forward = exprsBetween(graph, std::set<NodeId>(named.begin(), named.end()), {y});
    for (ExprId inner : forward) {
        if (inner == id) return "it depends on itself";
    }
    if (const std::string missing = withoutRule(
            graph, exprsBetween(graph, {named.begin(), named.begin() + static_cast<std::ptrdiff_t>(count)}, {y}));
        !missing.empty()) {
        return "these operators have no rule for their derivative: " + missing;
    }
    GradientBuilder builder(graph, id);
    // Other values at the same tensors: the part in between is computed again on them.
    std::map<NodeId, NodeId> standIns;
    for (std::size_t i = 0; i < named.size(); ++i) {
        if (gradient.inputs[i] != named[i]) standIns[named[i]] = gradient.inputs[i];
    }
    if (!standIns.empty()) {
        for (ExprId inner : forward) builder.copy(graph.expr(inner), standIns);
        if (!builder.problem().empty()) return builder.problem();
        if (standIns.contains(y)) y = standIns[y];
    }
    const std::vector<NodeId> xs(gradient.inputs.begin(), gradient.inputs.begin() + static_cast<std::ptrdiff_t>(count));
    const std::set<NodeId> stops(gradient.inputs.begin(), gradient.inputs.end());
    std::vector<ExprId> backward = exprsBetween(graph, std::set<NodeId>(xs.begin(), xs.end()), {y});
    const bool isScalar = builder.rankOf(y) == std::size_t{0};
    builder.give(y, isScalar ? builder.number(1, y) : builder.filled(y, 1));
    std::erase_if(backward, [&](ExprId inner) {
        return std::ranges::any_of(graph.expr(inner).outputs, [&](NodeId output) { return stops.contains(output); });
    });
    builder.differentiate(backward);
    for (std::size_t i = 0; i < gradient.outputs.size() && builder.problem().empty(); ++i) {
        NodeId made = builder.gradientOf(xs[i]);
        if (!made.valid()) made = builder.filled(xs[i], 0);
        // One node for each output, so that each can have its name.
        made = builder.op("Identity", {made});
        if (!builder.problem().empty()) break;
        graph.setType(made, graph.node(xs[i]).type);
        graph.replaceUses(gradient.outputs[i], made);
        results.push_back(made);
    }
    return builder.problem();
}

}  // namespace

void GradientBuilder::differentiate(const std::vector<ExprId>& exprs) {
    for (std::size_t i = exprs.size(); i-- > 0 && m_problem.empty();) {
        const Expr expr = m_graph.expr(exprs[i]);
        const bool isReached = std::ranges::any_of(
            expr.outputs, [&](NodeId output) { return gradientOf(output).valid() && isReal(m_graph, output); });
        const auto isComplexOne = [&](NodeId node) { return tensor::isComplex(m_graph.node(node).type.dtype); };
        const bool isOfComplex = std::ranges::any_of(
            expr.outputs, [&](NodeId output) { return gradientOf(output).valid() && isComplexOne(output); });
        // Never silently without a gradient.
        if (isOfComplex || (isReached && std::ranges::any_of(expr.inputs, isComplexOne)))
            return fail("'" + operatorName(expr) + "' has no rule for its derivative on complex numbers");
        if (!isReached || expr.inputs.empty()) continue;
        const GradientRule* const rule = findGradientRule(expr);
        if (rule) (*rule)(*this, expr);
        else fail("'" + operatorName(expr) + "' has no rule for its derivative");
    }
}

bool hasGradientRule(const Expr& expr) { return findGradientRule(expr) != nullptr; }

base::Result<std::vector<NodeId>> appendGradients(InternalGraph& graph, std::span<const NodeGradient> given,
                                                  std::span<const NodeId> xs) {
    constexpr int kVersion = 18;
    std::vector<NodeId> starts;
    for (const NodeGradient& one : given) starts.push_back(one.node);
    const std::vector<ExprId> backward = exprsBetween(graph, {xs.begin(), xs.end()}, starts);
    GradientBuilder builder(graph, kVersion);
    for (const NodeGradient& one : given) builder.give(one.node, one.gradient);
    builder.differentiate(backward);
    if (!builder.problem().empty()) return base::usageError(builder.problem());
    std::vector<NodeId> results;
    for (const NodeId x : xs) {
        const NodeId gradient = builder.gradientOf(x);
        results.push_back(gradient.valid() ? builder.op("Identity", {gradient}) : NodeId());
    }
    return results;
}

std::size_t expandGradients(InternalGraph& graph, base::Diagnostics& findings) {
    std::size_t count = 0;
    const std::vector<ExprId> order = graph.main().order;
    for (ExprId id : order) {
        const Expr expr = graph.expr(id);
        if (graph::traitsOf(expr).opClass != operators::OpClass::Gradient) continue;
        InternalGraph changed = graph;
        std::vector<std::string> names;
        for (NodeId output : expr.outputs) names.push_back(graph.node(output).name);
        std::vector<NodeId> results;
        if (const std::string problem = expandOne(changed, id, results); !problem.empty()) {
            findings.push_back({base::Severity::Warning, "the gradient cannot be computed: " + problem,
                                names.empty() ? expr.name : "node '" + names.front() + "'",
                                "the nodes before it can be run: set end points"});
            continue;
        }
        changed.erase(id);
        for (std::size_t i = 0; i < names.size(); ++i) (void)changed.rename(results[i], names[i]);
        graph = std::move(changed);
        ++count;
    }
    return count;
}

}  // namespace sonde::passes
