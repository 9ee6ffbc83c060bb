// x / x -> 1, log(exp(x)) -> x, log(sum(exp(x))) -> logsumexp(x), log(exp(a) + exp(b)) -> logaddexp(a, b): level 1 of
// dumps (dump.md, "Options"). Where the left side overflows or is 0 / 0 the right side has the limit's value.

#include <array>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// ReduceSum takes its axes as an input from this opset on, ReduceLogSumExp from the other one on.
constexpr int kSumHasAxesInput = 13, kLogSumExpHasAxesInput = 18;

class Simplifier {
  public:
    explicit Simplifier(Rewrite& rewrite) : m_rewrite(rewrite), m_memory(rewrite.graph()) {}

    bool apply(ExprId id) {
        m_id = id;
        const Expr& expr = graph().expr(id);
        if (mutates(expr) || expr.outputs.size() != 1) return false;
        if (opClassOf(expr) == OpClass::Div) return divideByItself(expr);
        if (!isUnary(expr, OpClass::Log)) return false;
        const Expr& inner = graph().expr(graph().node(expr.inputs.front()).producer);
        if (m_memory.isWritten(expr.inputs.front())) return false;
        if (const NodeId x = exponentOf(expr.inputs.front()); x.valid() && !m_memory.isWritten(expr.outputs.front())) {
            finish(x, "log(exp(x)) is x");
            return true;
        }
        if (inner.body != expr.body || mutates(inner) || inner.outputs.size() != 1) return false;
        return opClassOf(inner) == OpClass::Add ? addExponents(inner) : sumExponents(inner);
    }

  private:
    const InternalGraph& graph() const { return m_rewrite.graph(); }

    static bool isUnary(const Expr& expr, OpClass opClass) {
        return traitsOf(expr).opClass == opClass && expr.inputs.size() == 1 && expr.arguments.size() == 1 &&
               expr.arguments[0].kind == Argument::Kind::Node && expr.keywords.empty();
    }

    /// x if the node is exp(x) of a floating point x; invalid if not. Whole numbers would change their dtype.
    NodeId exponentOf(NodeId node) const {
        const Expr& expr = graph().expr(graph().node(node).producer);
        if (!isUnary(expr, OpClass::Exp) || mutates(expr) || expr.outputs.size() != 1) return {};
        // What is read later may have been written by then.
        const bool isLater = m_memory.isWrittenBetween(expr.inputs.front(), expr.id, m_id) || m_memory.isWritten(node);
        return tensor::isFloating(dtypeOf(graph(), expr.inputs.front())) && !isLater ? expr.inputs.front() : NodeId();
    }

    bool divideByItself(const Expr& expr) {
        if (expr.inputs.size() != 2 || expr.arguments.size() != 2 || !expr.keywords.empty() ||
            expr.inputs[0] != expr.inputs[1])
            return false;
        const NodeId x = expr.inputs.front();
        if (!tensor::isFloating(dtypeOf(graph(), x))) return false;
        const std::string why = "x / x is 1";
        Expr ones;
        if (familyOf(expr) != Family::Onnx) {
            ones = like(expr, {"aten", "ones_like", 0}, {Argument::of(x)});
            finish(insert(std::move(ones), graph().node(expr.outputs.front()).type, why), why);
            return true;
        }
        auto one = Tensor::scalar<double>(1).reshaped(tensor::Shape{1});
        auto cast = one ? one->cast(dtypeOf(graph(), x)) : std::move(one);
        if (!cast) return false;
        const graph::OpKey own = expr.op;
        const tensor::TypeInfo type = graph().node(expr.outputs.front()).type;
        const auto rank =
            type.shape ? std::optional<tensor::Shape>(tensor::Shape{static_cast<std::int64_t>(type.shape->size())})
                       : std::nullopt;
        const NodeId shape =
            insert(like(expr, {own.domain, "Shape", own.version}, {Argument::of(x)}),
                   rank ? tensor::TypeInfo::tensor(tensor::DType::Int64, *rank) : tensor::TypeInfo(), why);
        ones = like(graph().expr(m_id), {own.domain, "ConstantOfShape", own.version}, {Argument::of(shape)});
        ones.attributes.set("value", std::move(*cast));
        finish(insert(std::move(ones), type, why), why);
        return true;
    }

