#include "core/session/diff/folded_constants.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/difference.h"
#include "core/analysis/findings/written_values.h"
#include "core/document/model_passes.h"
#include "core/graph/traits.h"
#include "core/session/diff/stored_tensors.h"
#include "core/tensor/symbolic.h"

namespace sonde::session::diff {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

/// A file that says the sizes of a value says what Shape gives of it.
bool isShapeQuery(const Expr& expr) {
    return graph::traitsOf(expr).opClass == operators::OpClass::Shape && expr.op.domain.empty() &&
           expr.inputs.size() == 1 && expr.outputs.size() == 1 && expr.attributes.empty();
}

bool mayFoldOperation(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return !expr.op.name.empty() && !expr.outputs.empty() && expr.bodies.empty() && !expr.callable &&
           expr.keywords.empty() && !traits.is(operators::Trait::Random) && !traits.is(operators::Trait::Effect) &&
           !traits.memory.writes && !traits.memory.reforms;
}

/// The sizes that the inputs of one graph leave open and those of the other one say, by the symbols of the first: of
/// inputs with one name, or else at one place.
SizesBySymbol sizesFrom(const InternalGraph& open, const InternalGraph& other) {
    SizesBySymbol sizes;
    if (open.inputs().size() != other.inputs().size()) return sizes;
    for (std::size_t i = 0; i < open.inputs().size(); ++i) {
        const graph::Node& input = open.node(open.inputs()[i]);
        const NodeId named = other.findNode(input.name);
        const bool isInput = named.valid() && std::ranges::find(other.inputs(), named) != other.inputs().end();
        const auto& said = other.node(isInput ? named : other.inputs()[i]).type.shape;
        if (!input.type.shape || !said || input.type.shape->size() != said->size()) continue;
        for (std::size_t axis = 0; axis < said->size(); ++axis)
            if (const tensor::Dim& dim = (*input.type.shape)[axis]; !dim.known() && !dim.symbol.empty())
                if ((*said)[axis].known()) sizes.emplace(dim.symbol, (*said)[axis].value);
    }
    return sizes;
}

/// Nothing if any size is not known.
std::optional<std::vector<std::int64_t>> knownSizes(const tensor::TypeInfo& type, const SizesBySymbol& symbols) {
    if (!type.shape) return std::nullopt;
    std::vector<std::int64_t> sizes;
    for (const tensor::Dim& dim : *type.shape) {
        const auto size = dim.known()
                              ? std::optional(dim.value)
                              : tensor::Symbolic::of(dim)
                                    .bound([&](std::string_view symbol) -> std::optional<std::int64_t> {
                                        const auto found = symbols.find(symbol);
                                        return found == symbols.end() ? std::nullopt : std::optional(found->second);
                                    })
                                    .constant();
        if (!size) return std::nullopt;
        sizes.push_back(*size);
    }
    return sizes;
}

/// By ExprId. What is written has another value later.
std::vector<bool> foldableOperations(const FlatGraph& flat, const SizesBySymbol& symbols) {
    const InternalGraph& graph = flat.graph;
    const std::vector<bool> isWritten = analysis::writtenValues(graph);
    std::vector<bool> isFoldable(graph.exprCount(), false);
    for (const ExprId id : flat.order) {
        const Expr& expr = graph.expr(id);
        if (!mayFoldOperation(expr)) continue;
        const auto isKnown = [&](NodeId input) {
            const NodeId value = flat.origin[input.index()];
            return !isWritten[input.index()] && !isWritten[value.index()] &&
                   (graph.node(value).constant || isFoldable[flat.producer(value).index()]);
        };
        const bool areSizesKnown =
            isShapeQuery(expr) && knownSizes(graph.node(expr.inputs.front()).type, symbols).has_value();
        isFoldable[id.index()] = areSizesKnown || std::ranges::all_of(expr.inputs, isKnown);
    }
    return isFoldable;
}

/// What a few operations in another order make: some units in the last place of the largest element.
bool isRounding(const Tensor& tensor, double maxAbs) {
    constexpr double kUnits = 4, kEpsilon = 1.0 / (1 << 23);
    if (tensor.dtype() != tensor::DType::Float32) return false;
    double largest = 0;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) largest = std::max(largest, std::abs(tensor.toDouble(i)));
    return maxAbs <= kUnits * kEpsilon * largest;
}

std::vector<bool> resultsOf(const FlatGraph& flat) {
    std::vector<bool> isResult(flat.graph.nodeCount(), false);
    for (std::size_t i = 0; i < flat.graph.bodyCount(); ++i)
        for (const NodeId output : flat.graph.body(graph::BodyId(i)).outputs)
            isResult[flat.origin[output.index()].index()] = true;
    return isResult;
}

}  // namespace

FoldedConstants::FoldedConstants(const FlatGraph& first, const FlatGraph& second)
    : m_flats{&first, &second}, m_symbols{sizesFrom(first.graph, second.graph), sizesFrom(second.graph, first.graph)},
      m_isFoldable{foldableOperations(first, m_symbols[0]), foldableOperations(second, m_symbols[1])},
      m_isResult{resultsOf(first), resultsOf(second)}, m_evaluate(document::passEvaluator()) {}

bool FoldedConstants::isComputed(std::size_t side, NodeId node) const {
    return m_isFoldable[side][m_flats[side]->producer(node).index()];
}

