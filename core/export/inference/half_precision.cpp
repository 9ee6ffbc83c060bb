// float32 graphs in float16 (dump.md, "Inference options"). The kernels compute each operator in float32 and round its
// result; with enable_ioc16 those that add up round after each step, which an attribute tells them.

#include <map>

#include "core/export/inference/export_passes.h"
#include "core/graph/replace_constant.h"
#include "core/graph/traits.h"
#include "core/ops/registry/registry.h"

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
using tensor::TypeInfo;
using tensor::Value;

constexpr int kDefaultOpset = 13;

/// Operators that add up products or elements: what they do so in is said by the attribute compute_mode.
bool addsUp(const Expr& expr) {
    using enum operators::OpClass;
    switch (graph::traitsOf(expr).opClass) {
        case Conv:
        case ConvTranspose:
        case Linear:
        case MatMul:
        case MatrixProduct:
        case AddMatrixProduct:
        case BatchMatrixProduct:
        case Sum:
        case Mean:
        case Reduce: return true;
        default: return false;
    }
}

/// float32 as float16, also of what a sequence holds.
void narrow(TypeInfo& type) {
    if (type.dtype == DType::Float32) type.dtype = DType::Float16;
    for (TypeInfo& element : type.elements) narrow(element);
}

class Halver {
  public:
    Halver(Rewrite& rewrite, bool computesInHalf)
        : m_rewrite(rewrite), m_graph(rewrite.graph()), m_opset(opsetOf(m_graph)), m_computesInHalf(computesInHalf) {}

    base::Result<std::size_t> run() {
        SONDE_TRY(change(m_graph.mainId()));
        return m_count;
    }

  private:
    bool isWide(NodeId node) const {
        const TypeInfo& type = m_graph.node(node).type;
        return type.isTensor() && type.dtype == DType::Float32;
    }

    base::Result<void> change(graph::BodyId body) {
        const std::vector<ExprId> order = m_graph.body(body).order;
        for (const ExprId id : order) SONDE_TRY(change(id));
        return {};
    }

    base::Result<void> change(ExprId id) {
        const ExprKind kind = m_graph.expr(id).kind;
        if (!m_graph.expr(id).bodies.empty()) return changeControl(id);
        // Inputs of bodies have their type from enter().
        if (kind == ExprKind::Input) return castBehind(id, m_graph.expr(id).outputs.front());
        if (kind == ExprKind::Output) return {};
        if (kind == ExprKind::Constant || kind == ExprKind::GetAttr)
            return narrowConstant(m_graph.expr(id).outputs.front());
        const Expr& expr = m_graph.expr(id);
        if (expr.op.domain.empty() && graph::traitsOf(expr).opClass == operators::OpClass::Cast &&
            expr.attributes.getInt("to", 0) == static_cast<std::int64_t>(DType::Float32)) {
            m_graph.mutableExpr(id).attributes.set("to", static_cast<std::int64_t>(DType::Float16));
            setDtype(expr.outputs.front(), DType::Float16);
            ++m_count;
            return {};
        }
        SONDE_TRY(widenInputs(id));
        SONDE_TRY(setOutputs(id));
        if (m_computesInHalf && addsUp(m_graph.expr(id)))
            m_graph.mutableExpr(id).attributes.set("compute_mode", std::string("float16"));
        return {};
    }

    /// A branch or loop: its bodies begin with what it is given, and it gives what they end in.
    base::Result<void> changeControl(ExprId id) {
        const std::vector<graph::BodyId> bodies = m_graph.expr(id).bodies;
        for (const graph::BodyId body : bodies) {
            enter(id, body);
            SONDE_TRY(change(body));
        }
        const std::vector<NodeId> outputs = m_graph.expr(id).outputs;
        // The condition of a loop comes first in its body's results and is none of its outputs.
        const std::vector<NodeId>& results = m_graph.body(bodies.front()).outputs;
        const std::size_t first = results.size() > outputs.size() ? results.size() - outputs.size() : 0;
        for (std::size_t i = 0; i < outputs.size() && first + i < results.size(); ++i) {
            const TypeInfo& result = m_graph.node(results[first + i]).type;
            if (isWide(results[first + i]) || result == m_graph.node(outputs[i]).type) continue;
            TypeInfo type = m_graph.node(outputs[i]).type;
            narrow(type);
            m_graph.setType(outputs[i], std::move(type));
            ++m_count;
        }
        for (const NodeId output : outputs) SONDE_TRY(castBehind(id, output));
        return {};
    }

    /// Inputs of a body are what its owner is given, in the same order; older scans have a length in front.
    void enter(ExprId owner, graph::BodyId body) {
        const std::vector<Argument>& given = m_graph.expr(owner).arguments;
        const std::vector<NodeId> inputs = m_graph.body(body).inputs;
        const std::size_t first = given.size() > inputs.size() ? given.size() - inputs.size() : 0;
        for (std::size_t i = 0; i < inputs.size() && first + i < given.size(); ++i) {
            const Argument& argument = given[first + i];
            if (argument.kind != Argument::Kind::Node || isWide(argument.node)) continue;
            TypeInfo type = m_graph.node(inputs[i]).type;
            narrow(type);
            m_graph.setType(inputs[i], std::move(type));
        }
    }

