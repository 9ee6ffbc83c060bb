// Bytes of an image on their way to a quantised network in blocks of channels, as one operation (dump.md, "Fusions").

#include <algorithm>

#include "core/export/inference/export_passes.h"
#include "core/ops/support/packing.h"
#include "core/passes/vocabulary.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using passes::Rewrite;
using tensor::DType;
using tensor::Shape;
using tensor::TypeInfo;

const char* const kOneStep = "bytes, blocks of channels and a change of type are one operation";

/// The steps from the image to the blocks, read from their end.
class Steps {
  public:
    explicit Steps(const Rewrite& rewrite) : m_rewrite(&rewrite) {}

    /// Goes on to what the operator reads if `node` is its result and nobody else reads that. Null if not.
    const Expr* back(NodeId& node, std::string_view name, bool isLast = false) {
        const Expr& expr = m_rewrite->producer(node);
        if (!expr.op.domain.empty() || expr.op.name != name || expr.outputs.size() != 1 || expr.arguments.empty() ||
            expr.arguments[0].kind != Argument::Kind::Node || (!isLast && !m_rewrite->hasOneUse(node)))
            return nullptr;
        m_exprs.push_back(expr.id);
        node = expr.arguments[0].node;
        return &expr;
    }
    std::optional<Shape> shapeOf(NodeId node) const { return m_rewrite->graph().node(node).type.staticShape(); }
    DType dtypeOf(NodeId node) const { return m_rewrite->graph().node(node).type.dtype; }
    const std::vector<ExprId>& exprs() const { return m_exprs; }  ///< last one first

  private:
    const Rewrite* m_rewrite;
    std::vector<ExprId> m_exprs;
};

/// [N, C, H, W] with zeros behind the channels, up to `channels`.
bool addsChannels(const InternalGraph& graph, const Expr& pad, std::int64_t channels, const Shape& before) {
    const auto pads = passes::tensorOf(graph, passes::argumentOf(pad, 1));
    const auto value = passes::scalarOf(graph, passes::argumentOf(pad, 2));
    const Argument* given = passes::argumentOf(pad, 2);
    const bool isZero = !given || given->kind == Argument::Kind::Omitted || value == 0.0;
    if (!pads || pads->tensor.numel() != 8 || !isZero || pad.arguments.size() > 3 ||
        pad.attributes.getString("mode", "constant") != "constant")
        return false;
    for (std::int64_t i = 0; i < 8; ++i) {
        const std::int64_t wanted = i == 5 ? channels - before[1] : 0;
        if (pads->tensor.toInt64(i) != wanted) return false;
    }
    return true;
}

/// x - 128, or x + (-128).
bool subtracts128(const InternalGraph& graph, const Expr& expr) {
    const auto number = passes::scalarOf(graph, passes::argumentOf(expr, 1));
    return number == (expr.op.name == "Sub" ? 128.0 : -128.0);
}

/// uint8 -> float32 -> minus 128 -> int8. `node` becomes the bytes.
bool convertsBytes(Steps& steps, const InternalGraph& graph, NodeId& node) {
    NodeId at = node;
    Steps tried = steps;
    const Expr* toInt8 = tried.back(at, "Cast");
    if (!toInt8 || tried.dtypeOf(node) != DType::Int8) return false;
    NodeId single = at;
    const Expr* minus = tried.back(at, "Sub");
    if (!minus) minus = tried.back(at, "Add");
    if (!minus || tried.dtypeOf(single) != DType::Float32 || !subtracts128(graph, *minus)) return false;
    single = at;
    const Expr* toFloat = tried.back(at, "Cast");
    if (!toFloat || tried.dtypeOf(single) != DType::Float32 || tried.dtypeOf(at) != DType::UInt8) return false;
    steps = tried;
    node = at;
    return true;
}

bool toRelayout(Rewrite& rewrite, ExprId id) {
    InternalGraph& graph = rewrite.graph();
    const NodeId result = graph.expr(id).outputs.front();
    NodeId node = result;
    Steps steps(rewrite);
    const Expr* transpose = steps.back(node, "Transpose", true);
    if (!transpose || transpose->attributes.getInts("perm") != std::vector<std::int64_t>{0, 1, 3, 4, 2}) return false;
    const auto blocks = steps.shapeOf(node);
    if (!blocks || blocks->rank() != 5 || !steps.back(node, "Reshape")) return false;
    const std::int64_t block = (*blocks)[2];
    auto image = steps.shapeOf(node);
    if (!image || image->rank() != 4 || block < 2 || (*image)[1] != (*blocks)[1] * block ||
        (*image)[0] != (*blocks)[0] || (*image)[2] != (*blocks)[3] || (*image)[3] != (*blocks)[4])
        return false;
    if (NodeId unpadded = node; rewrite.producer(node).op.name == "Pad") {
        Steps tried = steps;
        const Expr* pad = tried.back(unpadded, "Pad");
        const auto before = tried.shapeOf(unpadded);
        // No more than fills the last block.
        if (pad && before && before->rank() == 4 && (*image)[1] - (*before)[1] < block &&
            addsChannels(graph, *pad, (*image)[1], *before)) {
            steps = tried;
            node = unpadded;
        }
    }
    const bool isConverted = convertsBytes(steps, graph, node);
    const std::string p = std::to_string(block), name = graph.node(result).name;
    const TypeInfo type = graph.node(result).type;
    Expr made;
    made.kind = graph::ExprKind::Apply;
    made.op = {"sonde", "Relayout", 1};
    made.target = "Relayout";
    made.arguments = {Argument::of(node)};
    made.attributes.set("packing", "NCHW -> N C/" + p + " H W C%" + p);
    if (isConverted) made.attributes.set("offset", std::int64_t{-128});
    const ExprId now = rewrite.insertBefore(id, std::move(made), name + "_fused", kOneStep);
    for (const ExprId each : steps.exprs()) rewrite.addOrigins(now, each);
    const NodeId packed = rewrite.output(now);
    graph.setType(packed, type);
    rewrite.replace(result, packed, kOneStep);
    for (const ExprId each : steps.exprs()) rewrite.erase(each, kOneStep);
    (void)graph.rename(packed, name);  // free again: what had it is gone
    return true;
}

}  // namespace

base::Result<std::size_t> fusePreprocess(Rewrite& rewrite) {
    std::size_t count = 0;
    for (const graph::BodyId body : rewrite.bodies()) {
        for (const ExprId id : std::vector<ExprId>(rewrite.graph().body(body).order)) {
            if (rewrite.graph().isErased(id) || rewrite.graph().expr(id).outputs.empty()) continue;
            count += toRelayout(rewrite, id) ? 1 : 0;
        }
    }
    return count;
}

}  // namespace sonde::exporting
