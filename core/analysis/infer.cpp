#include "core/analysis/infer.h"

#include <algorithm>
#include <exception>

#include "core/tensor/slice_value.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Dim;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;
using tensor::ValueList;

namespace {

/// Known values are followed only while they are small: shapes, axes, scalars.
constexpr std::int64_t kLargestFollowed = 4096;
constexpr int kDeepest = 200;

bool disagree(const Dim& a, const Dim& b) { return a.known() && b.known() && a.value != b.value; }

bool disagree(const TypeInfo& a, const TypeInfo& b) {
    if (a.kind && b.kind && *a.kind != *b.kind) return true;
    if (a.dtype != tensor::DType::Undefined && b.dtype != tensor::DType::Undefined && a.dtype != b.dtype) return true;
    if (!a.shape || !b.shape) return false;
    if (a.shape->size() != b.shape->size()) return true;
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
        if (disagree((*a.shape)[i], (*b.shape)[i])) return true;
    }
    return false;
}

/// What both say together; the declared symbol wins over an inferred one.
TypeInfo merged(const TypeInfo& declared, const TypeInfo& inferred) {
    TypeInfo result = declared;
    if (!result.kind) result.kind = inferred.kind;
    if (result.dtype == tensor::DType::Undefined) result.dtype = inferred.dtype;
    if (result.elements.empty()) result.elements = inferred.elements;
    if (!result.shape) {
        result.shape = inferred.shape;
    } else if (inferred.shape && inferred.shape->size() == result.shape->size()) {
        for (std::size_t i = 0; i < result.shape->size(); ++i) {
            Dim& dim = (*result.shape)[i];
            const Dim& other = (*inferred.shape)[i];
            if (!dim.known() && (other.known() || dim.symbol.empty())) dim = other;
        }
    }
    return result;
}

class Inference {
  public:
    Inference(InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry)
        : m_graph(graph), m_findings(findings), m_registry(registry), m_known(graph.nodeCount()) {}

    void inferBody(BodyId id, int depth) {
        if (depth > kDeepest) return;
        const std::vector<ExprId> order = m_graph.body(id).order;
        for (ExprId expr : order) inferExpr(expr, depth);
    }

  private:
    void inferExpr(ExprId id, int depth) {
        const Expr& expr = m_graph.expr(id);
        if (expr.kind == graph::ExprKind::Input) return;
        if (!expr.outputs.empty()) {
            if (const auto& constant = m_graph.node(expr.outputs.front()).constant) {
                settle(expr.outputs.front(), TypeInfo::of(*constant), *constant);
                return;
            }
        }
        if (expr.op.name.empty() && !expr.bodies.empty()) {
            inferCall(expr, depth);
            return;
        }
        for (BodyId body : expr.bodies) inferBody(body, depth + 1);
        const bool isControl = expr.op.domain == "prim" && (expr.op.name == "If" || expr.op.name == "Loop");
        if (isControl && !expr.bodies.empty()) inferControl(expr);
        else inferOperator(expr);
    }

    /// What can be said of one of several values.
    static TypeInfo common(const TypeInfo& a, const TypeInfo& b) {
        TypeInfo result;
        if (a.kind != b.kind) return result;
        result.kind = a.kind;
        if (a.dtype == b.dtype) result.dtype = a.dtype;
        if (a.elements == b.elements) result.elements = a.elements;
        if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return result;
        result.shape = a.shape;
        for (std::size_t i = 0; i < a.shape->size(); ++i) {
            if ((*a.shape)[i] != (*b.shape)[i]) (*result.shape)[i] = Dim{};
        }
        return result;
    }

