#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

#include "core/analysis/findings/checker.h"
#include "core/analysis/findings/written_values.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;

namespace {

using ValueNumber = std::uint64_t;

constexpr std::size_t kMaxHashedBytes = std::size_t{1} << 16;

ValueNumber joined(ValueNumber hash, ValueNumber more) {
    hash = (hash ^ (more + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2))) * 0xff51afd7ed558ccd;
    return hash ^ (hash >> 31);
}

ValueNumber ofText(std::string_view text) {
    ValueNumber hash = text.size();
    for (const char c : text) hash = joined(hash, static_cast<unsigned char>(c));
    return hash;
}

/// Numbers values: nodes with one number have one value, whatever the model is given (up to collisions of 64 bits).
class Numbering {
  public:
    explicit Numbering(const InternalGraph& graph)
        : m_graph(graph), m_isWritten(writtenValues(graph)), m_ofNode(graph.nodeCount(), 0) {
        for (std::size_t i = 0; i < m_ofNode.size(); ++i) m_ofNode[i] = joined(1, i);
        for (const ExprId id : graph.recursiveOrder(graph.mainId())) number(graph.expr(id));
    }

    ValueNumber of(NodeId node) const { return m_ofNode[node.index()]; }

    /// Pure, with tensors among what it is computed from: worth telling if it is done twice.
    static bool isPure(const Expr& expr) {
        const operators::Traits& traits = graph::traitsOf(expr);
        const bool isAside = traits.is(operators::Trait::Random) || traits.is(operators::Trait::Effect) ||
                             traits.memory.writes || traits.memory.reforms || traits.opClass == OpClass::Dropout ||
                             traits.opClass == OpClass::Clone || traits.opClass == OpClass::Assertion ||
                             traits.opClass == OpClass::Marker || traits.opClass == OpClass::Create;
        return isComputed(expr) && !expr.op.name.empty() && expr.bodies.empty() && !expr.callable && !isAside &&
               !expr.inputs.empty();
    }

  private:
    void number(const Expr& expr) {
        if (isStored(expr)) {
            for (const NodeId node : expr.outputs)
                if (const auto& constant = m_graph.node(node).constant)
                    m_ofNode[node.index()] = ofValue(*constant, node);
            return;
        }
        // What is written between two reads is not the same in both.
        const auto isWritten = [&](NodeId node) { return static_cast<bool>(m_isWritten[node.index()]); };
        if (!isPure(expr) || std::ranges::any_of(expr.inputs, isWritten)) return;
        ValueNumber hash = joined(ofText(expr.op.name), ofText(expr.op.domain));
        // A body may run another number of times than the one around it.
        hash = joined(hash, expr.body.value);
        for (const Argument& argument : expr.arguments) hash = joined(hash, ofArgument(argument));
        for (const auto& [keyword, argument] : expr.keywords)
            hash = joined(joined(hash, ofText(keyword)), ofArgument(argument));
        for (const tensor::Attribute& attribute : expr.attributes.items()) {
            const bool isTensor = std::holds_alternative<tensor::Tensor>(attribute.value) ||
                                  std::holds_alternative<std::vector<tensor::Tensor>>(attribute.value);
            if (isTensor) return;
            hash = joined(joined(hash, ofText(attribute.name)), ofText(tensor::text(attribute.value, 1'000'000)));
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) m_ofNode[expr.outputs[i].index()] = joined(hash, i);
    }

    ValueNumber ofArgument(const Argument& argument) const {
        auto hash = static_cast<ValueNumber>(argument.kind) + 17;
        if (argument.kind == Argument::Kind::Node) return joined(hash, m_ofNode[argument.node.index()]);
        if (argument.kind == Argument::Kind::Constant) return joined(hash, ofValue(argument.constant, {}));
        for (const Argument& item : argument.items) hash = joined(hash, ofArgument(item));
        for (const tensor::Value& key : argument.keys) hash = joined(hash, ofValue(key, {}));
        return hash;
    }

