#include "core/session/diff/parameter_layout.h"

#include <algorithm>

#include "core/graph/traits.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;

namespace {

bool isStored(const InternalGraph& graph, NodeId node) {
    const ExprKind kind = graph.expr(graph.node(node).producer).kind;
    return kind == ExprKind::Constant || kind == ExprKind::GetAttr;
}

bool isTransposition(const InternalGraph& graph, const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.opClass != OpClass::Transpose && traits.form != operators::ViewForm::Transpose) return false;
    if (expr.inputs.empty() || expr.outputs.size() != 1) return false;
    const auto& shape = graph.node(expr.inputs.front()).type.shape;
    return shape && shape->size() == 2;
}

/// Of one operation that has a matrix as the input `position`.
std::optional<bool> isOutputFirstOf(const Expr& expr, std::size_t position) {
    const bool isOnnx = expr.op.domain.empty() || expr.op.domain == "ai.onnx";
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::Linear: return position == 1 ? std::optional(true) : std::nullopt;
        case OpClass::MatMul:
        case OpClass::MatrixProduct: return position == 0;  // W·x has its results in the rows
        case OpClass::AddMatrixProduct:
            if (!isOnnx) return position == 2 ? std::optional(false) : std::nullopt;
            return position == 1 ? std::optional(expr.attributes.getInt("transB", 0) != 0) : std::nullopt;
        default: return std::nullopt;
    }
}

}  // namespace

std::vector<ParameterReader> readersOf(const InternalGraph& graph, NodeId node) {
    constexpr std::size_t kMaxSteps = 4;  // transpositions in a row
    std::vector<ParameterReader> readers;
    std::vector<std::pair<NodeId, bool>> open{{node, false}};
    for (std::size_t step = 0; step < kMaxSteps && !open.empty(); ++step) {
        std::vector<std::pair<NodeId, bool>> next;
        for (const auto& [value, isTransposed] : open)
            for (const ExprId user : graph.node(value).users) {
                const Expr& expr = graph.expr(user);
                if (isTransposition(graph, expr)) next.emplace_back(expr.outputs.front(), !isTransposed);
                else readers.push_back({user, isTransposed});
            }
        open = std::move(next);
    }
    return readers;
}

std::vector<NodeId> storedInputs(const InternalGraph& graph, ExprId id) {
    std::vector<NodeId> stored;
    for (NodeId input : graph.expr(id).inputs) {
        const Expr* producer = &graph.expr(graph.node(input).producer);
        for (std::size_t step = 0; step < 4 && isTransposition(graph, *producer); ++step) {
            input = producer->inputs.front();
            producer = &graph.expr(graph.node(input).producer);
        }
        if (isStored(graph, input)) stored.push_back(input);
    }
    return stored;
}

std::optional<bool> isOutputFirst(const InternalGraph& graph, NodeId node, ExprId only) {
    std::optional<bool> found;
    for (const ParameterReader& reader : readersOf(graph, node)) {
        if (only.valid() && reader.id != only) continue;
        const Expr& expr = graph.expr(reader.id);
        for (std::size_t i = 0; i < expr.inputs.size(); ++i) {
            NodeId input = expr.inputs[i];
            while (input != node && isTransposition(graph, graph.expr(graph.node(input).producer)))
                input = graph.expr(graph.node(input).producer).inputs.front();
            if (input != node) continue;
            const auto read = isOutputFirstOf(expr, i);
            if (!read) continue;
            const bool isFirst = *read != reader.isTransposed;
            if (found && *found != isFirst) return std::nullopt;
            found = isFirst;
        }
    }
    return found;
}

bool isReadAs(const InternalGraph& graph, NodeId node, const tensor::Shape& shape) {
    if (!node.valid() || graph.node(node).users.empty()) return false;
    return std::ranges::all_of(graph.node(node).users, [&](ExprId id) {
        const Expr& user = graph.expr(id);
        if (graph::traitsOf(user).opClass != OpClass::ExpandDims || user.outputs.size() != 1) return false;
        const auto given = graph.node(user.outputs.front()).type.staticShape();
        return user.inputs.front() == node && given && *given == shape;
    });
}

}  // namespace sonde::session::diff