    /// prim::If gives what its branches give, prim::Loop (behind trip count and condition) what goes in or around.
    void inferControl(const Expr& expr) {
        const bool isLoop = expr.op.name == "Loop";
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const std::vector<NodeId>& first = m_graph.body(expr.bodies.front()).outputs;
            const std::vector<NodeId>& last = m_graph.body(expr.bodies.back()).outputs;
            const std::size_t at = isLoop ? i + 1 : i;
            if (at >= first.size() || at >= last.size() || (isLoop && i + 2 >= expr.arguments.size())) return;
            const TypeInfo one = isLoop ? typeOf(expr.arguments[i + 2]) : m_graph.node(first[at]).type;
            settle(expr.outputs[i], common(one, m_graph.node(last[at]).type), {});
        }
    }

    /// A called module or function: types go in by position and come out of the body's result.
    void inferCall(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i) {
            settle(body.inputs[i], m_graph.node(expr.inputs[i]).type, known(expr.inputs[i]));
        }
        inferBody(body.id, depth + 1);
        if (expr.outputs.size() == 1) {
            settle(expr.outputs.front(), typeOf(body.result), valueOf(body.result));
            return;
        }
        for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
            settle(expr.outputs[i], m_graph.node(body.outputs[i]).type, known(body.outputs[i]));
        }
    }

    void inferOperator(const Expr& expr) {
        if (expr.kind == graph::ExprKind::Output) {
            if (!expr.outputs.empty() && !expr.arguments.empty()) settle(expr.outputs.front(), typeOf(expr.arguments.front()), {});
            return;
        }
        const ops::OpDef* op = m_registry.find(expr.op.domain, expr.op.name, expr.op.version);
        if (!op || !op->infer) return;
        const auto attributes = ops::completeAttributes(*op, expr.attributes);
        if (!attributes) {
            note(expr, attributes.error().what);
            return;
        }
        std::vector<TypeInfo> types;
        std::vector<Value> constants;
        bind(expr, *op, types, constants);
        ops::InferContext context(types, constants, *attributes, expr.outputs.size());
        base::Result<void> result;
        try {
            result = op->infer(context);
        } catch (const std::exception& exception) {
            result = base::unreadable(exception.what());
        }
        if (!result) {
            note(expr, result.error().what);
            return;
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) settle(expr.outputs[i], context.outputs()[i], context.known()[i]);
    }

    void bind(const Expr& expr, const ops::OpDef& op, std::vector<TypeInfo>& types, std::vector<Value>& constants) const {
        const auto add = [&](const Argument& argument) {
            types.push_back(typeOf(argument));
            constants.push_back(valueOf(argument));
        };
        for (const Argument& argument : expr.arguments) add(argument);
        for (std::size_t i = types.size(); i < op.parameters.size(); ++i) {
            const ops::Parameter& parameter = op.parameters[i];
            const auto given = std::find_if(expr.keywords.begin(), expr.keywords.end(),
                                            [&](const auto& keyword) { return keyword.first == parameter.name; });
            if (given != expr.keywords.end()) {
                add(given->second);
            } else {
                add(Argument::of(parameter.fallback.value_or(Value())));
            }
        }
    }

    const Value& known(NodeId node) const { return m_known[node.index()]; }

    TypeInfo typeOf(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Omitted: return TypeInfo::of(Value());
            case Argument::Kind::Node: return m_graph.node(argument.node).type;
            case Argument::Kind::Constant: return TypeInfo::of(argument.constant);
            default: break;
        }
        TypeInfo type;
        type.kind = argument.kind == Argument::Kind::List    ? ValueKind::List
                    : argument.kind == Argument::Kind::Tuple ? ValueKind::Tuple
                    : argument.kind == Argument::Kind::Dict  ? ValueKind::Dict
                                                             : ValueKind::Object;
        if (argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple) {
            for (const Argument& item : argument.items) type.elements.push_back(typeOf(item));
        }
        return type;
    }

    /// None unless every part is known.
    Value valueOf(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Node: return known(argument.node);
            case Argument::Kind::Constant: return argument.constant;
            case Argument::Kind::List:
            case Argument::Kind::Tuple:
            case Argument::Kind::Slice: {
                ValueList items;
                for (const Argument& item : argument.items) {
                    items.push_back(valueOf(item));
                    const bool isNoneConstant = item.kind == Argument::Kind::Constant && item.constant.isNone();
                    if (items.back().isNone() && !isNoneConstant) return Value();
                }
                if (argument.kind == Argument::Kind::List) return Value::list(std::move(items));
                if (argument.kind == Argument::Kind::Tuple) return Value::tuple(std::move(items));
                items.resize(3);
                return Value::object(std::make_shared<tensor::SliceValue>(items[0], items[1], items[2]));
            }
            default: return Value();
        }
    }

    void settle(NodeId node, const TypeInfo& inferred, Value value) {
        const TypeInfo& declared = m_graph.node(node).type;
        if (disagree(declared, inferred)) {
            const Expr& producer = m_graph.expr(m_graph.node(node).producer);
            m_findings.push_back({base::Severity::Warning,
                                  "the file declares " + declared.text() + " but its operators give " + inferred.text(),
                                  "node '" + m_graph.node(node).name + "'" +
                                      (producer.qualname && !producer.qualname->empty() ? ", module '" + *producer.qualname + "'" : ""),
                                  {}});
        } else {
            m_graph.setType(node, merged(declared, inferred));
        }
        const bool small = !value.isTensor() || value.tensor().numel() <= kLargestFollowed;
        if (small) m_known[node.index()] = std::move(value);
    }

    void note(const Expr& expr, const std::string& what) {
        const std::string node = expr.outputs.empty() ? expr.name : m_graph.node(expr.outputs.front()).name;
        m_findings.push_back({base::Severity::Warning, expr.op.name + ": " + what, "node '" + node + "'", {}});
    }

    InternalGraph& m_graph;
    base::Diagnostics& m_findings;
    const ops::Registry& m_registry;
    std::vector<Value> m_known;
};

}  // namespace

void inferTypes(InternalGraph& graph, base::Diagnostics& findings, const ops::Registry& registry) {
    Inference(graph, findings, registry).inferBody(graph.mainId(), 0);
}

}  // namespace sonde::analysis