const Value* FoldedConstants::valueOf(std::size_t side, NodeId node) {
    const FlatGraph& flat = *m_flats[side];
    const NodeId value = flat.origin[node.index()];
    if (const auto& constant = flat.graph.node(value).constant) return &*constant;
    if (!isComputed(side, value)) return nullptr;
    // Chains are as long as a file makes them: those in front first, without recursion.
    std::vector<ExprId> open{flat.producer(value)};
    const auto isKnown = [&](NodeId input) {
        return flat.graph.node(input).constant || m_values[side].contains(input) || !isComputed(side, input);
    };
    while (!open.empty()) {
        const ExprId id = open.back();
        const std::size_t before = open.size();
        if (!isShapeQuery(flat.graph.expr(id)))
            for (const NodeId input : flat.inputsOf(id))
                if (!isKnown(input)) open.push_back(flat.producer(input));
        if (open.size() > before) continue;
        open.pop_back();
        compute(side, id);
    }
    const auto found = m_values[side].find(value);
    return found != m_values[side].end() && found->second ? &*found->second : nullptr;
}

/// What cannot be computed is noted as that.
void FoldedConstants::compute(std::size_t side, ExprId id) {
    const FlatGraph& flat = *m_flats[side];
    const Expr& expr = flat.graph.expr(id);
    for (const NodeId output : expr.outputs) m_values[side].try_emplace(output);
    if (isShapeQuery(expr)) {
        const auto sizes = knownSizes(flat.graph.node(expr.inputs.front()).type, m_symbols[side]);
        if (!sizes) return;
        const auto count = static_cast<std::int64_t>(sizes->size());
        m_values[side][expr.outputs.front()] = Value(Tensor::of(tensor::Shape{count}, *sizes));
        return;
    }
    std::vector<Value> arguments;
    for (const Argument& argument : expr.arguments) {
        if (argument.kind == Argument::Kind::Constant) arguments.push_back(argument.constant);
        else if (argument.kind == Argument::Kind::Omitted) arguments.emplace_back();
        else if (argument.kind == Argument::Kind::Node) {
            const NodeId input = flat.origin[argument.node.index()];
            const auto& constant = flat.graph.node(input).constant;
            const auto computed = m_values[side].find(input);
            if (constant) arguments.push_back(*constant);
            else if (computed != m_values[side].end() && computed->second) arguments.push_back(*computed->second);
            else return;
        } else return;
    }
    auto results = m_evaluate(expr, arguments);
    if (!results) return;
    for (std::size_t i = 0; i < expr.outputs.size() && i < results->size(); ++i)
        m_values[side][expr.outputs[i]] = std::move((*results)[i]);
}

std::optional<FoldedConstants::Comparison> FoldedConstants::compare(NodeId a, ExprId readerOfA, NodeId b,
                                                                    ExprId readerOfB) {
    if (!isComputed(0, a) && !isComputed(1, b)) return std::nullopt;
    const Value *const ours = valueOf(0, a), *const theirs = valueOf(1, b);
    if (!ours || !theirs || !ours->isTensor() || !theirs->isTensor()) return std::nullopt;
    const Tensor &x = ours->tensor(), &y = theirs->tensor();
    if (x.dtype() != y.dtype() || !(x.shape() == y.shape())) return std::nullopt;
    m_compared[0].emplace(m_flats[0]->origin[a.index()], readerOfA);
    m_compared[1].emplace(m_flats[1]->origin[b.index()], readerOfB);
    if (areEqual(x, y)) return Comparison{true, 0.0};
    Comparison other;
    if (x.dtype() != tensor::DType::String) other.maxAbs = analysis::difference(y, x, {}).maxAbsolute;
    other.isEqual = other.maxAbs && isRounding(x, *other.maxAbs);
    const auto isSame = [a, b](const Other& known) { return known.a == a && known.b == b; };
    if (std::ranges::none_of(m_others, isSame)) m_others.push_back({a, b, other.maxAbs, other.isEqual});
    return other;
}

std::vector<bool> FoldedConstants::foldedOperations(std::size_t side, const std::vector<ExprId>& match) const {
    const FlatGraph& flat = *m_flats[side];
    std::vector<bool> folded(flat.graph.exprCount(), false);
    // From behind: what reads a value comes later.
    for (auto at = flat.order.rbegin(); at != flat.order.rend(); ++at) {
        const ExprId id = *at;
        if (match[id.index()].valid() || !m_isFoldable[side][id.index()]) continue;
        bool isRead = false;
        const bool isCompared = std::ranges::all_of(flat.graph.expr(id).outputs, [&](NodeId output) {
            return !m_isResult[side][output.index()] &&
                   std::ranges::all_of(flat.users[output.index()], [&](ExprId reader) {
                       isRead = true;
                       return folded[reader.index()] || m_compared[side].contains({output, reader});
                   });
        });
        folded[id.index()] = isRead && isCompared;
    }
    return folded;
}

std::vector<bool> FoldedConstants::comparedValues(std::size_t side, const std::vector<bool>& folded) const {
    const FlatGraph& flat = *m_flats[side];
    std::vector<bool> compared(flat.graph.nodeCount(), false);
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const std::vector<ExprId>& readers = flat.users[i];
        compared[i] = !readers.empty() && flat.graph.node(NodeId(i)).constant && !m_isResult[side][i] &&
                      std::ranges::all_of(readers, [&](ExprId reader) {
                          return folded[reader.index()] || m_compared[side].contains({NodeId(i), reader});
                      });
    }
    return compared;
}

}  // namespace sonde::session::diff
