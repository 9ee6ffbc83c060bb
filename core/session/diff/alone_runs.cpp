#include "core/session/diff/alone_runs.h"

#include <algorithm>
#include <random>

#include "core/analysis/compared_values.h"
#include "core/analysis/difference.h"
#include "core/exec/flatten.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/stored_tensors.h"

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

/// A distribution that other programs draw alike: a number of 53 bits.
Tensor randomLike(const Tensor& like, double magnitude, std::mt19937_64& random) {
    std::vector<double> numbers(static_cast<std::size_t>(like.numel()));
    for (double& number : numbers)
        number = magnitude * (2 * (static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53)) - 1);
    const Tensor wide = Tensor::of(like.shape(), numbers);
    return wide.cast(like.dtype()).value_or(like);
}

using Exchanged = std::vector<std::pair<NodeId, Tensor>>;

/// Indices of exchanged tensors of both that get the same numbers: those with the same values in the run; what is left
/// in order, by shape.
std::vector<std::pair<std::size_t, std::size_t>> pairedTensors(const Exchanged& ours, const Exchanged& theirs) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::vector<bool> isPaired(theirs.size(), false), isOwnPaired(ours.size(), false);
    for (const bool byValue : {true, false})
        for (std::size_t i = 0; i < ours.size(); ++i)
            for (std::size_t k = 0; k < theirs.size() && !isOwnPaired[i]; ++k) {
                const Tensor &own = ours[i].second, &other = theirs[k].second;
                if (isPaired[k] || (byValue ? !areEqual(own, other) : !(own.shape() == other.shape()))) continue;
                isPaired[k] = isOwnPaired[i] = true;
                pairs.emplace_back(i, k);
            }
    return pairs;
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

AloneRuns::AloneRuns(std::array<const InternalGraph*, 2> graphs, const GraphPairs& pairs,
                     std::vector<ExprId> candidates)
    : m_graphs(graphs), m_pairs(pairs), m_candidates(std::move(candidates)) {
    std::erase_if(m_candidates, [&](ExprId id) {
        for (std::size_t side = 0; side < 2; ++side) {
            const ExprId own = of(side, id);
            // What is in a loop has several values.
            if (!own.valid() || isCallWithBody(m_graphs[side]->expr(own)) || !m_graphs[side]->expr(own).bodies.empty())
                return true;
        }
        return false;
    });
    if (m_candidates.empty()) return;
    for (std::size_t side = 0; side < 2; ++side) {
        m_sources[side] = exec::valueSources(*m_graphs[side]);
        m_isOfInput[side] = ofInput(*m_graphs[side], m_sources[side]);
    }
}

std::vector<NodeId> AloneRuns::watched(std::size_t side) const {
    std::vector<NodeId> nodes;
    for (const ExprId id : m_candidates)
        for (const NodeId input : m_graphs[side]->expr(of(side, id)).inputs) {
            const NodeId source = m_sources[side][input.index()];
            if (!m_graphs[side]->node(source).constant) nodes.push_back(source);
        }
    return nodes;
}

std::optional<AloneRuns::Reads> AloneRuns::readsOf(std::size_t side, ExprId id,
                                                   const exec::Recording& recording) const {
    if (recording.state(id) != exec::ExprState::Done) return std::nullopt;
    Reads reads;
    for (const NodeId input : m_graphs[side]->expr(id).inputs) {
        const NodeId source = m_sources[side][input.index()];
        if (m_graphs[side]->node(source).constant || reads.all.contains(source)) continue;
        const Value* const value = recording.value(source);
        if (!value || recording.iterations(source) != 1) return std::nullopt;
        reads.all.emplace(source, *value);
        const bool isExchanged = value->isTensor() && tensor::isFloating(value->tensor().dtype());
        if (isExchanged && m_isOfInput[side][source.index()]) reads.exchanged.emplace_back(source, value->tensor());
    }
    return reads;
}

std::vector<bool> AloneRuns::compare(const std::array<std::shared_ptr<const exec::Plan>, 2>& plans,
                                     const std::array<exec::Recording, 2>& recordings, exec::Runner& runner,
                                     std::uint64_t seed, const base::WorkContext& work) const {
    std::vector<bool> isSame(m_graphs[0]->exprCount(), false);
    const std::array<std::vector<bool>, 2> mayBeDone{exec::replayable(*plans[0]), exec::replayable(*plans[1])};
    std::mt19937_64 random(seed);
    for (const ExprId id : m_candidates) {
        const std::array<ExprId, 2> operations{id, of(1, id)};
        std::array<std::optional<Reads>, 2> reads;
        for (std::size_t side = 0; side < 2; ++side)
            if (mayBeDone[side][operations[side].index()])
                reads[side] = readsOf(side, operations[side], recordings[side]);
        if (!reads[0] || !reads[1] || reads[0]->exchanged.empty() || reads[1]->exchanged.empty()) continue;
        const auto pairs = pairedTensors(reads[0]->exchanged, reads[1]->exchanged);
        isSame[id.index()] = std::ranges::all_of(kWidths, [&](double magnitude) {
            if (work.cancelled()) return false;
            for (std::optional<Reads>& own : reads)
                for (const auto& [node, tensor] : own->exchanged)
                    own->all[node] = randomLike(tensor, magnitude, random);
            for (const auto& [i, k] : pairs) {
                const auto& [node, like] = reads[1]->exchanged[k];
                const auto same = reads[0]->all[reads[0]->exchanged[i].first].tensor().cast(like.dtype());
                if (!same) return false;
                reads[1]->all[node] = *same;
            }
            const auto results = runner.replay(*plans[0], {operations[0], reads[0]->all, {}}, work),
                       others = runner.replay(*plans[1], {operations[1], reads[1]->all, {}}, work);
            return results && others && areSameResults(*results, *others);
        });
    }
    return isSame;
}

}  // namespace sonde::session::diff
