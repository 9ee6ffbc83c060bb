#include "core/session/diff/alone_runs.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/analysis/compared_values.h"
#include "core/analysis/difference.h"
#include "core/exec/flatten.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

/// Half of the width of the random numbers: small ones for what is added to a variance, large ones for limits.
constexpr double kWidths[] = {1e-3, 1, 8, 1e3};

std::vector<bool> ofInput(const InternalGraph& graph, const std::vector<NodeId>& sources) {
    std::vector<bool> is(graph.nodeCount(), false);
    for (const NodeId input : graph.inputs()) is[input.index()] = true;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        const bool isOf = !expr.bodies.empty() || std::ranges::any_of(expr.inputs, [&](NodeId input) {
            return is[input.index()] || is[sources[input.index()].index()];
        });
        for (const NodeId output : expr.outputs) is[output.index()] = is[output.index()] || isOf;
    }
    return is;
}

bool areSame(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
    const auto one = a.contiguous(), other = b.contiguous();
    return one && other && std::memcmp(one->bytes(), other->bytes(), one->sizeBytes()) == 0;
}

/// The values that an operation reads.
struct Reads {
    std::unordered_map<NodeId, Value> all;             ///< by source
    std::vector<std::pair<NodeId, Tensor>> exchanged;  ///< by source: floating point numbers, computed of an input
};

/// A distribution that other programs draw alike: a number of 53 bits.
Tensor randomLike(const Tensor& like, double magnitude, std::mt19937_64& random) {
    std::vector<double> numbers(static_cast<std::size_t>(like.numel()));
    for (double& number : numbers)
        number = magnitude * (2 * (static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53)) - 1);
    const Tensor wide = Tensor::of(like.shape(), numbers);
    return wide.cast(like.dtype()).value_or(like);
}

/// The results of both are the same, where both have one.
bool areSameResults(const std::vector<Value>& ours, const std::vector<Value>& theirs) {
    bool isCompared = false;
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
        const auto x = analysis::asTensor(ours[i]), y = analysis::asTensor(theirs[i]);
        if (!x || !y || !x->defined() || !y->defined()) continue;
        if (!(x->shape() == y->shape())) return false;
        if (!analysis::difference(*y, *x, analysis::Tolerances().of(y->dtype(), x->dtype())).ok) return false;
        isCompared = true;
    }
    return isCompared;
}

}  // namespace

AloneRuns::AloneRuns(std::array<const InternalGraph*, 2> graphs, const GraphPairs& pairs, std::vector<ExprId> asked)
    : m_graphs(graphs), m_pairs(pairs), m_asked(std::move(asked)) {
    std::erase_if(m_asked, [&](ExprId id) {
        for (std::size_t side = 0; side < 2; ++side) {
            const ExprId own = of(side, id);
            // What is in a loop has several values.
            if (!own.valid() || isCallWithBody(m_graphs[side]->expr(own)) || !m_graphs[side]->expr(own).bodies.empty())
                return true;
        }
        return false;
    });
    if (m_asked.empty()) return;
    for (std::size_t side = 0; side < 2; ++side) {
        m_sources[side] = exec::valueSources(*m_graphs[side]);
        m_isOfInput[side] = ofInput(*m_graphs[side], m_sources[side]);
    }
}

std::vector<NodeId> AloneRuns::watched(std::size_t side) const {
    std::vector<NodeId> nodes;
    for (const ExprId id : m_asked)
        for (const NodeId input : m_graphs[side]->expr(of(side, id)).inputs) {
            const NodeId source = m_sources[side][input.index()];
            if (!m_graphs[side]->node(source).constant) nodes.push_back(source);
        }
    return nodes;
}

std::vector<bool> AloneRuns::compare(const std::array<std::shared_ptr<const exec::Plan>, 2>& plans,
                                     const std::array<exec::Recording, 2>& recordings, exec::Runner& runner,
                                     std::uint64_t seed, const base::WorkContext& work) const {
    std::vector<bool> isSame(m_graphs[0]->exprCount(), false);
    const std::array<std::vector<bool>, 2> mayBeDone{exec::replayable(*plans[0]), exec::replayable(*plans[1])};
    const auto readsOf = [&](std::size_t side, ExprId id) -> std::optional<Reads> {
        if (!mayBeDone[side][id.index()] || recordings[side].state(id) != exec::ExprState::Done) return std::nullopt;
        Reads reads;
        for (const NodeId input : m_graphs[side]->expr(id).inputs) {
            const NodeId source = m_sources[side][input.index()];
            if (m_graphs[side]->node(source).constant || reads.all.contains(source)) continue;
            const Value* const value = recordings[side].value(source);
            if (!value || recordings[side].iterations(source) != 1) return std::nullopt;
            reads.all.emplace(source, *value);
            const auto tensor = value->isTensor() ? std::optional(value->tensor()) : std::nullopt;
            if (tensor && tensor::isFloating(tensor->dtype()) && m_isOfInput[side][source.index()])
                reads.exchanged.emplace_back(source, *tensor);
        }
        return reads;
    };
    std::mt19937_64 random(seed);
    const auto areSameAlone = [&](ExprId first, ExprId second) {
        std::optional<Reads> ours = readsOf(0, first), theirs = readsOf(1, second);
        if (!ours || !theirs || ours->exchanged.empty() || theirs->exchanged.empty()) return false;
        // By their values; what is left in order.
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        std::vector<bool> isPaired(theirs->exchanged.size(), false), isOwnPaired(ours->exchanged.size(), false);
        for (const bool byValue : {true, false})
            for (std::size_t i = 0; i < ours->exchanged.size(); ++i)
                for (std::size_t k = 0; k < theirs->exchanged.size() && !isOwnPaired[i]; ++k) {
                    const Tensor &own = ours->exchanged[i].second, &other = theirs->exchanged[k].second;
                    if (isPaired[k] || (byValue ? !areSame(own, other) : !(own.shape() == other.shape()))) continue;
                    isPaired[k] = isOwnPaired[i] = true;
                    pairs.emplace_back(i, k);
                }
        for (const double magnitude : kWidths) {
            if (work.cancelled()) return false;
            for (const auto& [node, tensor] : ours->exchanged) ours->all[node] = randomLike(tensor, magnitude, random);
            for (const auto& [node, tensor] : theirs->exchanged)
                theirs->all[node] = randomLike(tensor, magnitude, random);
            for (const auto& [i, k] : pairs) {
                const Tensor& own = ours->all[ours->exchanged[i].first].tensor();
                auto same = own.cast(theirs->exchanged[k].second.dtype());
                if (!same) return false;
                theirs->all[theirs->exchanged[k].first] = std::move(*same);
            }
            const auto results = runner.replay(*plans[0], {first, ours->all, {}}, work),
                       others = runner.replay(*plans[1], {second, theirs->all, {}}, work);
            if (!results || !others || !areSameResults(*results, *others)) return false;
        }
        return true;
    };
    for (const ExprId id : m_asked) isSame[id.index()] = areSameAlone(id, of(1, id));
    return isSame;
}

}  // namespace sonde::session::diff
