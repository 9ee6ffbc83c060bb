#include "core/session/precision/simulation.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/call_arguments.h"
#include "core/analysis/query/query.h"
#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/operators/moved_elements.h"
#include "core/ops/dependence/moves.h"

namespace sonde::session::precision {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;

namespace {

constexpr std::string_view kNames[] = {"float16", "bfloat16", "int8"};

bool mayBeFloating(const graph::Node& node) {
    if (node.type.kind != tensor::ValueKind::Tensor) return false;
    return node.type.dtype == tensor::DType::Undefined || tensor::isFloating(node.type.dtype);
}

/// A scatter that adds up, or takes the larger one.
bool reduces(const Expr& expr) {
    const std::string reduction = expr.attributes.getString("reduction", "none");
    return !reduction.empty() && reduction != "none";
}

/// Only puts elements elsewhere, or computes none: as its traits say, or how its elements depend on its inputs.
bool onlyMoves(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    const OpClass is = traits.opClass;
    const bool isMoving = is >= OpClass::Reshape && is <= OpClass::Shape;
    if (isMoving || is >= OpClass::Construct || is == OpClass::Dropout) return true;
    if (reduces(expr)) return false;
    if (traits.is(operators::Trait::MovesData) || operators::onlyMovesElements(expr.op.domain, expr.op.name))
        return true;
    const ops::OpDef* const op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    return op && ops::onlyMoves(*op);
}

bool computes(const InternalGraph& graph, ExprId id) {
    if (graph.isErased(id)) return false;
    const Expr& expr = graph.expr(id);
    const bool isOperation = expr.kind != ExprKind::Input && expr.kind != ExprKind::Constant &&
                             expr.kind != ExprKind::GetAttr && expr.kind != ExprKind::Output;
    return isOperation && !expr.op.name.empty() && expr.bodies.empty() && !expr.inputs.empty() && !onlyMoves(expr) &&
           std::ranges::any_of(expr.outputs, [&](NodeId node) { return mayBeFloating(graph.node(node)); });
}

/// The output channels of a weight: an axis, of each part of the first axis; -1: one scale for all.
struct Channels {
    std::int64_t axis = -1, groups = 1;
};

/// Of an operand of a product the axis that the result keeps: a row of the left one, a column of the right one, either
/// of what is added. ATen has the summand first, ONNX last.
std::int64_t productAxis(const Expr& expr, std::size_t position, std::int64_t rank, bool hasSummand) {
    const bool isAten = expr.op.domain == "aten";
    const std::size_t summand = isAten ? 0 : 2, left = isAten && hasSummand ? 1 : 0;
    if (hasSummand && position == summand) return rank - 1;
    const bool isLeft = position == left;
    const bool isTurned = expr.attributes.getInt(isLeft ? "transA" : "transB", 0) != 0;
    return isLeft == isTurned ? rank - 1 : rank - 2;
}

Channels channelsOf(const InternalGraph& graph, const Expr& expr, std::size_t position, std::int64_t rank) {
    const analysis::CallArguments call(graph, expr);
    const OpClass is = graph::traitsOf(expr).opClass;
    switch (is) {
        case OpClass::Embedding: return {0};
        case OpClass::Linear: return {position == 1 ? 0 : -1};
        case OpClass::Conv:
        case OpClass::ConvTranspose: {
            if (position != 1) return {};
            const bool isTurned = is == OpClass::ConvTranspose ||
                                  analysis::CallArguments::integer(call.named("transposed")).value_or(0) != 0;
            if (!isTurned) return {0};
            const auto groups = analysis::CallArguments::integer(call.named("groups"));
            return {1, groups.value_or(expr.attributes.getInt("group", 1))};
        }
        case OpClass::AddMatrixProduct: return {productAxis(expr, position, rank, true)};
        case OpClass::MatMul:
        case OpClass::MatrixProduct: return {productAxis(expr, position, rank, false)};
        case OpClass::BatchMatrixProduct: return {productAxis(expr, position, rank, call.argument(2) != nullptr)};
        default: return {};
    }
}

/// Of an argument that is given by name.
std::size_t positionOf(const Expr& expr, const std::string& keyword) {
    const ops::OpDef* const op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op) return 0;
    const auto found = std::ranges::find(op->parameters, keyword, &ops::Parameter::name);
    return static_cast<std::size_t>(found - op->parameters.begin());
}

class Simulator {
  public:
    Simulator(const InternalGraph& graph, const SimulationOptions& options)
        : m_sources(exec::valueSources(graph)), m_graph(graph), m_options(options) {}

    void roundAt(ExprId id) {
        roundInputs(id);
        const std::vector<NodeId> outputs = m_graph.expr(id).outputs;
        for (const NodeId output : outputs)
            if (mayBeFloating(m_graph.node(output))) roundOutput(id, output);
    }
    InternalGraph take() { return std::move(m_graph); }
    std::unordered_map<NodeId, NodeId> takeRounded() { return std::move(m_rounded); }

