#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <unordered_map>

#include "core/analysis/call_spelling.h"
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

/// Whether calls count as equal that are spelled in another way: attributes at their defaults, dimensions that count
/// from the end, a + b and b + a.
enum class Spelling : unsigned char { Any, Same };

/// Numbers values: nodes with one number have one value, whatever the model is given (up to collisions of 64 bits).
class Numbering {
  public:
    Numbering(const InternalGraph& graph, Spelling spelling)
        : m_graph(graph), m_isAnySpelling(spelling == Spelling::Any), m_isWritten(writtenValues(graph)),
          m_ofNode(graph.nodeCount(), 0) {
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
        hash = joined(hash, ofArguments(expr));
        for (const auto& [keyword, argument] : expr.keywords)
            hash = joined(joined(hash, ofText(keyword)), ofArgument(argument));
        const auto attributes = ofAttributes(expr);
        if (!attributes) return;
        hash = joined(hash, *attributes);
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) m_ofNode[expr.outputs[i].index()] = joined(hash, i);
    }

    ValueNumber ofArguments(const Expr& expr) const {
        std::vector<ValueNumber> numbers;
        for (const Argument& argument : expr.arguments) numbers.push_back(ofArgument(argument));
        if (m_isAnySpelling && numbers.size() >= 2 && isCommutative(expr) && isOfTensors(expr) &&
            numbers[1] < numbers[0])
            std::swap(numbers[0], numbers[1]);
        ValueNumber hash = numbers.size();
        for (const ValueNumber each : numbers) hash = joined(hash, each);
        return hash;
    }

    /// Lists of Python that are added stand one behind the other.
    bool isOfTensors(const Expr& expr) const {
        return expr.op.domain.empty() || m_graph.node(expr.outputs.front()).type.isTensor();
    }

    /// Nothing: they have tensors, which are not compared.
    std::optional<ValueNumber> ofAttributes(const Expr& expr) const {
        ValueNumber hash = 0;
        for (const tensor::Attribute& attribute : expr.attributes.items()) {
            const bool isTensor = std::holds_alternative<tensor::Tensor>(attribute.value) ||
                                  std::holds_alternative<std::vector<tensor::Tensor>>(attribute.value);
            if (isTensor) return std::nullopt;
            const std::string text = spelled(expr, attribute.name, attribute.value);
            const ops::FormalAttribute* const formal =
                m_isAnySpelling ? formalAttribute(expr, attribute.name) : nullptr;
            const bool isDefault =
                formal && formal->fallback && spelled(expr, attribute.name, *formal->fallback) == text;
            if (!isDefault) hash += joined(ofText(attribute.name), ofText(text));
        }
        return hash;
    }

    /// Defaults are written in decimals, the numbers of files are float32.
    std::string spelled(const Expr& expr, std::string_view name, const tensor::AttributeValue& value) const {
        if (m_isAnySpelling && isAxisName(name))
            if (const auto axes = axesFromFront(m_graph, expr, &value)) return fmt::format("{}", fmt::join(*axes, ","));
        if (const double* const number = m_isAnySpelling ? std::get_if<double>(&value) : nullptr)
            return fmt::format("{}", static_cast<float>(*number));
        return tensor::text(value, 1'000'000);
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
    bool m_isAnySpelling;
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
    const Numbering numbering(graph, Spelling::Any);
    std::optional<Numbering> strict;
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
        // The pass merges what is spelled alike.
        if (!strict) strict.emplace(graph, Spelling::Same);
        const bool isMerged = strict->of(node) == strict->of(before);
        findings.push_back(
            {{},
             base::Severity::Info,
             Confidence::High,
             {before, node},
             {},
             fmt::format("{} computes the same as {}, with {}: the work is done twice", placeText(graph, node),
                         placeText(graph, before), base::countedText(size[id.index()], "operation")),
             isMerged ? "compute it once (sonde save --pass merge-duplicates)"
                      : "compute it once: only the order of operands or the way that attributes are written differs"});
    }
}

}  // namespace

FindingChecker duplicateSubgraphChecker() {
    return {"duplicate-subgraph", FindingNeed::File, "The same computation on the same values, done more than once",
            findDuplicates};
}

}  // namespace sonde::analysis
