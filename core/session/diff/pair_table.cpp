#include "core/session/diff/pair_table.h"

#include <algorithm>

#include "core/graph/traits.h"
#include "core/session/diff/layer_parts.h"
#include "core/session/diff/module_parts.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::Trait;

namespace {

bool hasAten(const InternalGraph& graph) {
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        if (const std::string& domain = graph.expr(id).op.domain; domain == "aten" || domain == "prim") return true;
    return false;
}

/// Of an archive: branches, loops, checks, and arithmetic on numbers that are no sizes, of which a trace has only what
/// was computed.
bool hasOwnSteps(const InternalGraph& graph) {
    if (!hasAten(graph)) return false;
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()), [&](ExprId id) {
        const Expr& expr = graph.expr(id);
        const bool isControl = !expr.bodies.empty() && !isCallWithBody(expr) && !isValueExpr(expr);
        const bool isNumber = !expr.op.name.empty() && expr.outputs.size() == 1 &&
                              graph.node(expr.outputs.front()).type.kind == tensor::ValueKind::Float;
        return isControl || isNumber || graph::traitsOf(expr).is(Trait::Effect);
    });
}

/// Of a value that no operation makes: none.
ExprId operationOf(const GraphSide& side, NodeId node) {
    if (!node.valid() || node.index() >= side.graph.nodeCount()) return {};
    const ExprId id = side.producer(node);
    return id.valid() && !isValueExpr(side.graph.expr(id)) ? id : ExprId();
}
Hash keyOf(ExprId a, ExprId b) { return (static_cast<Hash>(a.value) << 32) | b.value; }

bool holdsTensors(const tensor::TypeInfo& type) {
    return std::ranges::any_of(type.elements, &tensor::TypeInfo::isTensor);
}

/// Parameters that have a name; a frozen archive has constants in their place, and normalisations in the layers before.
bool hasParameters(const InternalGraph& graph) {
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()), [&](ExprId id) {
        const Expr& expr = graph.expr(id);
        return expr.kind == graph::ExprKind::GetAttr && expr.isParameter;
    });
}

/// Attention as one operator, which without gradients is called where else there are its products.
bool hasWholeAttention(const InternalGraph& graph) {
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()), [&](ExprId id) {
        const operators::OpClass kind = graph::traitsOf(graph.expr(id)).opClass;
        return kind == operators::OpClass::MultiHeadAttention || kind == operators::OpClass::EncoderLayer;
    });
}

/// By ExprId; between two vocabularies there are none, as FlatGraph leaves them out.
std::vector<bool> copiesOfStored(const GraphSide& side) {
    std::vector<bool> copies(side.graph.exprCount(), false);
    for (const ExprId id : side.order) {
        const Expr& expr = side.graph.expr(id);
        copies[id.index()] = graph::traitsOf(expr).opClass == operators::OpClass::Identity && !expr.inputs.empty() &&
                             side.graph.node(side.inputsOf(id).front()).constant.has_value();
    }
    return copies;
}

}  // namespace

bool areInOneVocabulary(const InternalGraph& first, const InternalGraph& second) {
    if (hasAten(first) != hasAten(second) || hasOwnSteps(first) != hasOwnSteps(second)) return false;
    if (!hasAten(first)) return true;
    return hasParameters(first) == hasParameters(second) && hasWholeAttention(first) == hasWholeAttention(second);
}

PairTable::PairTable(const InternalGraph& first, const InternalGraph& second, const PairsByHand& byHand)
    : m_isOneVocabulary(areInOneVocabulary(first, second)), m_a(first, m_isOneVocabulary),
      m_b(second, m_isOneVocabulary), m_copies{copiesOfStored(m_a), copiesOfStored(m_b)} {
    for (const auto& [a, b] : byHand.apart) m_apart.insert(keyOf(operationOf(m_a, a), operationOf(m_b, b)));
    for (auto said = byHand.same.rbegin(); said != byHand.same.rend(); ++said) {
        const ExprId a = operationOf(m_a, said->first), b = operationOf(m_b, said->second);
        if (a.valid() && b.valid() && !m_a.isMatched(a) && !m_b.isMatched(b)) setPair(a, b);
    }
}

