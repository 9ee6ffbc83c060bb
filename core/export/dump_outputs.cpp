#include "core/export/dump_outputs.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

/// Keys that are texts, in order; others stay where they are.
bool sortKeys(Argument& result) {
    if (result.kind != Argument::Kind::Dict || result.keys.size() != result.items.size()) return false;
    if (std::ranges::any_of(result.keys, [](const Value& key) { return key.kind() != ValueKind::String; }))
        return false;
    std::vector<std::size_t> order(result.keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return result.keys[i].toString(); });
    if (std::ranges::is_sorted(order)) return false;
    Argument sorted = result;
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted.keys[i] = result.keys[order[i]];
        sorted.items[i] = result.items[order[i]];
    }
    result = std::move(sorted);
    return true;
}

/// torch.tensor's overload for a number, and the dtype that it gives.
struct NumberForm {
    const char* op;
    tensor::DType dtype;
};
std::optional<NumberForm> formOf(std::optional<ValueKind> kind) {
    if (kind == ValueKind::Int) return NumberForm{"tensor.int", tensor::DType::Int64};
    if (kind == ValueKind::Float) return NumberForm{"tensor.float", tensor::DType::Float32};
    if (kind == ValueKind::Bool) return NumberForm{"tensor.bool", tensor::DType::Bool};
    return std::nullopt;
}

class TensorOutputs {
  public:
    explicit TensorOutputs(InternalGraph& graph) : m_graph(graph) {}

    /// Whether anything changed.
    bool convert(Argument& argument) {
        bool changed = false;
        for (Argument& item : argument.items) changed = convert(item) || changed;
        const bool isNode = argument.kind == Argument::Kind::Node;
        if (!isNode && argument.kind != Argument::Kind::Constant) return changed;
        const auto form = formOf(isNode ? m_graph.node(argument.node).type.kind : argument.constant.kind());
        if (!form) return changed;
        const NodeId made = isNode ? ofNode(argument.node, *form) : ofConstant(argument.constant, *form);
        argument = Argument::of(made);
        return true;
    }

    /// What stands for a number.
    const std::map<NodeId, NodeId>& sources() const { return m_sources; }

  private:
    NodeId add(Expr made, const std::string& base, const NumberForm& form) {
        made.body = m_graph.mainId();
        made.scope = m_graph.rootScope();
        std::string name = base;
        for (int i = 1; m_graph.findNode(name).valid(); ++i) name = base + '_' + std::to_string(i);
        // The expr of kind Output stays the last one.
        const std::vector<ExprId>& order = m_graph.main().order;
        const bool endsInOutput = !order.empty() && m_graph.expr(order.back()).kind == ExprKind::Output;
        const ExprId id =
            m_graph.addExpr(std::move(made), std::span(&name, 1), endsInOutput ? order.size() - 1 : order.size());
        const NodeId node = m_graph.expr(id).outputs.front();
        m_graph.setType(node, TypeInfo::tensor(form.dtype, tensor::Shape{}));
        return node;
    }

    NodeId ofNode(NodeId number, const NumberForm& form) {
        if (const auto known = m_tensors.find(number); known != m_tensors.end()) return known->second;
        Expr made;
        made.kind = ExprKind::CallFunction;
        made.op = {"aten", form.op, 0};
        made.target = "tensor";
        made.arguments = {Argument::of(number), Argument::of(Value()), Argument::of(Value()),
                          Argument::of(Value::ofBool(false))};
        const NodeId node = add(std::move(made), m_graph.node(number).name + "_tensor", form);
        m_tensors[number] = node;
        m_sources[node] = number;
        return node;
    }

    NodeId ofConstant(const Value& number, const NumberForm& form) {
        Expr made;
        made.kind = ExprKind::Constant;
        made.target = "constant";
        const NodeId node = add(std::move(made), "number", form);
        Tensor tensor = form.dtype == tensor::DType::Float32 ? Tensor::scalar(static_cast<float>(number.number()))
                        : form.dtype == tensor::DType::Int64 ? Tensor::scalar(number.toInt())
                                                             : Tensor::scalar(number.number() != 0);
        m_graph.setConstant(node, Value(std::move(tensor)));
        return node;
    }

    InternalGraph& m_graph;
    std::map<NodeId, NodeId> m_tensors, m_sources;
};

}  // namespace

Document withDumpOutputs(const Document& document) {
    auto graph = std::make_shared<InternalGraph>(*document.graph);
    Argument result = graph->main().result;
    const bool isSorted = sortKeys(result);
    TensorOutputs outputs(*graph);
    if (!outputs.convert(result) && !isSorted) return document;
    if (const ExprId last = graph->main().order.back(); graph->expr(last).kind == ExprKind::Output)
        graph->setArguments(last, {result});
    graph->setResult(graph->mainId(), result);
    Document changed = document;
    changed.outputs.clear();
    for (const NodeId node : graph->outputs()) {
        const auto source = outputs.sources().find(node);
        const NodeId old = source == outputs.sources().end() ? node : source->second;
        const auto named = std::ranges::find(document.outputs, old, &document::NamedNode::node);
        changed.outputs.push_back({named == document.outputs.end() ? graph->node(node).name : named->name, node});
    }
    changed.graph = std::move(graph);
    return changed;
}

}  // namespace sonde::exporting
