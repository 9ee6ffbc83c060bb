#include <algorithm>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// A folded value larger than this and than what it is made of stays an operation: the file would grow by it.
constexpr std::size_t kFreeBytes = std::size_t{1} << 20;

std::optional<Value> valueOf(const InternalGraph& graph, const Argument& argument) {
    if (argument.kind == Argument::Kind::Omitted) return Value();
    if (const Value* constant = constantOf(graph, &argument)) return *constant;
    if (argument.kind != Argument::Kind::List && argument.kind != Argument::Kind::Tuple) return std::nullopt;
    tensor::ValueList items;
    for (const Argument& item : argument.items) {
        auto value = valueOf(graph, item);
        if (!value) return std::nullopt;
        items.push_back(std::move(*value));
    }
    return argument.kind == Argument::Kind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

std::size_t bytesOf(const Value& value) { return value.isTensor() ? value.tensor().sizeBytes() : 0; }

bool mayBeFolded(const Rewrite& rewrite, const SharedMemory& memory, const Expr& expr) {
    if (expr.op.name.empty() || expr.outputs.empty() || !expr.bodies.empty() || expr.callable || !expr.keywords.empty())
        return false;
    if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || mutates(expr)) return false;
    const OpClass opClass = opClassOf(expr);
    if (opClass == OpClass::Random || opClass == OpClass::Assertion || opClass == OpClass::Marker) return false;
    const InternalGraph& graph = rewrite.graph();
    if (graph.node(expr.outputs.front()).constant) return false;
    // A constant that is written has another value later, and a value that is written must be made anew in each run.
    const auto isWritten = [&](NodeId node) { return memory.isWritten(node); };
    if (std::ranges::any_of(expr.inputs, isWritten) || std::ranges::any_of(expr.outputs, isWritten)) return false;
    // Sizes that are known beforehand spare the computation.
    for (NodeId node : expr.outputs) {
        const auto shape = graph.node(node).type.staticShape();
        std::size_t inputs = 0;
        for (NodeId input : expr.inputs)
            inputs += graph.node(input).constant ? bytesOf(*graph.node(input).constant) : 0;
        const tensor::DType dtype = graph.node(node).type.dtype;
        if (shape && dtype != tensor::DType::Undefined &&
            static_cast<std::size_t>(shape->numel()) * tensor::itemSize(dtype) > std::max(kFreeBytes, inputs)) {
            return false;
        }
    }
    return true;
}

bool foldOne(Rewrite& rewrite, const SharedMemory& memory, ExprId id) {
    InternalGraph& graph = rewrite.graph();
    if (!mayBeFolded(rewrite, memory, graph.expr(id))) return false;
    std::vector<Value> arguments;
    std::size_t inputBytes = 0;
    for (const Argument& argument : graph.expr(id).arguments) {
        auto value = valueOf(graph, argument);
        if (!value) return false;
        inputBytes += bytesOf(*value);
        arguments.push_back(std::move(*value));
    }
    auto results = (*rewrite.evaluate())(graph.expr(id), arguments);
    const std::vector<NodeId> outputs = graph.expr(id).outputs;
    if (!results || results->size() < outputs.size()) return false;
    // Constants of ONNX are tensors: a sequence stays what makes it.
    const bool isOnnx = familyOf(graph.expr(id)) == Family::Onnx;
    if (isOnnx && std::ranges::any_of(*results, [](const Value& result) { return !result.isTensor(); })) return false;
    std::size_t resultBytes = 0;
    for (const Value& result : *results) resultBytes += bytesOf(result);
    if (resultBytes > std::max(kFreeBytes, inputBytes)) return false;
    const std::vector<NodeId> inputs = graph.expr(id).inputs;
    const std::string why = "computed once from constants";
    std::vector<std::pair<NodeId, std::string>> names;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        // Values of an operator may share memory with its inputs; the constant must not.
        Value value = (*results)[i];
        if (value.isTensor()) {
            auto own =
                value.tensor().isContiguous() ? base::Result<Tensor>(value.tensor()) : value.tensor().contiguous();
            if (!own) return false;
            value = Value(std::move(*own));
        }
        const std::string name = graph.node(outputs[i]).name;
        const NodeId constant = rewrite.constantBefore(id, std::move(value), name, why);
        rewrite.addOrigins(graph.node(constant).producer, id);
        rewrite.replace(outputs[i], constant, why);
        names.emplace_back(constant, name);
    }
    rewrite.erase(id, why);
    for (const auto& [node, name] : names) (void)graph.rename(node, name);
    for (NodeId input : inputs) rewrite.eraseIfUnusedConstant(input, "used only by a folded operation");
    return true;
}

}  // namespace

base::Result<std::size_t> foldConstant(Rewrite& rewrite) {
    if (!rewrite.evaluate()) return std::size_t{0};
    const SharedMemory memory(rewrite.graph());
    std::size_t count = 0;
    for (ExprId id : rewrite.graph().recursiveOrder(rewrite.graph().mainId())) {
        if (!rewrite.graph().isErased(id) && foldOne(rewrite, memory, id)) ++count;
    }
    return count;
}

}  // namespace sonde::passes
