#include "core/analysis/weights/weight_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/analysis/weight_positions.h"
#include "core/graph/traits.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using tensor::Tensor;

namespace {

constexpr int kMaxChain = 8;  ///< operations between a weight and what takes it for one

/// As countParameters() tells tensors apart: by their memory, which it does not read.
using Memory = std::tuple<const tensor::Storage*, std::int64_t, tensor::DType, std::int64_t>;

std::optional<Memory> memoryOf(const Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0) return std::nullopt;
    return Memory(tensor.storage().get(), tensor.offsetElements(), tensor.dtype(), tensor.numel());
}

const Tensor* constantOf(const InternalGraph& graph, const Argument& argument) {
    if (argument.kind == Argument::Kind::Constant && argument.constant.isTensor()) return &argument.constant.tensor();
    if (argument.kind != Argument::Kind::Node) return nullptr;
    const auto& constant = graph.node(argument.node).constant;
    return constant && constant->isTensor() ? &constant->tensor() : nullptr;
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return text;
}

/// What the operator calls its inputs, in lower case.
std::vector<std::string> inputNames(const Expr& expr) {
    std::vector<std::string> names;
    const ops::OpDef* def = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!def) return names;
    for (const ops::Formal& input : def->inputs) names.push_back(lower(std::string(input.name)));
    if (names.empty())
        for (const ops::Parameter& parameter : def->parameters) names.push_back(lower(std::string(parameter.name)));
    return names;
}

/// The stored tensor at the input whose name is that of input `index` and `suffix`: "w_scale" of "w".
const Tensor* besideInput(const InternalGraph& graph, const Expr& expr, std::size_t index, std::string_view suffix) {
    const std::vector<std::string> names = inputNames(expr);
    if (index >= names.size()) return nullptr;
    const auto at =
        static_cast<std::size_t>(std::ranges::find(names, names[index] + std::string(suffix)) - names.begin());
    return at < std::min(names.size(), expr.arguments.size()) ? constantOf(graph, expr.arguments[at]) : nullptr;
}

std::vector<double> numbersOf(const Tensor& tensor) {
    std::vector<double> numbers(static_cast<std::size_t>(tensor.numel()));
    WeightReader(tensor).read(0, numbers);
    return numbers;
}

/// The axis of a quantised weight that scales go along: what the operator says, filters of convolutions, columns of
/// products.
std::int64_t scaleAxis(const Expr& expr, std::int64_t rank) {
    const operators::Traits& traits = graph::traitsOf(expr);
    const bool isDequantize = traits.opClass == OpClass::Dequantize;
    const std::int64_t axis = isDequantize                             ? expr.attributes.getInt("axis", 1)
                              : traits.is(operators::Trait::Convolves) ? 0
                                                                       : rank - 1;
    return axis < 0 ? axis + rank : axis;
}

/// What the integers at input `index` stand for; null if the operator has no stored scale for them, or one that does
/// not go with their shape.
std::shared_ptr<const WeightScale> scaleAt(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                           const tensor::Shape& shape) {
    const Tensor* scales = besideInput(graph, expr, index, "_scale");
    const Tensor* zeros = besideInput(graph, expr, index, "_zero_point");
    if (!scales || !tensor::isFloating(scales->dtype()) || scales->numel() == 0) return nullptr;
    if (zeros && zeros->numel() != scales->numel()) return nullptr;
    WeightScale scale;
    if (scales->numel() > 1) {
        const auto rank = static_cast<std::int64_t>(shape.rank());
        const std::int64_t axis = scaleAxis(expr, rank);
        if (axis < 0 || axis >= rank) return nullptr;
        scale.dim = shape[static_cast<std::size_t>(axis)];
        for (auto i = static_cast<std::size_t>(axis) + 1; i < shape.rank(); ++i) scale.inner *= shape[i];
        const std::int64_t block = expr.attributes.getInt("block_size", 0);
        scale.isBlocked = block > 1;
        scale.block =
            std::clamp<std::int64_t>(block, 1, std::max<std::int64_t>(scale.dim, 1));  // a file may say anything
        tensor::Shape blocked = shape;
        blocked[static_cast<std::size_t>(axis)] = (scale.dim + scale.block - 1) / scale.block;
        const bool fits = scale.isBlocked ? scales->shape() == blocked : scales->numel() == scale.dim;
        if (!fits || scale.dim == 0) return nullptr;
    }
    scale.scales = numbersOf(*scales);
    if (zeros) scale.zeros = numbersOf(*zeros);
    return std::make_shared<const WeightScale>(std::move(scale));
}

