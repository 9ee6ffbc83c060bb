#include "core/io/torchscript/known_rank.h"

#include <algorithm>

#include "core/graph/traits.h"
#include "core/operators/names.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

constexpr int kMaxRankDepth = 400;

using operators::OpClass;
using operators::Trait;
using operators::Traits;
using operators::ViewForm;

class RankFinder {
  public:
    explicit RankFinder(const InternalGraph& graph) : m_graph(graph) {}

    std::optional<std::int64_t> of(NodeId id, int depth = 0) const {
        if (depth > kMaxRankDepth) return std::nullopt;
        const graph::Node& node = m_graph.node(id);
        if (node.constant && node.constant->isTensor())
            return static_cast<std::int64_t>(node.constant->tensor().rank());
        if (node.type.shape) return static_cast<std::int64_t>(node.type.shape->size());
        const Expr& maker = m_graph.expr(node.producer);
        if (maker.kind == ExprKind::Input) return ofInput(maker, id, depth);
        if (maker.kind == ExprKind::CallModule)
            return maker.bodies.empty() ? std::nullopt : of(m_graph.body(maker.bodies.front()).result, depth + 1);
        return maker.outputs.size() == 1 ? ofResult(maker, depth) : std::nullopt;
    }

  private:
    std::optional<std::int64_t> of(const Argument& argument, int depth) const {
        if (argument.kind == Argument::Kind::Node) return of(argument.node, depth);
        if (argument.kind == Argument::Kind::Constant && argument.constant.isTensor())
            return static_cast<std::int64_t>(argument.constant.tensor().rank());
        return std::nullopt;
    }

    /// The inside of a called module: what the call is given.
    std::optional<std::int64_t> ofInput(const Expr& input, NodeId id, int depth) const {
        const graph::Body& body = m_graph.body(input.body);
        if (!body.owner.valid()) return std::nullopt;
        const Expr& call = m_graph.expr(body.owner);
        const auto at = static_cast<std::size_t>(std::ranges::find(body.inputs, id) - body.inputs.begin());
        if (call.kind != ExprKind::CallModule || at >= call.inputs.size()) return std::nullopt;
        return of(call.inputs[at], depth + 1);
    }

    std::optional<std::int64_t> ofResult(const Expr& maker, int depth) const {
        if (maker.arguments.empty()) return std::nullopt;
        const Argument& first = maker.arguments.front();
        const Traits& traits = graph::traitsOf(maker);
        // conv2d, max_pool2d, upsample_bilinear2d: batch, channels and so many.
        if (traits.spatialDims > 0) return traits.spatialDims + 2;
        if (traits.opClass == OpClass::Conv)
            return maker.arguments.size() > 1 ? of(maker.arguments[1], depth + 1) : std::nullopt;
        const bool hasSizes = maker.arguments.size() == 2 && maker.arguments[1].kind == Argument::Kind::List;
        const bool listsSizes = hasSizes && (traits.form == ViewForm::NewShape || traits.form == ViewForm::Expand);
        if (listsSizes) return static_cast<std::int64_t>(maker.arguments[1].items.size());
        // expand_as(x, y)
        if (traits.form == ViewForm::Expand)
            return maker.arguments.size() == 2 ? of(maker.arguments[1], depth + 1) : std::nullopt;
        if (traits.form == ViewForm::Unsqueeze) return plus(of(first, depth + 1), 1);
        if (traits.opClass == OpClass::Concat || traits.opClass == OpClass::Stack) {
            if (first.kind != Argument::Kind::List || first.items.empty()) return std::nullopt;
            return plus(of(first.items.front(), depth + 1), traits.opClass == OpClass::Stack ? 1 : 0);
        }
        if (traits.is(Trait::KeepsRank)) return of(first, depth + 1);
        if (traits.is(Trait::Broadcasts) && traits.opClass != OpClass::Where) return ofPair(maker, depth);
        return std::nullopt;
    }

    static std::optional<std::int64_t> plus(std::optional<std::int64_t> rank, std::int64_t more) {
        return rank ? std::optional(*rank + more) : std::nullopt;
    }

    /// The larger one of two tensors; numbers do not count.
    std::optional<std::int64_t> ofPair(const Expr& maker, int depth) const {
        std::optional<std::int64_t> largest;
        for (std::size_t i = 0; i < 2 && i < maker.arguments.size(); ++i) {
            const Argument& operand = maker.arguments[i];
            if (operand.kind == Argument::Kind::Constant && operand.constant.isNumber()) continue;
            const auto rank = of(operand, depth + 1);
            if (!rank) return std::nullopt;
            largest = std::max(largest.value_or(0), *rank);
        }
        return largest;
    }

    const InternalGraph& m_graph;
};

}  // namespace

std::optional<std::int64_t> likelyRank(const InternalGraph& graph, NodeId node) { return RankFinder(graph).of(node); }

bool isSizeList(const trace::Var& var) {
    if (!var.isProxy() || !var.tracer().recording().recordedGraph()) return false;
    const InternalGraph& graph = *var.tracer().recording().recordedGraph();
    NodeId node = var.node();
    for (int depth = 0; depth < kMaxRankDepth; ++depth) {
        const Expr& maker = graph.expr(graph.node(node).producer);
        const Traits& traits = graph::traitsOf(maker);
        if (traits.opClass == OpClass::Shape && operators::overloadOf(maker.op.name).empty()) return true;
        if (maker.op.domain != "prim" || maker.arguments.size() != 2 || maker.arguments[0].kind != Argument::Kind::Node)
            return false;
        if (traits.opClass == OpClass::GetAttr) {
            const Argument& name = maker.arguments[1];
            return name.kind == Argument::Kind::Constant && name.constant.kind() == tensor::ValueKind::String &&
                   name.constant.toString() == "shape";
        }
        if (traits.form != ViewForm::Index || maker.arguments[1].kind != Argument::Kind::Slice) return false;
        node = maker.arguments[0].node;
    }
    return false;
}

bool insideLeaf() {
    const trace::Tracer* tracer = trace::Tracer::active();
    if (!tracer || !tracer->recording().recordedGraph()) return false;
    const InternalGraph& graph = *tracer->recording().recordedGraph();
    for (graph::ExprId owner = graph.body(tracer->recorder().bodies().top().id).owner; owner.valid();
         owner = graph.body(graph.expr(owner).body).owner) {
        if (graph.expr(owner).kind == ExprKind::CallModule) return true;
    }
    return false;
}

}  // namespace sonde::io::script
