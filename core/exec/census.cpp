#include "core/exec/census.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace sonde::exec {

using graph::Expr;
using graph::ExprKind;
using ops::kernels::BadCount;
using tensor::Tensor;
using tensor::ValueKind;

namespace {

/// Calls use(tensor) for every tensor in a value until one returns true.
template <typename Use>
bool anyTensor(const Value& value, const Use& use) {
    if (value.isTensor()) return use(value.tensor());
    if (value.kind() == ValueKind::Dict) {
        return std::ranges::any_of(value.dictItems(), [&](const auto& item) { return anyTensor(item.second, use); });
    }
    return value.isListLike() &&
           std::ranges::any_of(value.items(), [&](const Value& item) { return anyTensor(item, use); });
}

/// Whether every element of `part` is an element of `whole`.
bool isWithin(const Tensor& part, const Tensor& whole) {
    if (part.storage() != whole.storage() || part.dtype() != whole.dtype()) return false;
    const auto start = ops::kernels::denseStart(whole);
    if (!start) return false;
    std::int64_t first = part.offsetElements(), last = first;
    for (std::size_t i = 0; i < part.rank(); ++i)
        (part.strides()[i] < 0 ? first : last) += (part.dim(i) - 1) * part.strides()[i];
    const std::int64_t begin = whole.offsetElements() + *start;
    return first >= begin && last < begin + whole.numel();
}

/// Lists of a loop grow by an item at an end: what the item was is in the list before at this position, or beside it.
bool isItemOf(const Tensor& item, std::size_t position, std::span<const Value> list) {
    for (std::size_t at = position > 0 ? position - 1 : 0; at <= position + 1 && at < list.size(); ++at) {
        if (list[at].isTensor() && isWithin(item, list[at].tensor())) return true;
    }
    return false;
}

/// Longer lists are searched around an item's position alone.
constexpr std::size_t kMaxSearched = 64;

/// Whether a tensor of a value (an item of a list, at a position) has nothing but elements of another value.
bool isPartOf(const Tensor& part, std::size_t position, const Value& whole) {
    if (whole.isListLike() && isItemOf(part, position, whole.items())) return true;
    if (whole.isListLike() && whole.items().size() > kMaxSearched) return false;
    return anyTensor(whole, [&](const Tensor& tensor) { return isWithin(part, tensor); });
}

}  // namespace

void CensusMemory::select(const std::shared_ptr<const InternalGraph>& graph) {
    if (graph == m_graph) return;
    m_finite.clear();
    m_bad.clear();
    m_graph = graph;
}

bool CensusMemory::isFinite(NodeId node, base::ThreadPool& pool) {
    const auto [entry, isNew] = m_finite.try_emplace(node, true);
    if (isNew) {
        entry->second = !anyTensor(*m_graph->node(node).constant,
                                   [&](const Tensor& tensor) { return ops::kernels::countBad(tensor, pool).any(); });
    }
    return entry->second;
}

Census::Census(const PlanImpl& plan, const std::vector<Value>& values, CensusMemory& memory, base::ThreadPool& pool)
    : m_plan(plan), m_graph(*plan.graph), m_values(values), m_memory(memory), m_pool(pool),
      m_isBad(m_graph.nodeCount(), false) {}

ops::kernels::Epilogue::Census Census::modeFor(const Step& step) const {
    using Mode = ops::kernels::Epilogue::Census;
    const auto getsBad = [this](const Step& one) {
        return std::ranges::any_of(m_graph.expr(one.expr).inputs,
                                   [this](NodeId input) { return m_isBad[sourceOf(input).index()]; });
    };
    // One value alone is counted as quickly as it is looked at.
    if (step.epilogue.empty() || m_memory.wasBad(step.expr) || getsBad(step)) return Mode::Count;
    return std::ranges::any_of(step.epilogue, getsBad) ? Mode::Count : Mode::Detect;
}

void Census::made(NodeId node, const Value& value, const std::optional<BadCount>& counted) {
    const NodeId source = sourceOf(node);
    if (source != node) {
        // The same value under another name: calls hand values on.
        if (m_isBad[source.index()]) note(node, m_now[source], false, value);
        return;
    }
    const BadCount count = counted ? *counted : countIn(value, node);
    m_isBad[node.index()] = count.any();
    if (!count.any()) return;
    m_now[node] = count;
    note(node, count, isOrigin(node), value);
}

void Census::note(NodeId node, const BadCount& count, bool isOrigin, const Value& value) {
    BadValues& found = m_found[node];
    found.nan += count.nan;
    found.inf += count.inf;
    found.isOrigin = found.isOrigin || isOrigin;
    if (value.isTensor()) found.dtype = value.tensor().dtype();
}

BadCount Census::countIn(const Value& value, NodeId node, std::size_t position) {
    if (value.isTensor()) {
        const bool canBeBad = tensor::isFloating(value.tensor().dtype()) || tensor::isComplex(value.tensor().dtype());
        return !canBeBad || sharesFinite(value.tensor(), node, position)
                   ? BadCount{}
                   : ops::kernels::countBad(value.tensor(), m_pool);
    }
    BadCount count;
    if (value.kind() == ValueKind::Float) {
        count.nan = std::isnan(value.number()) ? 1 : 0;
        count.inf = std::isinf(value.number()) ? 1 : 0;
    } else if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) count += countIn(item, node);
    } else if (value.isListLike()) {
        for (std::size_t i = 0; i < value.items().size(); ++i) count += countIn(value.items()[i], node, i);
    }
    return count;
}

/// A view of what is known to be finite.
bool Census::sharesFinite(const Tensor& tensor, NodeId node, std::size_t position) {
    if (!tensor.defined() || tensor.numel() == 0) return true;
    for (NodeId input : m_graph.expr(m_graph.node(node).producer).inputs) {
        const NodeId source = sourceOf(input);
        const auto& constant = m_graph.node(source).constant;
        if (m_isBad[source.index()] || !isPartOf(tensor, position, constant ? *constant : m_values[source.index()]))
            continue;
        if (!constant || m_memory.isFinite(source, m_pool)) return true;
    }
    return false;
}

/// Everything that it was computed from was finite. (Weights do not count: whoever reads a bad one first is the
/// origin.)
bool Census::isOrigin(NodeId node) const {
    const Expr& expr = m_graph.expr(m_graph.node(node).producer);
    if (expr.kind == ExprKind::Output) return false;
    if (expr.kind == ExprKind::Input) return expr.body == m_graph.mainId();
    const auto isBad = [this](NodeId input) { return m_isBad[sourceOf(input).index()]; };
    if (std::ranges::any_of(expr.inputs, isBad)) return false;
    for (graph::BodyId body : expr.bodies) {
        if (std::ranges::any_of(m_graph.body(body).outputs, isBad)) return false;
        for (ExprId inner : m_graph.recursiveOrder(body)) {
            if (std::ranges::any_of(m_graph.expr(inner).outputs,
                                    [this](NodeId made) { return m_found.contains(made); }))
                return false;
        }
    }
    return true;
}

}  // namespace sonde::exec