    /// Small tensors by their elements, others by their memory.
    static ValueNumber ofValue(const tensor::Value& value, NodeId node) {
        const auto kind = static_cast<ValueNumber>(value.kind());
        if (value.kind() == tensor::ValueKind::Object)
            return joined(kind, reinterpret_cast<std::uintptr_t>(value.object().get()));
        if (!value.isTensor()) return joined(kind, ofText(value.text(1'000'000)));
        const tensor::Tensor& tensor = value.tensor();
        ValueNumber hash = joined(kind, ofText(tensor.typeText()));
        if (tensor.dtype() == tensor::DType::String) return joined(hash, joined(3, node.valid() ? node.index() : 0));
        if (tensor.isContiguous() && tensor.sizeBytes() <= kMaxHashedBytes)
            return joined(hash, ofText({reinterpret_cast<const char*>(tensor.bytes()), tensor.sizeBytes()}));
        hash = joined(hash, reinterpret_cast<std::uintptr_t>(tensor.storage().get()));
        hash = joined(hash, static_cast<ValueNumber>(tensor.offsetElements()));
        for (const std::int64_t stride : tensor.strides()) hash = joined(hash, static_cast<ValueNumber>(stride));
        return hash;
    }

    const InternalGraph& m_graph;
    std::vector<bool> m_isWritten;
    std::vector<ValueNumber> m_ofNode;
};

/// Views take no time, and shapes next to none.
bool isWorthTelling(const InternalGraph& graph, const Expr& expr) {
    const tensor::TypeInfo& type = graph.node(expr.outputs.front()).type;
    const bool isShape = tensor::isInteger(type.dtype) && type.shape && type.shape->size() <= 1;
    return graph::traitsOf(expr).memory.sharing != operators::Sharing::View && !isShape;
}

void findDuplicates(const CheckedModel& model, std::vector<Finding>& findings) {
    const InternalGraph& graph = model.graph;
    const Numbering numbering(graph);
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    std::unordered_map<ValueNumber, ExprId> first;
    std::vector<ExprId> twin(graph.exprCount());
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        const bool hasTensor = std::ranges::any_of(
            expr.inputs, [&](NodeId input) { return !isStored(graph.expr(graph.node(input).producer)); });
        // Numbers and lists of Python, and what is foldable, are no computations to save.
        if (!Numbering::isPure(expr) || expr.outputs.empty() || expr.op.domain == "prim" || !hasTensor) continue;
        if (graph::traitsOf(expr).query != operators::ShapeQuery::None) continue;
        const auto [known, isNew] = first.try_emplace(numbering.of(expr.outputs.front()), id);
        if (!isNew) twin[id.index()] = known->second;
    }
    // How many operations of the same kind lead to each: the last of a duplicate stands for all of it.
    std::vector<std::int64_t> size(graph.exprCount(), 0);
    for (const ExprId id : order) {
        if (!twin[id.index()].valid()) continue;
        size[id.index()] = isWorthTelling(graph, graph.expr(id)) ? 1 : 0;
        for (const NodeId input : graph.expr(id).inputs)
            size[id.index()] =
                std::min<std::int64_t>(size[id.index()] + size[graph.node(input).producer.index()], 1'000'000);
    }
    for (const ExprId id : order) {
        const ExprId other = twin[id.index()];
        if (!other.valid() || size[id.index()] == 0) continue;
        const Expr& expr = graph.expr(id);
        const bool isInner = std::ranges::all_of(expr.outputs, [&](NodeId node) {
            const std::vector<ExprId>& users = graph.node(node).users;
            return !users.empty() &&
                   std::ranges::all_of(users, [&](ExprId user) { return twin[user.index()].valid(); });
        });
        if (isInner || !isWorthTelling(graph, expr)) continue;
        const NodeId node = expr.outputs.front(), before = graph.expr(other).outputs.front();
        findings.push_back(
            {{},
             base::Severity::Info,
             Confidence::High,
             {before, node},
             {},
             fmt::format("{} computes the same as {}, with {}: the work is done twice", placeText(graph, node),
                         placeText(graph, before), base::countedText(size[id.index()], "operation")),
             "compute it once (sonde save --pass merge-duplicates)"});
    }
}

}  // namespace

FindingChecker duplicateSubgraphChecker() {
    return {"duplicate-subgraph", FindingNeed::File, "The same computation on the same values, done more than once",
            findDuplicates};
}

}  // namespace sonde::analysis
