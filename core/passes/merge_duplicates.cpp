#include <algorithm>
#include <map>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// What a value computes as text; empty: it may not be merged.
class Keys {
  public:
    explicit Keys(const InternalGraph& graph) : m_graph(graph) {}

    std::string of(const Expr& expr) const {
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || expr.outputs.empty()) return {};
        if (!expr.bodies.empty() || expr.callable || mutates(expr)) return {};
        const OpClass opClass = opClassOf(expr);
        if (opClass == OpClass::Random || opClass == OpClass::Assertion || opClass == OpClass::Marker ||
            opClass == OpClass::Create)
            return {};
        if (opClass == OpClass::Dropout || opClass == OpClass::Clone) return {};
        std::string key = std::to_string(expr.body.value) + '|' + expr.op.domain + "::" + expr.op.name + '|' +
                          std::to_string(expr.op.version) + '|' + std::to_string(expr.outputs.size());
        if (const auto& constant = m_graph.node(expr.outputs.front()).constant)
            return constantKey(*constant, expr.body, expr.isParameter);
        if (expr.op.name.empty()) return {};
        for (const Argument& argument : expr.arguments) key += '|' + text(argument);
        for (const auto& [name, argument] : expr.keywords) key += '|' + name + '=' + text(argument);
        for (const tensor::Attribute& attribute : expr.attributes.items()) {
            const bool isTensor = std::holds_alternative<Tensor>(attribute.value) ||
                                  std::holds_alternative<std::vector<Tensor>>(attribute.value);
            if (isTensor) return {};
            key += '|' + attribute.name + '=' + tensor::text(attribute.value, std::size_t(-1) / 4);
        }
        return key;
    }

  private:
    /// Constants are equal if they are the same memory, or small and the same bytes; weights have names of their own.
    static std::string constantKey(const Value& value, BodyId body, bool isWeight) {
        if (!value.isTensor()) return {};
        const Tensor& tensor = value.tensor();
        if (tensor.dtype() == tensor::DType::String || !tensor.isContiguous()) return {};
        std::string key = "constant " + std::to_string(body.value) + '|' + tensor.typeText() + '|';
        if (tensor.sizeBytes() <= 64 && !isWeight) {
            key.append(reinterpret_cast<const char*>(tensor.bytes()), tensor.sizeBytes());
        } else {
            // The memory is named and not touched: it may not be there before it is read.
            key += memoryOf(tensor);
        }
        return key;
    }

    static std::string memoryOf(const Tensor& tensor) {
        std::string text = std::to_string(reinterpret_cast<std::uintptr_t>(tensor.storage().get())) + '+' +
                           std::to_string(tensor.offsetElements());
        for (std::int64_t stride : tensor.strides()) text += ',' + std::to_string(stride);
        return text;
    }

    std::string text(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Omitted: return "_";
            case Argument::Kind::Node: return '%' + std::to_string(argument.node.value);
            case Argument::Kind::Constant: return constantText(argument.constant);
            default: break;
        }
        std::string result = std::to_string(static_cast<int>(argument.kind)) + '(';
        for (std::size_t i = 0; i < argument.items.size(); ++i) {
            if (i < argument.keys.size()) result += constantText(argument.keys[i]) + ':';
            result += text(argument.items[i]) + ',';
        }
        return result + ')';
    }

    static std::string constantText(const Value& value) {
        if (value.isTensor()) return "tensor " + memoryOf(value.tensor()) + value.tensor().typeText();
        if (value.kind() == tensor::ValueKind::Object)
            return "object " + std::to_string(reinterpret_cast<std::uintptr_t>(value.object().get()));
        return std::to_string(static_cast<int>(value.kind())) + value.text(std::size_t(-1) / 4);
    }

    const InternalGraph& m_graph;
};

}  // namespace

base::Result<std::size_t> mergeDuplicates(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    const SharedMemory memory(graph);
    // What is written to must stay apart from its twin, and what reads it may read something else the second time.
    const auto mayBeWritten = [&](const Expr& expr) {
        const auto isWritten = [&](NodeId node) { return memory.isWritten(node); };
        return std::ranges::any_of(expr.inputs, isWritten) || std::ranges::any_of(expr.outputs, isWritten);
    };
    std::map<std::string, ExprId> first;
    std::size_t count = 0;
    for (ExprId id : order) {
        const std::string key = Keys(graph).of(graph.expr(id));
        if (key.empty() || mayBeWritten(graph.expr(id))) continue;
        const auto [known, added] = first.emplace(key, id);
        if (added) continue;
        // Two outputs of the program that are equal stay two nodes.
        bool isResult = false;
        for (NodeId node : graph.expr(id).outputs) isResult = isResult || rewrite.isResult(node);
        if (isResult) continue;
        const std::string why = "is already computed";
        const std::vector<NodeId> twins = graph.expr(known->second).outputs;
        for (std::size_t i = 0; i < twins.size(); ++i) rewrite.replace(graph.expr(id).outputs[i], twins[i], why);
        rewrite.addOrigins(known->second, id);
        rewrite.erase(id, why);
        ++count;
    }
    return count;
}

}  // namespace sonde::passes
