// conv + bias + activation, and a sum before the activation, as one operation (dump.md, "Fusions").

#include <algorithm>

#include "core/export/inference/export_passes.h"
#include "core/passes/vocabulary.h"
#include "core/passes/weights.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using passes::Rewrite;
using tensor::Tensor;
using tensor::Value;

bool isOnnx(const Expr& expr, std::string_view name) {
    return expr.op.domain.empty() && expr.op.name == name && expr.outputs.size() == 1;
}

/// The one expr that reads a node, in the same body; null if there are others.
const Expr* onlyReader(const Rewrite& rewrite, NodeId node) {
    const InternalGraph& graph = rewrite.graph();
    if (!rewrite.hasOneUse(node)) return nullptr;
    const Expr& reader = graph.expr(graph.node(node).users.front());
    return reader.body == rewrite.producer(node).body ? &reader : nullptr;
}

/// The other operand of a sum.
NodeId otherOperand(const Expr& sum, NodeId node) {
    if (sum.arguments.size() != 2 || sum.arguments[0].kind != Argument::Kind::Node ||
        sum.arguments[1].kind != Argument::Kind::Node)
        return {};
    return sum.arguments[0].node == node ? sum.arguments[1].node : sum.arguments[0].node;
}

/// The constant as [K] if it is one number for each channel of a tensor of the rank.
std::optional<Tensor> perChannel(const InternalGraph& graph, NodeId node, std::int64_t channels, std::size_t rank) {
    const auto& value = graph.node(node).constant;
    if (!value || !value->isTensor() || value->tensor().numel() != channels) return std::nullopt;
    const Tensor& tensor = value->tensor();
    if (tensor.rank() > rank || tensor.rank() + 1 < rank || tensor.dim(tensor.rank() + 1 - rank) != channels)
        return std::nullopt;
    auto flat = tensor.reshaped({channels});
    return flat ? std::optional(*flat) : std::nullopt;
}

/// What becomes one operation: the convolution and the exprs that follow it.
struct Chain {
    std::vector<ExprId> exprs;
    NodeId result;
    void take(const Expr& expr) {
        exprs.push_back(expr.id);
        result = expr.outputs.front();
    }
};

/// The chain's place is taken by the expr, under the name that its result had.
void replaceChain(Rewrite& rewrite, const Chain& chain, Expr made, const std::string& why) {
    InternalGraph& graph = rewrite.graph();
    const ExprId last = chain.exprs.back();
    const std::string name = graph.node(chain.result).name;
    const tensor::TypeInfo type = graph.node(chain.result).type;
    const ExprId id = rewrite.insertBefore(last, std::move(made), name + "_fused", why);
    for (const ExprId each : chain.exprs) rewrite.addOrigins(id, each);
    const NodeId node = rewrite.output(id);
    graph.setType(node, type);
    rewrite.replace(chain.result, node, why);
    for (std::size_t i = chain.exprs.size(); i-- > 0;) rewrite.erase(chain.exprs[i], why);
    (void)graph.rename(node, name);  // free again: what had it is gone
}

