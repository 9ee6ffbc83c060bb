// DequantizeLinear -> operator -> QuantizeLinear is one operator on the quantised tensors: y = round(f(x)/scale) + zero
// point, with sums of products taken exactly as integers. The operators are QLinearConv and QLinearMatMul of ai.onnx
// and those of com.microsoft that ONNX Runtime's optimiser puts in the same places. Between float operators every value
// is rounded to float32 once more: what is quantised may differ by one step where it lies half between two.

#include <algorithm>
#include <cmath>

#include "core/passes/all_passes.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

using tensor::AttributeValue;
using tensor::DType;

constexpr std::string_view kContrib = "com.microsoft";
constexpr std::string_view kWhy = "computes on the quantised tensors";

bool isByteType(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

/// A tensor of integers with its scale: what a DequantizeLinear reads, or a QuantizeLinear gives.
struct Quantised {
    ExprId expr;
    NodeId node;
    DType dtype = DType::Undefined;
    KnownTensor scale;
    std::optional<KnownTensor> zero;
    std::int64_t axis = 1;

    bool isWhole() const { return scale.tensor.numel() == 1; }
    double scaleAt(std::int64_t index) const { return scale.tensor.toDouble(isWhole() ? 0 : index); }
    double zeroPoint() const { return zero ? zero->tensor.toDouble(0) : 0; }
};

/// Scale and zero point are constants in float32 and the integers' dtype, of one element or along one axis.
std::optional<Quantised> quantisedAt(const InternalGraph& graph, const Expr& expr, NodeId node, DType dtype) {
    const auto scale = tensorOf(graph, argumentOf(expr, 1));
    const Argument* zero = argumentOf(expr, 2);
    if (!scale || scale->tensor.dtype() != DType::Float32 || scale->tensor.rank() > 1 ||
        expr.attributes.getInt("block_size", 0) != 0)
        return std::nullopt;
    Quantised found{expr.id, node, dtype, *scale, {}, expr.attributes.getInt("axis", 1)};
    if (zero && zero->kind != Argument::Kind::Omitted) {
        found.zero = tensorOf(graph, zero);
        if (!found.zero || found.zero->tensor.dtype() != dtype ||
            found.zero->tensor.numel() != found.scale.tensor.numel())
            return std::nullopt;
    }
    return found;
}

/// One layer between dequantised values, and what quantises its result.
class Fusion {
  public:
    /// The operator that takes the layer's place; none: nothing does.
    struct Made {
        std::string_view domain;
        std::string_view name;
        std::vector<Argument> arguments;
        graph::Attributes attributes;
    };

    Fusion(Rewrite& rewrite, ExprId layer) : m_rewrite(rewrite), m_layer(layer) {
        if (expr().outputs.size() == 1) findResult();
    }

    const Expr& expr() const { return graph().expr(m_layer); }
    const std::optional<Quantised>& result() const { return m_result; }

    /// What the layer's argument is dequantised from.
    std::optional<Quantised> operand(std::size_t index) const {
        const Argument* argument = argumentOf(expr(), index);
        if (!argument || argument->kind != Argument::Kind::Node) return std::nullopt;
        const Expr& from = m_rewrite.producer(argument->node);
        const Argument* x = argumentOf(from, 0);
        if (!isOf(from, "DequantizeLinear") || !x || x->kind != Argument::Kind::Node) return std::nullopt;
        return quantisedAt(graph(), from, x->node, dtypeOf(graph(), x->node));
    }
    bool hasArgument(std::size_t index) const {
        const Argument* argument = argumentOf(expr(), index);
        return argument && argument->kind != Argument::Kind::Omitted;
    }
    /// Of bytes, with one scale.
    std::optional<Quantised> bytes(std::size_t index) const {
        auto found = operand(index);
        return found && found->isWhole() && isByteType(found->dtype) ? found : std::nullopt;
    }
    /// Int32 with the scales of the products that it is added to: `factor` · left · right for each row of the weights.
    std::optional<Quantised> bias(std::size_t index, const Quantised& left, const Quantised& right,
                                  double factor = 1) const {
        constexpr double kRounding = 1e-5;
        auto found = operand(index);
        if (!found || found->dtype != DType::Int32) return std::nullopt;
        const bool isCentred = !found->zero || std::ranges::all_of(found->zero->tensor.span<std::int32_t>(),
                                                                   [](std::int32_t zero) { return zero == 0; });
        const std::int64_t count = std::max(found->scale.tensor.numel(), right.scale.tensor.numel());
        if (!isCentred ||
            (!found->isWhole() && !right.isWhole() && found->scale.tensor.numel() != right.scale.tensor.numel()))
            return std::nullopt;
        for (std::int64_t i = 0; i < count; ++i) {
            const double wanted = factor * left.scaleAt(0) * right.scaleAt(i);
            if (!(std::abs(found->scaleAt(i) - wanted) <= kRounding * std::abs(wanted))) return std::nullopt;
        }
        return found;
    }

    static Argument scale(const Quantised& of) { return Argument::of(of.scale.node); }
    /// The zero point; a constant where it is left out.
    Argument zero(const Quantised& of) {
        if (of.zero) return Argument::of(of.zero->node);
        const std::string name = graph().node(of.node).name + "_zero_point";
        auto value = Tensor::scalar<double>(0).cast(of.dtype);
        return value ? Argument::of(m_rewrite.constantBefore(anchor(), Value(std::move(*value)), name,
                                                             "the zero point that was left out"))
                     : Argument::omitted();
    }
    void addScaled(std::vector<Argument>& arguments, const Quantised& of) {
        arguments.push_back(Argument::of(of.node));
        addScales(arguments, of);
    }
    void addScales(std::vector<Argument>& arguments, const Quantised& of) {
        arguments.push_back(scale(of));
        arguments.push_back(zero(of));
    }

    /// Puts the operator in the place of the layer and of what stands around it.
    void apply(Made made) {
        InternalGraph& graph = m_rewrite.graph();
        const ExprId last = anchor();
        const NodeId old = m_rewrite.output(last);
        const std::string name = graph.node(old).name;
        const std::vector<NodeId> read = expr().inputs;
        Expr fused;
        fused.kind = ExprKind::Apply;
        fused.op = {std::string(made.domain), std::string(made.name), made.domain.empty() ? expr().op.version : 1};
        fused.target = made.name;
        fused.arguments = std::move(made.arguments);
        fused.attributes = std::move(made.attributes);
        fused.scope = expr().scope;
        fused.qualname = expr().qualname;
        fused.moduleClass = expr().moduleClass;
        const NodeId renewed =
            m_rewrite.output(m_rewrite.insertBefore(last, std::move(fused), name, std::string(kWhy)));
        graph.setType(renewed, graph.node(old).type);
        const ExprId stands = graph.node(renewed).producer;
        for (const ExprId gone : m_chain) m_rewrite.addOrigins(stands, gone);
        std::vector<graph::Origin>& origins = graph.mutableExpr(stands).origins;
        origins.erase(origins.begin());  // itself, which is new
        const std::string why = "is part of " + std::string(made.name) + ", which " + std::string(kWhy);
        m_rewrite.replace(old, renewed, why);
        for (auto gone = m_chain.rbegin(); gone != m_chain.rend(); ++gone) {
            const std::vector<NodeId> constants = graph.expr(*gone).inputs;
            m_rewrite.erase(*gone, why);
            for (const NodeId constant : constants) m_rewrite.eraseIfUnusedConstant(constant, why);
        }
        for (const NodeId node : read) eraseIfUnused(node, why);
        // The name of what it stands for is free now.
        if (!graph.findNode(name).valid()) (void)graph.rename(renewed, name);
    }

  private:
    const InternalGraph& graph() const { return m_rewrite.graph(); }
    static bool isOf(const Expr& expr, std::string_view name) {
        return expr.op.domain.empty() && expr.op.name == name && expr.outputs.size() == 1;
    }
    ExprId anchor() const { return m_chain.back(); }

    /// The QuantizeLinear that alone reads the result, perhaps behind a bound that its own range has, too.
    void findResult() {
        m_chain = {m_layer};
        std::vector<ExprId> chain = m_chain;
        for (NodeId node = m_rewrite.output(m_layer); m_rewrite.hasOneUse(node);) {
            const Expr& next = graph().expr(graph().node(node).users.front());
            const Argument* x = argumentOf(next, 0);
            if (next.body != expr().body || !x || x->kind != Argument::Kind::Node || x->node != node) return;
            chain.push_back(next.id);
            if (isOf(next, "QuantizeLinear")) {
                const NodeId y = next.outputs.front();
                const DType declared = dtypeOf(graph(), y);
                auto found = quantisedAt(graph(), next, y, declared == DType::Undefined ? DType::UInt8 : declared);
                if (!found || !found->isWhole() || !isByteType(found->dtype) || !keepsRange(chain, *found)) return;
                m_result = std::move(found);
                m_chain = std::move(chain);
                return;
            }
            if (!isBound(next)) return;
            node = next.outputs.front();
        }
    }
    static bool isBound(const Expr& expr) { return isOf(expr, "Relu") || isOf(expr, "Clip"); }

    /// Every bound of the chain is quantised to an end of what the quantised tensor holds, where it is held anyway.
    bool keepsRange(const std::vector<ExprId>& chain, const Quantised& to) const {
        const bool isSigned = to.dtype == DType::Int8;
        const auto quantised = [&](double x) { return std::nearbyint(x / to.scaleAt(0)) + to.zeroPoint(); };
        for (std::size_t i = 1; i + 1 < chain.size(); ++i) {
            const Expr& bound = graph().expr(chain[i]);
            double least = 0, most = INFINITY;
            if (isOf(bound, "Clip")) {
                const Argument *from = argumentOf(bound, 1), *until = argumentOf(bound, 2);
                const auto given = [](const Argument* argument) {
                    return argument && argument->kind != Argument::Kind::Omitted;
                };
                // Before opset 11 bounds were attributes.
                least =
                    given(from) ? scalarOf(graph(), from).value_or(NAN) : bound.attributes.getFloat("min", -INFINITY);
                most =
                    given(until) ? scalarOf(graph(), until).value_or(NAN) : bound.attributes.getFloat("max", INFINITY);
            }
            if (!(quantised(least) <= (isSigned ? -128 : 0) && quantised(most) >= (isSigned ? 127 : 255))) return false;
        }
        return true;
    }

    /// A DequantizeLinear, with its constants.
    void eraseIfUnused(NodeId node, const std::string& why) {
        const ExprId producer = graph().node(node).producer;
        if (graph().isErased(producer) || !graph().node(node).users.empty() || m_rewrite.isResult(node)) return;
        if (!isOf(graph().expr(producer), "DequantizeLinear")) return m_rewrite.eraseIfUnusedConstant(node, why);
        const std::vector<NodeId> constants = graph().expr(producer).inputs;
        m_rewrite.erase(producer, why);
        for (const NodeId constant : constants) m_rewrite.eraseIfUnusedConstant(constant, why);
    }

    Rewrite& m_rewrite;
    ExprId m_layer;
    std::vector<ExprId> m_chain;  ///< the layer, bounds behind it, and what quantises: what goes
    std::optional<Quantised> m_result;
};

using Made = std::optional<Fusion::Made>;

Made fusedConv(Fusion& fusion, std::string_view) {
    const auto x = fusion.bytes(0), w = fusion.operand(1);
    if (!x || !w || !isByteType(w->dtype) || (!w->isWhole() && w->axis != 0) || !fusion.result()) return {};
    const auto bias = fusion.hasArgument(2) ? fusion.bias(2, *x, *w) : std::nullopt;
    if (fusion.hasArgument(2) && !bias) return {};
    Fusion::Made made{"", "QLinearConv", {}, fusion.expr().attributes};
    fusion.addScaled(made.arguments, *x);
    fusion.addScaled(made.arguments, *w);
    fusion.addScales(made.arguments, *fusion.result());
    if (bias) made.arguments.push_back(Argument::of(bias->node));
    return made;
}

/// The scales of a right factor of two dimensions go with its columns.
bool isByColumn(const Quantised& b, bool isTransposed) { return b.isWhole() || b.axis == (isTransposed ? 0 : 1); }

Made fusedMatMul(Fusion& fusion, std::string_view) {
    const auto a = fusion.bytes(0), b = fusion.operand(1);
    if (!a || !b || !isByteType(b->dtype) || !isByColumn(*b, false)) return {};
    if (!fusion.result()) {
        std::vector<Argument> arguments{Argument::of(a->node), Argument::of(b->node), Fusion::scale(*a),
                                        Fusion::scale(*b),     fusion.zero(*a),       fusion.zero(*b)};
        return Fusion::Made{kContrib, "MatMulIntegerToFloat", std::move(arguments), {}};
    }
    Fusion::Made made{"", "QLinearMatMul", {}, {}};
    fusion.addScaled(made.arguments, *a);
    fusion.addScaled(made.arguments, *b);
    fusion.addScales(made.arguments, *fusion.result());
    return made;
}

Made fusedGemm(Fusion& fusion, std::string_view) {
    const graph::Attributes& given = fusion.expr().attributes;
    const double alpha = given.getFloat("alpha", 1);
    const bool turnsB = given.getInt("transB", 0) != 0;
    const auto a = fusion.bytes(0), b = fusion.operand(1);
    if (!a || !b || !isByteType(b->dtype) || !isByColumn(*b, turnsB)) return {};
    const auto bias = fusion.hasArgument(2) ? fusion.bias(2, *a, *b, alpha) : std::nullopt;
    if (fusion.hasArgument(2) && (!bias || given.getFloat("beta", 1) != 1)) return {};
    Fusion::Made made{kContrib, "QGemm", {}, given};
    made.attributes.erase("beta");
    fusion.addScaled(made.arguments, *a);
    fusion.addScaled(made.arguments, *b);
    if (bias) made.arguments.push_back(Argument::of(bias->node));
    else if (fusion.result()) made.arguments.push_back(Argument::omitted());
    if (fusion.result()) fusion.addScales(made.arguments, *fusion.result());
    return made;
}

/// Of two tensors, element by element.
Made fusedPair(Fusion& fusion, std::string_view name) {
    const auto a = fusion.bytes(0), b = fusion.bytes(1);
    if (!a || !b || !fusion.result() || a->dtype != b->dtype || a->dtype != fusion.result()->dtype) return {};
    Fusion::Made made{kContrib, name, {}, {}};
    fusion.addScaled(made.arguments, *a);
    fusion.addScaled(made.arguments, *b);
    fusion.addScales(made.arguments, *fusion.result());
    return made;
}

/// Of one tensor, with the same attributes.
Made fusedOne(Fusion& fusion, std::string_view name) {
    const auto x = fusion.bytes(0);
    if (!x || !fusion.result() || x->dtype != fusion.result()->dtype) return {};
    Fusion::Made made{kContrib, name, {}, fusion.expr().attributes};
    fusion.addScaled(made.arguments, *x);
    fusion.addScales(made.arguments, *fusion.result());
    return made;
}

/// The pool of bytes has no dilations.
Made fusedPool(Fusion& fusion, std::string_view name) {
    const auto dilations = fusion.expr().attributes.getInts("dilations");
    if (std::ranges::any_of(dilations, [](std::int64_t dilation) { return dilation != 1; })) return {};
    auto made = fusedOne(fusion, name);
    if (made) made->attributes.erase("dilations");
    return made;
}

Made fusedConcat(Fusion& fusion, std::string_view name) {
    if (!fusion.result()) return {};
    Fusion::Made made{kContrib, name, {}, fusion.expr().attributes};
    std::vector<Quantised> parts;
    for (std::size_t i = 0; i < fusion.expr().arguments.size(); ++i) {
        const auto part = fusion.bytes(i);
        if (!part || part->dtype != fusion.result()->dtype) return {};
        parts.push_back(*part);
    }
    fusion.addScales(made.arguments, *fusion.result());
    for (const Quantised& part : parts) fusion.addScaled(made.arguments, part);
    return made;
}

/// What only moves or chooses elements does the same with the integers, if their scale stays.
Made fusedMove(Fusion& fusion, std::string_view name) {
    const auto x = fusion.bytes(0);
    const auto& y = fusion.result();
    if (!x || !y || x->dtype != y->dtype || x->scaleAt(0) != y->scaleAt(0) || x->zeroPoint() != y->zeroPoint())
        return {};
    Fusion::Made made{"", name, fusion.expr().arguments, fusion.expr().attributes};
    made.arguments.front() = Argument::of(x->node);
    return made;
}

struct QuantisedForm {
    std::string_view layer;
    Made (*make)(Fusion& fusion, std::string_view name);
    std::string_view name = {};
};

constexpr QuantisedForm kForms[] = {
    {"Conv", fusedConv},
    {"MatMul", fusedMatMul},
    {"Gemm", fusedGemm},
    {"Add", fusedPair, "QLinearAdd"},
    {"Mul", fusedPair, "QLinearMul"},
    {"Sigmoid", fusedOne, "QLinearSigmoid"},
    {"LeakyRelu", fusedOne, "QLinearLeakyRelu"},
    {"GlobalAveragePool", fusedOne, "QLinearGlobalAveragePool"},
    {"AveragePool", fusedPool, "QLinearAveragePool"},
    {"Concat", fusedConcat, "QLinearConcat"},
    {"MaxPool", fusedMove, "MaxPool"},
    {"Reshape", fusedMove, "Reshape"},
    {"Flatten", fusedMove, "Flatten"},
    {"Squeeze", fusedMove, "Squeeze"},
    {"Unsqueeze", fusedMove, "Unsqueeze"},
    {"Transpose", fusedMove, "Transpose"},
    {"Slice", fusedMove, "Slice"},
    {"DepthToSpace", fusedMove, "DepthToSpace"},
    {"SpaceToDepth", fusedMove, "SpaceToDepth"},
};

bool fuseLayer(Rewrite& rewrite, ExprId id) {
    const Expr& expr = rewrite.graph().expr(id);
    const auto form = std::ranges::find(kForms, expr.op.name, &QuantisedForm::layer);
    if (form == std::end(kForms) || !expr.op.domain.empty() || expr.kind != ExprKind::Apply || expr.outputs.size() != 1)
        return false;
    Fusion fusion(rewrite, id);
    Made made = form->make(fusion, form->name);
    if (!made) return false;
    fusion.apply(std::move(*made));
    return true;
}

}  // namespace

base::Result<std::size_t> fuseQuantized(Rewrite& rewrite) {
    std::size_t count = 0;
    for (const BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (const ExprId id : order)
            if (!rewrite.graph().isErased(id) && fuseLayer(rewrite, id)) ++count;
    }
    return count;
}

}  // namespace sonde::passes
