// x - c -> x + (-c), c - x -> neg(x) + c, x / c -> x * (1/c), c / x -> pow(x, -1) * c; c + x and c * x are swapped.

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// "sub_1" as the name of a sum: "add_1"; of a traced module's "block0_rsub_out": "block0_add_out".
std::string nameFor(const InternalGraph& graph, const Expr& old, std::string_view display) {
    const std::string_view name = graph.node(old.outputs.front()).name;
    std::string_view operation = name;
    if (const std::size_t bar = name.rfind('_');
        bar != std::string_view::npos && name.find_first_not_of("0123456789", bar + 1) == std::string_view::npos)
        operation = name.substr(0, bar);
    // What traced modules call a result (traced-module.md, "Names").
    constexpr std::string_view kResult = "_out";
    if (operation.ends_with(kResult)) operation.remove_suffix(kResult.size());
    const std::string_view behind = name.substr(operation.size());
    for (std::string_view word : {"rsub", "sub", "rtruediv", "truediv", "div", "radd", "add", "rmul", "mul"}) {
        if (!operation.ends_with(word)) continue;
        const std::string_view front = operation.substr(0, operation.size() - word.size());
        if (front.empty() || front.ends_with('_')) return std::string(front).append(display).append(behind);
    }
    if (familyOf(old) == Family::Onnx) return std::string(name) + "_" + std::string(display);
    return std::string(display).append(behind.starts_with(kResult) ? kResult : std::string_view());
}

class Normaliser {
  public:
    Normaliser(Rewrite& rewrite, const SharedMemory& memory) : m_rewrite(rewrite), m_memory(memory) {}

    bool apply(ExprId id) {
        const InternalGraph& graph = m_rewrite.graph();
        const Expr& expr = graph.expr(id);
        const OpClass opClass = opClassOf(expr);
        if (mutates(expr) || expr.outputs.size() != 1 || m_memory.readsWrittenConstant(graph, expr)) return false;
        if (opClass != OpClass::Add && opClass != OpClass::Sub && opClass != OpClass::ReverseSub &&
            opClass != OpClass::Mul && opClass != OpClass::Div) {
            return false;
        }
        const auto operation = scalarOperation(graph, expr);
        if (!operation) return false;
        m_id = id;
        m_operation = *operation;
        // What may be whole numbers divides differently, and has no negative powers.
        const bool divides = opClass == OpClass::Div;
        if (divides && (isKnownInteger(graph, operation->node) || operation->scalar == 0)) return false;
        if (familyOf(expr) == Family::Onnx && !tensor::isFloating(dtypeOf(graph, operation->node))) return false;
        const bool constantFirst = opClass == OpClass::ReverseSub ? !operation->scalarFirst : operation->scalarFirst;
        if (opClass == OpClass::Add || opClass == OpClass::Mul) {
            if (!constantFirst) return false;
            finish(make(opClass, operation->node, operation->scalar, operation->wholeNumber,
                        "the constant is the second operand"),
                   "its operands are swapped");
        } else if (opClass == OpClass::Div) {
            divide(constantFirst);
        } else if (constantFirst) {
            const std::string why = "c - x is neg(x) + c";
            const NodeId negated =
                insert(makeArithmetic(expr, OpClass::Neg, operation->node, std::nullopt), "neg", why);
            finish(make(OpClass::Add, negated, m_operation.scalar, m_operation.wholeNumber, why), why);
        } else {
            const std::string why = "x - c is x + (-c)";
            finish(make(OpClass::Add, operation->node, -operation->scalar, operation->wholeNumber, why), why);
        }
        return true;
    }

  private:
    void divide(bool constantFirst) {
        if (!constantFirst) {
            const std::string why = "x / c is x * (1/c)";
            finish(make(OpClass::Mul, m_operation.node, 1 / m_operation.scalar, false, why), why);
            return;
        }
        const std::string why = "c / x is pow(x, -1) * c";
        const Expr like = m_rewrite.graph().expr(m_id);
        Argument exponent = scalarOperand(m_rewrite, m_id, -1, false, constantDType(), why);
        const NodeId power =
            insert(makeArithmetic(like, OpClass::Pow, m_operation.node, std::move(exponent)), "pow", why);
        finish(make(OpClass::Mul, power, m_operation.scalar, m_operation.wholeNumber, why), why);
    }

    tensor::DType constantDType() const { return dtypeOf(m_rewrite.graph(), m_operation.node); }

    NodeId insert(Expr expr, std::string_view display, const std::string& why) {
        const std::string name = nameFor(m_rewrite.graph(), m_rewrite.graph().expr(m_id), display);
        const ExprId made = m_rewrite.insertBefore(m_id, std::move(expr), name, why);
        m_rewrite.graph().setType(m_rewrite.output(made), m_rewrite.graph().node(m_rewrite.output(m_id)).type);
        m_rewrite.addOrigins(made, m_id);
        return m_rewrite.output(made);
    }

    NodeId make(OpClass opClass, NodeId node, double scalar, bool wholeNumber, const std::string& why) {
        Argument operand = scalarOperand(m_rewrite, m_id, scalar, wholeNumber, constantDType(), why);
        const Expr like = m_rewrite.graph().expr(m_id);
        return insert(makeArithmetic(like, opClass, node, std::move(operand)), opClass == OpClass::Add ? "add" : "mul",
                      why);
    }

    void finish(NodeId made, const std::string& why) {
        const std::vector<NodeId> inputs = m_rewrite.graph().expr(m_id).inputs;
        m_rewrite.replace(m_rewrite.output(m_id), made, why);
        m_rewrite.erase(m_id, why);
        for (NodeId input : inputs) m_rewrite.eraseIfUnusedConstant(input, "was folded into another constant");
    }

    Rewrite& m_rewrite;
    const SharedMemory& m_memory;
    ExprId m_id;
    ScalarOperation m_operation;
};

}  // namespace

base::Result<std::size_t> normElemWise(Rewrite& rewrite) {
    const SharedMemory memory(rewrite.graph());
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            if (!rewrite.graph().isErased(id) && Normaliser(rewrite, memory).apply(id)) ++count;
        }
    }
    return count;
}

}  // namespace sonde::passes