base::Result<bool> fuse(Rewrite& rewrite, ExprId id, bool all) {
    InternalGraph& graph = rewrite.graph();
    const Expr& conv = graph.expr(id);
    const auto weight = passes::tensorOf(graph, passes::argumentOf(conv, 1));
    if (!isOnnx(conv, "Conv") || !weight || weight->tensor.rank() < 3) return false;
    const Argument* given = passes::argumentOf(conv, 2);
    const Value* none = passes::constantOf(graph, given);
    const bool hasBias = given && !(none && none->isNone());
    Chain chain;
    chain.take(conv);
    Argument bias = hasBias ? *given : Argument::omitted();
    const Expr* next = onlyReader(rewrite, chain.result);
    if (const bool known = !hasBias || passes::tensorOf(graph, given); known && next && isOnnx(*next, "Add")) {
        const NodeId other = otherOperand(*next, chain.result);
        auto added =
            other.valid() ? perChannel(graph, other, weight->tensor.dim(0), weight->tensor.rank()) : std::nullopt;
        if (added && added->dtype() == weight->tensor.dtype()) {
            if (hasBias) {
                std::vector<double> sum = passes::numbersOf(passes::tensorOf(graph, given)->tensor);
                const std::vector<double> more = passes::numbersOf(*added);
                for (std::size_t i = 0; i < sum.size() && i < more.size(); ++i) sum[i] += more[i];
                SONDE_ASSIGN(*added, passes::tensorLike(*added, added->shape(), sum));
            }
            chain.take(*next);
            bias = Argument::of(rewrite.constantBefore(id, Value(*added), graph.node(other).name + "_bias",
                                                       "one number for each channel"));
            next = onlyReader(rewrite, chain.result);
        }
    }
    std::string nonlinearity;
    if (next && (isOnnx(*next, "Relu") || isOnnx(*next, "Sigmoid") || isOnnx(*next, "HardSwish"))) {
        nonlinearity = next->op.name;
        chain.take(*next);
    }
    const bool isPlain = !hasBias && chain.exprs.size() == 1;
    if (isPlain && !all) return false;
    const Expr& source = graph.expr(id);  // constants came in between
    Expr made;
    made.kind = graph::ExprKind::Apply;
    made.op = {"sonde", "ConvBias", 1};
    made.target = "ConvBias";
    made.arguments = {source.arguments[0], source.arguments[1], bias};
    made.attributes = source.attributes;
    if (!nonlinearity.empty()) made.attributes.set("nonlinearity", nonlinearity);
    made.scope = source.scope;
    made.qualname = source.qualname;
    made.moduleClass = source.moduleClass;
    made.source = source.source;
    replaceChain(rewrite, chain, std::move(made), "convolution, bias and activation are one operation");
    return true;
}

base::Result<bool> fuseZ(Rewrite& rewrite, ExprId id) {
    InternalGraph& graph = rewrite.graph();
    const Expr& conv = graph.expr(id);
    if (conv.op.domain != "sonde" || conv.op.name != "ConvBias" || conv.arguments.size() != 3) return false;
    if (!conv.attributes.getString("nonlinearity", "").empty() || !conv.attributes.getString("y_packing", "").empty())
        return false;
    const NodeId result = conv.outputs.front();
    const Expr* next = onlyReader(rewrite, result);
    if (!next || !isOnnx(*next, "Add")) return false;
    const NodeId z = otherOperand(*next, result);
    if (!z.valid() || z == result) return false;
    const tensor::TypeInfo &mine = graph.node(result).type, &its = graph.node(z).type;
    const auto shape = mine.staticShape();
    if (!shape || shape != its.staticShape() || mine.dtype != its.dtype) return false;
    Chain chain;
    chain.take(conv);
    chain.take(*next);
    Expr made = conv;
    made.outputs.clear();
    made.inputs.clear();
    made.arguments.push_back(Argument::of(z));
    if (next = onlyReader(rewrite, chain.result); next && isOnnx(*next, "Relu")) {
        made.attributes.set("nonlinearity", std::string("Relu"));
        chain.take(*next);
    }
    replaceChain(rewrite, chain, std::move(made), "the sum is part of the convolution");
    return true;
}

template <typename Each>
base::Result<std::size_t> forEachExpr(Rewrite& rewrite, Each each) {
    std::size_t count = 0;
    for (const graph::BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (const ExprId id : order) {
            if (rewrite.graph().isErased(id)) continue;
            SONDE_ASSIGN(const bool done, each(id));
            count += done ? 1 : 0;
        }
    }
    return count;
}

}  // namespace

base::Result<std::size_t> fuseConvBias(Rewrite& rewrite, bool all) {
    return forEachExpr(rewrite, [&](ExprId id) { return fuse(rewrite, id, all); });
}

base::Result<std::size_t> fuseConvBiasWithZ(Rewrite& rewrite) {
    return forEachExpr(rewrite, [&](ExprId id) { return fuseZ(rewrite, id); });
}

}  // namespace sonde::exporting