    void setDtype(NodeId node, DType dtype) {
        TypeInfo type = m_graph.node(node).type;
        type.dtype = dtype;
        m_graph.setType(node, std::move(type));
    }

    /// What this expr gives in float32 is read in float16 from here on.
    base::Result<void> castBehind(ExprId id, NodeId node) {
        if (!isWide(node)) return {};
        const NodeId half = cast(id, node, DType::Float16, true);
        m_rewrite.replaceBehind(node, half, m_graph.node(half).producer);
        m_wide[half] = node;
        ++m_count;
        return {};
    }

    NodeId cast(ExprId anchor, NodeId node, DType dtype, bool behind) {
        Expr made;
        made.kind = ExprKind::Apply;
        made.op = {"", "Cast", m_opset};
        made.target = "Cast";
        made.arguments = {Argument::of(node)};
        made.attributes.set("to", static_cast<std::int64_t>(dtype));
        const std::string name = m_graph.node(node).name + (dtype == DType::Float16 ? "_half" : "_float");
        const std::string why = "operators pass float16 to each other";
        const ExprId id = behind ? m_rewrite.insertAfter(anchor, std::move(made), name, why)
                                 : m_rewrite.insertBefore(anchor, std::move(made), name, why);
        const NodeId result = m_rewrite.output(id);
        m_graph.setType(result, m_graph.node(node).type);
        setDtype(result, dtype);
        return result;
    }

    base::Result<void> narrowConstant(NodeId node) {
        const auto& value = m_graph.node(node).constant;
        if (!value || !value->isTensor() || value->tensor().dtype() != DType::Float32) return {};
        m_constants.emplace(node, *value);
        SONDE_ASSIGN(tensor::Tensor half, value->tensor().cast(DType::Float16));
        graph::replaceConstant(m_graph, node, Value(std::move(half)));
        setDtype(node, DType::Float16);
        ++m_count;
        return {};
    }

    /// Inputs that must be float32 (scales of Resize, of quantisation) stay or become so.
    base::Result<void> widenInputs(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const ops::OpDef* row = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (!row || row->inputs.empty()) return {};
        std::vector<Argument> arguments = expr.arguments;
        bool changed = false;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const ops::Formal& formal = row->inputs[std::min(i, row->inputs.size() - 1)];
            if (arguments[i].kind != Argument::Kind::Node ||
                m_graph.node(arguments[i].node).type.dtype != DType::Float16)
                continue;
            if ((formal.dtypes & ops::bit(DType::Float16)) != 0) continue;
            SONDE_ASSIGN(arguments[i], wide(id, arguments[i].node));
            changed = true;
        }
        if (changed) m_graph.setArguments(id, std::move(arguments), m_graph.expr(id).keywords);
        return {};
    }

    base::Result<Argument> wide(ExprId before, NodeId node) {
        if (const auto constant = m_constants.find(node); constant != m_constants.end()) {
            return Argument::of(m_rewrite.constantBefore(before, constant->second, m_graph.node(node).name + "_float",
                                                         "the operator takes only float32"));
        }
        if (const auto source = m_wide.find(node); source != m_wide.end()) return Argument::of(source->second);
        return Argument::of(cast(before, node, DType::Float32, false));
    }

    /// The dtypes that come out now; float32 among them is cast.
    base::Result<void> setOutputs(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const ops::OpDef* row = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (!row || !row->infer) return {};
        std::vector<TypeInfo> types;
        std::vector<Value> constants;
        for (const Argument& argument : expr.arguments) {
            const bool isNode = argument.kind == Argument::Kind::Node;
            const Value value = isNode ? m_graph.node(argument.node).constant.value_or(Value()) : argument.constant;
            types.push_back(isNode ? m_graph.node(argument.node).type : TypeInfo::of(value));
            constants.push_back(value);
        }
        SONDE_ASSIGN(const ops::Inferred inferred,
                     ops::infer(*row, types, constants, expr.attributes, expr.outputs.size()));
        const std::vector<NodeId> outputs = expr.outputs;
        for (std::size_t i = 0; i < outputs.size() && i < inferred.types.size(); ++i) {
            if (!inferred.types[i].isTensor() && !inferred.types[i].elements.empty())
                m_graph.setType(outputs[i], inferred.types[i]);
            if (inferred.types[i].dtype == DType::Undefined) continue;
            if (inferred.types[i].dtype != m_graph.node(outputs[i]).type.dtype) ++m_count;
            setDtype(outputs[i], inferred.types[i].dtype);
            SONDE_TRY(castBehind(id, outputs[i]));
        }
        return {};
    }

    Rewrite& m_rewrite;
    InternalGraph& m_graph;
    const int m_opset;
    bool m_computesInHalf;
    std::size_t m_count = 0;
    std::map<NodeId, Value> m_constants;  ///< what narrowed constants were
    std::map<NodeId, NodeId> m_wide;      ///< by what was cast to float16: what it was before
};

}  // namespace

int opsetOf(const InternalGraph& graph) {
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::OpKey& op = graph.expr(id).op;
        if (op.domain.empty() && !op.name.empty() && op.version > 0) return op.version;
    }
    return kDefaultOpset;
}

base::Result<std::size_t> toHalf(Rewrite& rewrite, bool computesInHalf) {
    return Halver(rewrite, computesInHalf).run();
}

}  // namespace sonde::exporting