void PairTable::pair(ExprId a, ExprId b) {
    if (!m_isOneVocabulary) {
        const auto [ours, theirs] = sameResults(m_a, a, m_b, b);
        if (ours != a && m_apart.empty()) markParts(m_a, a, ours), a = ours;
        if (theirs != b && m_apart.empty()) markParts(m_b, b, theirs), b = theirs;
        markFoldedParts(m_a, a, m_b, b);
    }
    setPair(a, b);
}
void PairTable::setPair(ExprId a, ExprId b) {
    m_a.match[a.index()] = b;
    m_b.match[b.index()] = a;
    m_new.push_back(a);
}

bool PairTable::isFree(ExprId a, ExprId b) {
    return !m_a.isMatched(a) && !m_b.isMatched(b) && mayBeSame(a, b) &&
           (m_apart.empty() || !m_apart.contains(keyOf(a, b)));
}

/// Between two vocabularies operators of one class may compute different things: types tell.
bool PairTable::mayBeSame(ExprId a, ExprId b) {
    const Expr &ours = m_a.graph.expr(a), &theirs = m_b.graph.expr(b);
    const Hash own = m_a.kernel[a.index()], other = m_b.kernel[b.index()];
    if (m_areSizesEqual && own != 0 && other != 0 && own != other) {
        m_areSizesOther = true;
        return false;
    }
    // Which copies of stored values a file has is its own affair: FoldedConstants compares what they are read for.
    if (m_copies[0][a.index()] || m_copies[1][b.index()]) return false;
    if (m_isOneVocabulary || ours.outputs.empty() || theirs.outputs.empty()) return true;
    if (!haveAsManyOperands(m_a, a, m_b, b)) return false;
    const tensor::TypeInfo &x = m_a.graph.node(ours.outputs.front()).type,
                           &y = m_b.graph.node(theirs.outputs.front()).type;
    // One part of several is not all of them.
    if (x.isTensor() != y.isTensor() && (holdsTensors(x) || holdsTensors(y))) return false;
    if (!x.isTensor() || !y.isTensor()) return true;
    const bool areTyped = x.dtype != tensor::DType::Undefined && y.dtype != tensor::DType::Undefined;
    if (areTyped && tensor::isInteger(x.dtype) != tensor::isInteger(y.dtype)) return false;
    if (!x.shape || !y.shape) return true;
    if (x.shape->size() != y.shape->size()) return false;
    for (std::size_t i = 0; i < x.shape->size(); ++i)
        if ((*x.shape)[i].known() && (*y.shape)[i].known() && !((*x.shape)[i] == (*y.shape)[i])) return false;
    return true;
}

bool PairTable::isWeak(const GraphSide& side, ExprId id) const {
    const operators::Traits& traits = graph::traitsOf(side.graph.expr(id));
    return !m_isOneVocabulary && !moduleOf(side.graph, id).empty() &&
           (traits.is(Trait::MovesData) || traits.mayBeView());
}

bool PairTable::isSameOperator(ExprId a, ExprId b) const { return m_a.label[a.index()] == m_b.label[b.index()]; }

bool PairTable::areOperations(ExprId a, ExprId b) const {
    return !isValueExpr(m_a.graph.expr(a)) && !isValueExpr(m_b.graph.expr(b));
}

void PairTable::tryPair(ExprId a, ExprId b) {
    if (areOperations(a, b) && isFree(a, b) && isSameOperator(a, b)) pair(a, b);
}

bool PairTable::areApart(const std::vector<ExprId>& first, const std::vector<ExprId>& second) const {
    return std::ranges::any_of(m_apart, [&](Hash key) {
        return std::ranges::find(first, ExprId(static_cast<std::size_t>(key >> 32))) != first.end() &&
               std::ranges::find(second, ExprId(static_cast<std::size_t>(key & 0xffffffff))) != second.end();
    });
}

}  // namespace sonde::session::diff