  private:
    std::size_t placeOf(ExprId id) const {
        const auto& order = m_graph.body(m_graph.expr(id).body).order;
        return static_cast<std::size_t>(std::ranges::find(order, id) - order.begin());
    }
    NodeId addRounding(NodeId node, const Expr& beside, std::size_t position, const Channels& channels) {
        Expr made;
        made.op = {"prim", "round_to", 0};
        made.target = made.op.name;
        made.arguments = {Argument::of(node)};
        made.attributes = {{"type", std::string(name(m_options.type))}, {"axis", channels.axis}};
        if (channels.groups > 1) made.attributes.set("groups", channels.groups);
        made.body = beside.body;
        made.scope = beside.scope;
        made.qualname = beside.qualname;
        made.moduleClass = beside.moduleClass;
        const std::string wanted = m_graph.node(node).name + "." + std::string(name(m_options.type));
        std::string free = wanted;
        for (int count = 1; m_graph.findNode(free).valid(); ++count) free = wanted + "_" + std::to_string(count);
        const NodeId rounded =
            m_graph.expr(m_graph.addExpr(std::move(made), std::span(&free, 1), position)).outputs.front();
        m_graph.setType(rounded, m_graph.node(node).type);
        return rounded;
    }

    /// The stored value that a node is; null if it is computed or an input. Nodes that were added are computed.
    const tensor::Value* stored(NodeId node) const {
        if (node.index() >= m_sources.size()) return nullptr;
        const auto& constant = m_graph.node(m_sources[node.index()]).constant;
        return constant && constant->isTensor() ? &*constant : nullptr;
    }
    void roundInputs(ExprId id) {
        const Expr expr = m_graph.expr(id);
        std::map<NodeId, NodeId> rounded;
        std::size_t position = 0;  // of the argument
        const auto replace = [&](NodeId& node) {
            if (m_results.contains(node)) return;  // is already
            if (const auto known = rounded.find(node); known != rounded.end()) {
                node = known->second;
                return;
            }
            const tensor::Value* weight = stored(node);
            if (weight ? !tensor::isFloating(weight->tensor().dtype()) : !mayBeFloating(m_graph.node(node))) return;
            Channels channels;
            if (weight && m_options.type == NumberType::Int8) {
                const auto rank = static_cast<std::int64_t>(weight->tensor().rank());
                if (rank == 1) return;
                if (m_options.perChannel && rank > 1) channels = channelsOf(m_graph, expr, position, rank);
            }
            const NodeId made = addRounding(node, expr, placeOf(id), channels);
            rounded.emplace(node, made);
            node = made;
        };
        std::vector<Argument> arguments = expr.arguments;
        auto keywords = expr.keywords;
        for (; position < arguments.size(); ++position) arguments[position].forEachNode(replace);
        for (auto& [key, argument] : keywords) {
            position = positionOf(expr, key);
            argument.forEachNode(replace);
        }
        m_graph.setArguments(id, std::move(arguments), std::move(keywords));
    }

    void roundOutput(ExprId id, NodeId output) {
        const NodeId made = addRounding(output, m_graph.expr(id), placeOf(id) + 1, {});
        m_graph.replaceUses(output, made);
        m_graph.setArguments(m_graph.node(made).producer, {Argument::of(output)});
        m_rounded.emplace(output, made);
        m_results.insert(made);
    }

    const std::vector<NodeId> m_sources;
    InternalGraph m_graph;
    const SimulationOptions& m_options;
    std::unordered_map<NodeId, NodeId> m_rounded;
    std::set<NodeId> m_results;  ///< that are rounded
};

}  // namespace

std::string_view name(NumberType type) { return kNames[static_cast<std::size_t>(type)]; }

base::Result<NumberType> numberType(std::string_view text) {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i] == text) return static_cast<NumberType>(i);
    return base::usageError("'" + std::string(text) + "' is no type to round to", {}, "float16, bfloat16 or int8");
}

base::Result<std::vector<ExprId>> chosenBy(const InternalGraph& graph, const std::vector<std::string>& queries) {
    std::set<ExprId> found;
    for (const std::string& text : queries) {
        analysis::QueryProblem problem;
        const auto query = analysis::Query::parse(text, &problem);
        if (!query) return problem.error();
        bool any = false;
        for (const NodeId node : query->run(graph)) {
            const ExprId producer = graph.node(node).producer;
            if (!computes(graph, producer)) continue;
            found.insert(producer);
            any = true;
        }
        if (!any) return base::usageError("no operation that computes floating-point numbers fits '" + text + "'");
    }
    std::vector<ExprId> chosen;
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        if (queries.empty() ? computes(graph, id) : found.contains(id)) chosen.push_back(id);
    return chosen;
}

Simulation simulate(const std::shared_ptr<const InternalGraph>& graph, std::vector<ExprId> chosen,
                    const SimulationOptions& options) {
    Simulation made{graph, std::move(chosen), {}};
    if (made.chosen.empty()) return made;
    Simulator simulator(*graph, options);
    for (const ExprId id : made.chosen) simulator.roundAt(id);
    made.graph = std::make_shared<const InternalGraph>(simulator.take());
    made.rounded = simulator.takeRounded();
    return made;
}

}  // namespace sonde::session::precision