    bool addExponents(const Expr& sum) {
        if (familyOf(sum) == Family::Onnx || sum.inputs.size() != 2 || sum.arguments.size() != 2 ||
            !sum.keywords.empty())
            return false;
        const std::array<NodeId, 2> x{exponentOf(sum.inputs[0]), exponentOf(sum.inputs[1])};
        if (!x[0].valid() || !x[1].valid()) return false;
        const std::string why = "log(exp(a) + exp(b)) is logaddexp(a, b)";
        const Expr& log = graph().expr(m_id);
        finish(insert(like(log, {"aten", "logaddexp", 0}, {Argument::of(x[0]), Argument::of(x[1])}),
                      graph().node(log.outputs.front()).type, why),
               why);
        return true;
    }

    bool sumExponents(const Expr& sum) {
        const bool isOnnx = familyOf(sum) == Family::Onnx;
        if (traitsOf(sum).opClass != OpClass::Sum) return false;
        if (sum.arguments.empty() || sum.arguments[0].kind != Argument::Kind::Node) return false;
        const NodeId x = exponentOf(sum.arguments[0].node);
        if (!x.valid()) return false;
        const Expr& log = graph().expr(m_id);
        Expr made = like(log,
                         isOnnx ? graph::OpKey{sum.op.domain, "ReduceLogSumExp", sum.op.version}
                                : graph::OpKey{"aten", "logsumexp", 0},
                         sum.arguments);
        made.arguments[0] = Argument::of(x);
        made.keywords = sum.keywords;
        made.attributes = sum.attributes;
        if (!(isOnnx ? takeAxes(made) : hasAxes(made))) return false;
        const std::string why = "log(sum(exp(x))) is logsumexp(x)";
        finish(insert(std::move(made), graph().node(log.outputs.front()).type, why), why);
        return true;
    }

    /// Torch's sum may go without axes and may change the dtype, logsumexp neither.
    bool hasAxes(const Expr& expr) const {
        bool named = false;
        for (const auto& [name, argument] : expr.keywords) {
            if (name != "dim" && name != "keepdim") return false;
            named |= name == "dim";
        }
        const Argument* axes = argumentOf(expr, 1, "dim");
        const bool isNone = !axes || (axes->kind == Argument::Kind::Constant && axes->constant.isNone());
        return !isNone && expr.arguments.size() <= 3 && (named || expr.arguments.size() > 1);
    }

    /// In the opsets between the two the axes move from an input to an attribute.
    bool takeAxes(Expr& expr) const {
        if (expr.op.version < kSumHasAxesInput || expr.op.version >= kLogSumExpHasAxesInput) return true;
        if (expr.attributes.getInt("noop_with_empty_axes", 0) != 0) return false;
        expr.attributes.erase("noop_with_empty_axes");
        if (expr.arguments.size() < 2 || expr.arguments[1].kind == Argument::Kind::Omitted) {
            expr.arguments.resize(1);
            return true;
        }
        const auto axes = tensorOf(graph(), &expr.arguments[1]);
        if (!axes || axes->tensor.dtype() != tensor::DType::Int64 || axes->tensor.numel() == 0) return false;
        std::vector<std::int64_t> values;
        for (std::int64_t i = 0; i < axes->tensor.numel(); ++i)
            values.push_back(static_cast<std::int64_t>(axes->tensor.toDouble(i)));
        expr.attributes.set("axes", std::move(values));
        expr.arguments.resize(1);
        return true;
    }

    static Expr like(const Expr& old, graph::OpKey op, std::vector<Argument> arguments) {
        Expr expr;
        expr.kind = old.kind == ExprKind::CallModule ? ExprKind::CallFunction : old.kind;
        expr.target = op.name;
        expr.op = std::move(op);
        expr.arguments = std::move(arguments);
        return expr;
    }

    NodeId insert(Expr expr, tensor::TypeInfo type, const std::string& why) {
        const std::string name = graph().node(m_rewrite.output(m_id)).name + '_' + expr.op.name;
        const ExprId made = m_rewrite.insertBefore(m_id, std::move(expr), name, why);
        m_rewrite.graph().setType(m_rewrite.output(made), std::move(type));
        m_rewrite.addOrigins(made, m_id);
        return m_rewrite.output(made);
    }

    void finish(NodeId renewed, const std::string& why) {
        m_rewrite.replace(m_rewrite.output(m_id), renewed, why);
        m_rewrite.erase(m_id, why);
    }

    Rewrite& m_rewrite;
    SharedMemory m_memory;
    ExprId m_id;
};

}  // namespace

base::Result<std::size_t> simplifyArithmetic(Rewrite& rewrite) {
    Simplifier simplifier(rewrite);
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            if (!rewrite.graph().isErased(id) && simplifier.apply(id)) ++count;
        }
    }
    return count;
}

}  // namespace sonde::passes
