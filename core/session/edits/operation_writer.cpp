#include "core/session/edits/operation_writer.h"

#include <algorithm>

#include "core/graph/edit_origin.h"
#include "core/ops/registry/registry.h"

namespace sonde::session {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr int kOpset = 18;  ///< of models that are not ONNX
// Operators take numbers as inputs from these on, and as attributes before.
constexpr int kSliceInputs = 10, kSplitInputs = 13;

int opsetOf(const InternalGraph& graph) {
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const Expr& expr = graph.expr(ExprId(i));
        if (!graph.isErased(ExprId(i)) && expr.op.domain.empty() && !expr.op.name.empty() && expr.op.version > 0)
            return expr.op.version;
    }
    return kOpset;
}

}  // namespace

OperationWriter::OperationWriter(InternalGraph& graph) : m_graph(graph), m_opset(opsetOf(graph)) {}

void OperationWriter::begin(NodeId x, std::string name, std::string edited) {
    const Expr& producer = m_graph.expr(m_graph.node(x).producer);
    m_body = producer.body;
    m_scope = producer.scope;
    m_qualname = producer.qualname;
    const auto& order = m_graph.body(m_body).order;
    m_behind = static_cast<std::size_t>(std::ranges::find(order, producer.id) - order.begin()) + 1;
    while (m_behind < order.size() && m_graph.expr(order[m_behind]).kind == graph::ExprKind::Input) ++m_behind;
    m_name = std::move(name);
    m_edited = std::move(edited);
    m_missing.clear();
    m_added.clear();
    m_made.clear();
}

void OperationWriter::finish(NodeId x, NodeId last) {
    m_graph.replaceUses(x, last);
    for (const auto& [id, arguments] : m_made) m_graph.setArguments(id, arguments);
}

void OperationWriter::takeBack() {
    for (std::size_t i = m_added.size(); i-- > 0;) m_graph.erase(m_added[i]);
    m_behind -= m_added.size();
    m_missing.clear();
    m_added.clear();
    m_made.clear();
}

bool OperationWriter::has(const char* op) const { return ops::Registry::all().find("", op, m_opset) != nullptr; }

// --- single operations ----------------------------------------------------------------------------------------------

std::vector<NodeId> OperationWriter::insert(Expr expr, const std::vector<std::string>& suffixes) {
    expr.body = m_body;
    expr.scope = m_scope;
    expr.qualname = m_qualname;
    expr.origins = {{std::string(graph::kEditOrigin), m_edited}};
    std::vector<std::string> names;
    for (const std::string& suffix : suffixes) {
        names.push_back(suffix.empty() ? m_name : m_name + '_' + suffix);
        while (m_graph.findNode(names.back()).valid()) names.back() += '_';
    }
    m_added.push_back(m_graph.addExpr(std::move(expr), names, m_behind++));
    return m_graph.expr(m_added.back()).outputs;
}

std::vector<NodeId> OperationWriter::applyMany(const char* op, const std::vector<NodeId>& arguments,
                                               const std::vector<std::string>& suffixes) {
    if (!has(op)) m_missing = op;
    Expr expr;
    expr.op = graph::OpKey{"", op, m_opset};
    expr.target = op;
    for (const NodeId argument : arguments) expr.arguments.push_back(Argument::of(argument));
    std::vector<Argument> given = expr.arguments;
    std::vector<NodeId> nodes = insert(std::move(expr), suffixes);
    m_made.emplace_back(m_graph.node(nodes.front()).producer, std::move(given));
    return nodes;
}

NodeId OperationWriter::apply(const char* op, const std::vector<NodeId>& arguments, const std::string& suffix) {
    return applyMany(op, arguments, {suffix}).front();
}

tensor::Attributes& OperationWriter::attributesOf(NodeId made) {
    return m_graph.mutableExpr(m_graph.node(made).producer).attributes;
}

NodeId OperationWriter::constant(const Tensor& value, const std::string& suffix) {
    Expr expr;
    expr.kind = graph::ExprKind::Constant;
    const NodeId node = insert(std::move(expr), {suffix}).front();
    m_graph.setConstant(node, Value(value));
    m_graph.setType(node, tensor::TypeInfo::of(Value(value)));
    return node;
}

