// The way back from ConvBias, layouts and float16 (dump.md, "The unoptimised graph").

#include <algorithm>
#include <variant>

#include "core/export/inference/export_passes.h"
#include "core/graph/replace_constant.h"
#include "core/ops/registry/registry.h"
#include "core/ops/support/packing.h"
#include "core/passes/vocabulary.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using passes::Rewrite;
using tensor::DType;
using tensor::Tensor;
using tensor::Value;

const char* const kPlain = "as the model has it";

/// Versions of the operators' rows, as staticForm writes them.
constexpr int kConvVersion = 11, kIntegerVersion = 10, kActivationVersion = 14;
/// Positions of ConvBias's inputs.
enum Position : std::size_t { X, W, Bias, Z, XScale, XZero, WScale, WZero, YScale, YZero };

/// One ConvBias becomes the operations that it stands for, the last of which has its name.
class Unfused {
  public:
    Unfused(Rewrite& rewrite, ExprId id)
        : m_rewrite(rewrite), m_graph(rewrite.graph()), m_id(id), m_source(rewrite.graph().expr(id)),
          m_name(rewrite.graph().node(m_source.outputs.front()).name) {}

    base::Result<void> run() {
        if (m_source.op.name == "Blocked") return runBlocked();
        const std::vector<std::int64_t> channels{-1, m_source.attributes.getInt("x_channels", -1), -1, -1};
        const Argument x = unpacked(argument(X), "x_packing", channels, "_input");
        SONDE_ASSIGN(const Argument weights, plainWeights());
        SONDE_ASSIGN(const Argument bias, plainBias());
        NodeId result = convolution(x, weights, bias);
        if (argument(Z).kind != Argument::Kind::Omitted)
            result = add("Add", kActivationVersion,
                         {Argument::of(result), unpacked(argument(Z), "y_packing", {}, "_z")}, "_sum");
        if (const std::string act = text("nonlinearity"); !act.empty())
            result = add(act, kActivationVersion, {Argument::of(result)}, "_act");
        if (const std::string packing = text("y_packing"); !packing.empty())
            result = relayout(Argument::of(result), packing, {}, false, "_blocks");
        takePlace(result);
        return {};
    }

  private:
    /// A pooling, resizing or warping on blocks is the plain one between relayouts.
    base::Result<void> runBlocked() {
        const std::vector<std::int64_t> channels{-1, m_source.attributes.getInt("channels", -1), -1, -1};
        Expr made;
        made.op = {"", text("of"), kActivationVersion};
        // Warps are younger.
        const ops::OpDef* newest = ops::Registry::all().find("", made.op.name, 0);
        if (newest && !ops::Registry::all().find("", made.op.name, kActivationVersion)) made.op.version = newest->since;
        made.arguments = m_source.arguments;
        if (made.arguments.empty()) return base::unreadable("an operator on blocks has no image", m_name);
        made.arguments[X] = unpacked(argument(X), "packing", channels, "_input");
        made.attributes = m_source.attributes;
        for (const char* own : {"of", "packing", "channels"}) made.attributes.erase(own);
        const NodeId plain = insert(std::move(made), "_plain");
        takePlace(relayout(Argument::of(plain), text("packing"), {}, false, "_blocks"));
        return {};
    }

    std::string text(const char* name) const { return m_source.attributes.getString(name, ""); }
    Argument argument(std::size_t position) const {
        return position < m_source.arguments.size() ? m_source.arguments[position] : Argument::omitted();
    }

    NodeId insert(Expr made, const char* suffix) {
        made.kind = ExprKind::Apply;
        made.target = made.op.name;
        return m_rewrite.output(m_rewrite.insertBefore(m_id, std::move(made), m_name + suffix, kPlain));
    }

    NodeId add(const std::string& name, int version, std::vector<Argument> arguments, const char* suffix) {
        Expr made;
        made.op = {"", name, version};
        made.arguments = std::move(arguments);
        return insert(std::move(made), suffix);
    }

    NodeId relayout(const Argument& of, const std::string& packing, const std::vector<std::int64_t>& sizes, bool back,
                    const char* suffix) {
        Expr made;
        made.op = {"sonde", "Relayout", 1};
        made.arguments = {of};
        made.attributes.set("packing", packing);
        if (back) made.attributes.set("back", std::int64_t{1});
        if (!sizes.empty()) made.attributes.set("extents", sizes);
        return insert(std::move(made), suffix);
    }

    Argument unpacked(const Argument& given, const char* attribute, const std::vector<std::int64_t>& sizes,
                      const char* suffix) {
        const std::string packing = text(attribute);
        return packing.empty() ? given : Argument::of(relayout(given, packing, sizes, true, suffix));
    }

    Argument constant(NodeId like, Tensor value) {
        const std::string name = m_graph.node(like).name + "_plain";
        return Argument::of(m_rewrite.constantBefore(m_id, Value(std::move(value)), name, kPlain));
    }

    /// [K, C/G, R, S]. Weights in blocks are constants of the file.
    base::Result<Argument> plainWeights() {
        const std::string packing = text("w_packing");
        if (packing.empty()) return argument(W);
        const Argument given = argument(W);
        const auto known = passes::tensorOf(m_graph, &given);
        if (!known) return base::unreadable("weights in blocks are no constant", m_name);
        SONDE_ASSIGN(const ops::Packing how, ops::Packing::parse(packing));
        SONDE_ASSIGN(Tensor weights, how.unpack(known->tensor, m_source.attributes.getInts("w_extents")));
        if (weights.rank() == 5) {  // [G, K/G, C/G, R, S]
            const tensor::Shape& g = weights.shape();
            SONDE_ASSIGN(weights, weights.reshaped({g[0] * g[1], g[2], g[3], g[4]}));
        }
        return constant(known->node, std::move(weights));
    }