/// What a cast makes of a value, if something reads it; else none.
NodeId castOf(const InternalGraph& graph, const Expr& expr, NodeId of) {
    const bool isCast = graph::traitsOf(expr).opClass == OpClass::Cast && expr.outputs.size() == 1 &&
                        !expr.inputs.empty() && expr.inputs.front() == of;
    return isCast && !graph.node(expr.outputs.front()).users.empty() ? expr.outputs.front() : NodeId();
}

bool isCall(const Expr& expr) { return !expr.bodies.empty() && expr.op.name.empty(); }

/// Swaps the two dimensions of a matrix.
bool isFlip(const Expr& expr, const tensor::Shape& shape) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (shape.rank() != 2) return false;
    if (traits.opClass == OpClass::Transpose && expr.op.domain != "aten") {
        const std::vector<std::int64_t> order = expr.attributes.getInts("perm");
        return order.empty() || order == std::vector<std::int64_t>{1, 0};
    }
    return traits.form == operators::ViewForm::Transpose;
}

class RowMaker {
  public:
    RowMaker(const InternalGraph& graph, const graph::ModuleTree& modules) : m_graph(graph), m_modules(modules) {
        for (const graph::ModuleInfo& module : modules.modules())
            for (const graph::ParameterInfo& parameter : module.parameters)
                m_registered.emplace(module.qualname.empty() ? parameter.name : module.qualname + '.' + parameter.name,
                                     &parameter);
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
            const graph::Node& node = graph.node(NodeId(i));
            if (!node.id.valid() || graph.isErased(node.producer) || !isStored(graph.expr(node.producer))) continue;
            m_nodeByName.emplace(node.name, node.id);
            if (graph.expr(node.producer).isParameter) m_nodeByName.emplace(graph.expr(node.producer).target, node.id);
            const auto memory =
                node.constant && node.constant->isTensor() ? memoryOf(node.constant->tensor()) : std::nullopt;
            if (memory) m_nodesOf[*memory].push_back(node.id);
        }
    }

    WeightRow make(const StoredTensor& stored) {
        WeightRow row;
        row.names = stored.names;
        row.name = stored.names.empty() ? std::string() : stored.names.front();
        row.kind = stored.kind;
        row.module = stored.modules.empty() ? 0 : stored.modules.front();
        row.qualname = m_modules.module(row.module).qualname;
        row.elements = stored.size.elements;
        row.bytes = stored.size.bytes;
        findValue(row);
        const std::vector<NodeId> nodes = nodesOf(row);
        if (!nodes.empty()) row.node = nodes.front();
        std::set<ExprId> users;
        for (const NodeId node : nodes) {
            addUsers(row, node, users);
            if (!row.scale && !row.filters) follow(row, node, row.shape, false, kMaxChain);
        }
        if (row.scale) row.note = "quantised: figures are of (stored \u2212 zero point)\u00b7scale";
        if (tensor::isComplex(row.dtype)) row.note = "complex: figures are of the magnitudes";
        if (row.value.defined() && row.value.numel() != row.elements)
            row.note = "several weights in a byte: figures are of the bytes";
        return row;
    }

  private:
    void findValue(WeightRow& row) const {
        for (const std::string& name : row.names)
            if (const auto found = m_registered.find(name); found != m_registered.end())
                return take(row, found->second->value, found->second->type);
        for (const std::string& name : row.names)
            if (const auto node = m_nodeByName.find(name); node != m_nodeByName.end()) {
                const graph::Node& found = m_graph.node(node->second);
                std::optional<Tensor> value;
                if (found.constant && found.constant->isTensor()) value = found.constant->tensor();
                return take(row, value, found.type);
            }
    }

    static void take(WeightRow& row, const std::optional<Tensor>& value, const tensor::TypeInfo& type) {
        row.dtype = value ? value->dtype() : type.dtype;
        if (value) row.value = *value;
        row.shape = value ? value->shape() : type.staticShape().value_or(tensor::Shape());
    }

    /// All nodes that are its memory; without a value those of its names.
    std::vector<NodeId> nodesOf(const WeightRow& row) const {
        if (const auto memory = memoryOf(row.value)) {
            const auto found = m_nodesOf.find(*memory);
            return found == m_nodesOf.end() ? std::vector<NodeId>() : found->second;
        }
        std::vector<NodeId> nodes;
        for (const std::string& name : row.names)
            if (const auto node = m_nodeByName.find(name);
                node != m_nodeByName.end() && std::ranges::find(nodes, node->second) == nodes.end())
                nodes.push_back(node->second);
        return nodes;
    }

    /// Called modules and functions hand it on to what is inside of them, casts to what reads their result.
    void addUsers(WeightRow& row, NodeId node, std::set<ExprId>& users) const {
        std::set<NodeId> seen{node};
        std::vector<NodeId> pending{node};
        while (!pending.empty()) {
            const NodeId at = pending.back();
            pending.pop_back();
            for (const ExprId user : m_graph.node(at).users) {
                const Expr& expr = m_graph.expr(user);
                if (expr.kind == graph::ExprKind::Output) continue;
                if (const NodeId cast = castOf(m_graph, expr, at); cast.valid()) {
                    if (seen.insert(cast).second) pending.push_back(cast);
                    continue;
                }
                if (!isCall(expr)) {
                    if (users.insert(user).second) row.users.push_back(user);
                    continue;
                }
                const auto& inside = m_graph.body(expr.bodies.front()).inputs;
                for (std::size_t i = 0; i < std::min(inside.size(), expr.inputs.size()); ++i)
                    if (expr.inputs[i] == at && seen.insert(inside[i]).second) pending.push_back(inside[i]);
            }
        }
    }

    /// Goes on through what hands the weight on as it is, to the operation that takes it for a kernel.
    void follow(WeightRow& row, NodeId node, const tensor::Shape& shape, bool isFlipped, int left) {
        if (left == 0) return;
        for (const ExprId user : m_graph.node(node).users) {
            const Expr& expr = m_graph.expr(user);
            if (isCall(expr)) {
                const auto& inside = m_graph.body(expr.bodies.front()).inputs;
                for (std::size_t i = 0; i < std::min(inside.size(), expr.inputs.size()); ++i)
                    if (expr.inputs[i] == node) follow(row, inside[i], shape, isFlipped, left - 1);
                continue;
            }
            for (std::size_t i = 0; i < expr.arguments.size(); ++i)
                if (expr.arguments[i].kind == Argument::Kind::Node && expr.arguments[i].node == node)
                    use(row, expr, i, shape, isFlipped, left);
            if (row.filters) return;
        }
    }

    void use(WeightRow& row, const Expr& expr, std::size_t index, const tensor::Shape& shape, bool isFlipped,
             int left) {
        const WeightPosition position = weightPosition(expr, index);
        const bool isWhole = !isFlipped && row.shape == shape;
        const bool isQuantized = tensor::isInteger(row.dtype) || tensor::bitsInFile(row.dtype) <= 8;
        if (!row.scale && isWhole && isQuantized) row.scale = scaleAt(m_graph, expr, index, shape);
        if (position == WeightPosition::Through || graph::traitsOf(expr).form == operators::ViewForm::Transpose) {
            if (expr.outputs.size() != 1 || index > 0) return;
            const bool flips = isFlip(expr, shape);
            const operators::Traits& traits = graph::traitsOf(expr);
            if (!flips && (traits.opClass == OpClass::Transpose || traits.opClass == OpClass::Reshape)) return;
            follow(row, expr.outputs.front(), flips ? tensor::Shape{shape[1], shape[0]} : shape, isFlipped != flips,
                   left - 1);
            return;
        }
        if (position != WeightPosition::Weight && position != WeightPosition::Quantized) return;
        const bool isRecurrent = graph::traitsOf(expr).opClass == OpClass::Recurrent && expr.op.domain != "aten";
        if (isRecurrent && isWhole && !row.scale && shape.rank() == 3) row.matrices = shape[0];
        std::optional<FilterLayout> layout = filterLayout(expr, index, shape);
        if (!layout) return;
        // [filters, features] and [features, filters]
        if (isFlipped)
            layout = layout->outer == 1 ? FilterLayout{1, layout->inner, layout->filters, 1}
                                        : FilterLayout{1, 1, layout->filters, layout->outer};
        row.filters = layout;
    }

    const InternalGraph& m_graph;
    const graph::ModuleTree& m_modules;
    std::map<Memory, std::vector<NodeId>> m_nodesOf;
    std::unordered_map<std::string, NodeId> m_nodeByName;
    std::unordered_map<std::string, const graph::ParameterInfo*> m_registered;
};

}  // namespace

std::vector<WeightRow> weightRows(const InternalGraph& graph, const graph::ModuleTree& modules,
                                  const ModelCounts& counts) {
    RowMaker maker(graph, modules);
    std::vector<WeightRow> rows;
    for (const StoredTensor& stored : counts.tensors)
        if (stored.kind != StoredKind::Constant || isUnused(stored)) rows.push_back(maker.make(stored));
    return rows;
}

bool isUnused(const StoredTensor& tensor) {
    if (tensor.reader.valid() || tensor.isResult || tensor.names.empty()) return false;
    return tensor.kind != StoredKind::Buffer || tensor.size.elements > 1;
}

std::string_view kindName(const WeightRow& row) {
    switch (row.kind) {
        case StoredKind::Buffer: return "buffer";
        case StoredKind::Constant: return "constant";
        case StoredKind::Parameter: break;
    }
    return "parameter";
}

}  // namespace sonde::analysis