NodeId OperationWriter::row(const std::vector<std::int64_t>& numbers, const std::string& suffix) {
    return constant(Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers), suffix);
}

NodeId OperationWriter::number(std::int64_t value, const std::string& suffix) {
    return constant(Tensor::scalar<std::int64_t>(value), suffix);
}

NodeId OperationWriter::cast(NodeId x, DType dtype, const std::string& suffix) {
    const NodeId made = apply("Cast", {x}, suffix);
    attributesOf(made).set("to", static_cast<std::int64_t>(dtype));
    return made;
}

NodeId OperationWriter::gathered(NodeId x, NodeId order, std::int64_t axis, const std::string& suffix) {
    const NodeId made = apply("Gather", {x, order}, suffix);
    attributesOf(made).set("axis", axis);
    return made;
}

NodeId OperationWriter::scattered(NodeId x, NodeId at, NodeId updates, const std::string& suffix) {
    return apply(has("ScatterElements") ? "ScatterElements" : "Scatter", {x, at, updates}, suffix);
}

NodeId OperationWriter::joined(NodeId first, NodeId second, const std::string& suffix) {
    const NodeId made = apply("Concat", {first, second}, suffix);
    attributesOf(made).set("axis", std::int64_t{0});
    return made;
}

// --- several
// ----------------------------------------------------------------------------------------------------------

/// Where there is no Range: the places of so many ones.
NodeId OperationWriter::range(NodeId end) {
    if (has("Range")) return apply("Range", {number(0, "zero"), end, number(1, "one")}, "range");
    const NodeId ones = apply("Expand", {number(1, "one"), flat(end, "end")}, "ones");
    return flat(apply("NonZero", {ones}, "places"), "range");
}

NodeId OperationWriter::dimOf(NodeId of, std::size_t axis) {
    return gathered(apply("Shape", {of}, "size"), number(static_cast<std::int64_t>(axis), "axis"), 0, "dim");
}

NodeId OperationWriter::flat(NodeId x, const std::string& suffix) {
    return apply("Reshape", {x, row({-1}, "row")}, suffix);
}

NodeId OperationWriter::reshaped(NodeId x, const Shape& shape, const std::string& suffix) {
    return apply("Reshape", {x, row({shape.begin(), shape.end()}, "shape")}, suffix);
}

/// From the last axis on, as those that are gone move none before them.
NodeId OperationWriter::sliced(NodeId x, const SliceSteps& steps) {
    using Numbers = std::vector<std::int64_t>;
    for (std::size_t axis = steps.axes.size(); axis-- > 0;) {
        const SliceStep& step = steps.axes[axis];
        const auto at = static_cast<std::int64_t>(axis);
        if (step.isIndex) {
            x = gathered(x, number(step.start, "index"), at, "selected");
        } else if (!step.isAll() && m_opset >= kSliceInputs) {
            x = apply(
                "Slice",
                {x, row({step.start}, "start"), row({step.end}, "end"), row({at}, "axis"), row({step.step}, "step")},
                "sliced");
        } else if (!step.isAll()) {
            x = apply("Slice", {x}, "sliced");
            attributesOf(x).set("starts", Numbers{step.start});
            attributesOf(x).set("ends", Numbers{step.end});
            attributesOf(x).set("axes", Numbers{at});
            if (step.step != 1) m_missing = "Slice with steps";
        }
    }
    return x;
}

/// Concatenated, they have the same dims but for the first, which is checked by taking them apart again.
std::pair<NodeId, NodeId> OperationWriter::checked(NodeId x, NodeId other, const Shape& shape) {
    if (shape.rank() == 0) return {reshaped(x, shape, "checked"), other};
    const std::vector<std::int64_t> sizes{shape[0], shape[0]};
    std::vector<NodeId> arguments{joined(x, other, "both")};
    const bool hasInput = m_opset >= kSplitInputs;
    if (hasInput) arguments.push_back(row(sizes, "sizes"));
    const std::vector<NodeId> parts = applyMany("Split", arguments, {"checked", "other"});
    attributesOf(parts.front()).set("axis", std::int64_t{0});
    if (!hasInput) attributesOf(parts.front()).set("split", sizes);
    return {parts[0], parts[1]};
}

}  // namespace sonde::session