    /// [K], in whatever form it is.
    base::Result<Argument> plainBias() {
        const Argument given = argument(Bias);
        const auto known = passes::tensorOf(m_graph, &given);
        if (!known || known->tensor.rank() == 1) return given;
        SONDE_ASSIGN(Tensor flat, known->tensor.reshaped({known->tensor.numel()}));
        return constant(known->node, std::move(flat));
    }

    NodeId convolution(const Argument& x, const Argument& w, const Argument& bias) {
        Expr made;
        const std::string of = m_source.attributes.getString("of", "Conv");
        made.op = {"", of, of == "Conv" ? kConvVersion : kIntegerVersion};
        if (of == "Conv") made.arguments = {x, w, bias};
        else if (of == "ConvInteger") made.arguments = {x, w, argument(XZero), argument(WZero)};
        else
            made.arguments = {x,
                              argument(XScale),
                              argument(XZero),
                              w,
                              argument(WScale),
                              argument(WZero),
                              argument(YScale),
                              argument(YZero),
                              bias};
        for (const char* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides", "compute_mode"})
            if (const auto* value = m_source.attributes.find(name)) made.attributes.set(name, *value);
        return insert(std::move(made), "_conv");
    }

    void takePlace(NodeId result) {
        const NodeId old = m_graph.expr(m_id).outputs.front();
        m_graph.setType(result, m_graph.node(old).type);
        m_rewrite.addOrigins(m_graph.node(result).producer, m_id);
        m_rewrite.replace(old, result, kPlain);
        m_rewrite.erase(m_id, kPlain);
        (void)m_graph.rename(result, m_name);  // free again: what had it is gone
    }

    Rewrite& m_rewrite;
    InternalGraph& m_graph;
    ExprId m_id;
    Expr m_source;
    std::string m_name;
};

/// Attributes that say float16 say float32.
void widenAttributes(Expr& expr) {
    constexpr auto kHalf = static_cast<std::int64_t>(DType::Float16),
                   kSingle = static_cast<std::int64_t>(DType::Float32);
    for (const char* name : {"to", "dtype"})
        if (expr.attributes.getInt(name, 0) == kHalf) expr.attributes.set(name, kSingle);
    expr.attributes.erase("compute_mode");
    const auto items = expr.attributes.items();
    for (const tensor::Attribute& item : items) {
        const auto* tensor = std::get_if<Tensor>(&item.value);
        if (!tensor || tensor->dtype() != DType::Float16) continue;
        if (auto wide = tensor->cast(DType::Float32)) expr.attributes.set(item.name, std::move(*wide));
    }
}

NodeId castToSingle(Rewrite& rewrite, ExprId behind, NodeId node) {
    Expr made;
    made.kind = ExprKind::Apply;
    made.op = {"", "Cast", opsetOf(rewrite.graph())};
    made.target = "Cast";
    made.arguments = {Argument::of(node)};
    made.attributes.set("to", static_cast<std::int64_t>(DType::Float32));
    return rewrite.output(
        rewrite.insertAfter(behind, std::move(made), rewrite.graph().node(node).name + "_float", kPlain));
}

}  // namespace

base::Result<std::size_t> unfuseConvBias(Rewrite& rewrite) {
    std::size_t count = 0;
    for (const graph::BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (const ExprId id : order) {
            const Expr& expr = rewrite.graph().expr(id);
            if (expr.op.domain != "sonde" || (expr.op.name != "ConvBias" && expr.op.name != "Blocked")) continue;
            SONDE_TRY(Unfused(rewrite, id).run());
            ++count;
        }
    }
    return count;
}

base::Result<std::size_t> toSingle(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    // Operators of PyTorch say the dtype in ways of their own; dumps in float16 have none.
    const bool isOnnx = std::ranges::all_of(order, [&](ExprId id) {
        const Expr& expr = graph.expr(id);
        return expr.op.name.empty() || expr.op.domain == "sonde" || passes::familyOf(expr) == passes::Family::Onnx;
    });
    if (!isOnnx) return 0;
    std::size_t count = 0;
    for (const ExprId id : order) {
        if (graph.expr(id).kind == ExprKind::Apply) widenAttributes(graph.mutableExpr(id));
        for (const NodeId node : std::vector<NodeId>(graph.expr(id).outputs)) {
            const auto& constant = graph.node(node).constant;
            const bool isHalfConstant =
                constant && constant->isTensor() && constant->tensor().dtype() == DType::Float16;
            if (isHalfConstant) {
                SONDE_ASSIGN(Tensor wide, constant->tensor().cast(DType::Float32));
                graph::replaceConstant(graph, node, Value(std::move(wide)));
            }
            if (graph.node(node).type.dtype != DType::Float16) continue;
            ++count;
            if (graph.expr(id).kind == ExprKind::Input && graph.expr(id).body == graph.mainId()) {
                const NodeId single = castToSingle(rewrite, id, node);
                rewrite.replaceBehind(node, single, graph.node(single).producer);
                continue;
            }
            tensor::TypeInfo type = graph.node(node).type;
            type.dtype = DType::Float32;
            graph.setType(node, std::move(type));
        }
    }
    return count;
}

}  // namespace sonde::exporting
