#include "core/session/diff/layer_accounts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

#include "core/graph/traits.h"
#include "core/session/diff/layer_functions.h"
#include "core/session/diff/module_parts.h"
#include "core/session/diff/operation_settings.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;

namespace {

std::string otherOperator(const Expr& ours, const Expr& theirs) {
    return "operator: " + operatorName(ours) + " -> " + operatorName(theirs);
}

/// Collects the layers of both graphs, operations of the second one behind those of the first.
class LayerFinder {
  public:
    LayerFinder(const FlatGraph& first, const FlatGraph& second, const ComparedOperations& comparedFirst,
                const ComparedOperations& comparedSecond, const GraphPairs& pairs)
        : m_sides{&first, &second}, m_compared{&comparedFirst, &comparedSecond}, m_pairs(pairs),
          m_offset(first.graph.exprCount()), m_root(m_offset + second.graph.exprCount() + 1) {
        std::iota(m_root.begin(), m_root.end(), std::size_t{0});
    }

    struct Layer {
        std::vector<ExprId> operations[2];
    };

    std::map<std::size_t, Layer> layers() {
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId id : m_sides[side]->order) m_modules[side].insert(moduleOf(m_sides[side]->graph, id));
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId id : m_sides[side]->order)
                if (isInLayer(side, id)) join(side, id);
        std::map<std::size_t, Layer> found;
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId id : m_sides[side]->order)
                if (isInLayer(side, id)) found[rootOf(at(side, id))].operations[side].push_back(id);
        return found;
    }

    ExprId matchOf(std::size_t side, ExprId id) const {
        return (side == 0 ? m_pairs.ofFirst : m_pairs.ofSecond)[id.index()];
    }

  private:
    std::size_t at(std::size_t side, ExprId id) const { return id.index() + (side == 0 ? 0 : m_offset); }
    std::size_t rootOf(std::size_t i) {
        while (m_root[i] != i) i = m_root[i] = m_root[m_root[i]];
        return i;
    }
    void unite(std::size_t a, std::size_t b) { m_root[rootOf(a)] = rootOf(b); }

    /// Without a counterpart of its own, or with one that is another operator.
    bool isInLayer(std::size_t side, ExprId id) const {
        if (!m_compared[side]->isListed[id.index()]) return false;
        const ExprId match = matchOf(side, id);
        if (!match.valid()) {
            const std::vector<bool>& isIn = m_pairs.isInPairedModule[side];
            return id.index() < isIn.size() && isIn[id.index()];
        }
        const ExprId a = side == 0 ? id : match, b = side == 0 ? match : id;
        if (functionOf(*m_sides[0], a) != functionOf(*m_sides[1], b) || isWhole(0, a) || isWhole(1, b)) return true;
        // A product, and one with its bias.
        return isLayerWithWeights(m_sides[0]->graph.expr(a)) &&
               KnownFunctions(*m_sides[0], a).functions != KnownFunctions(*m_sides[1], b).functions;
    }

    bool isWhole(std::size_t side, ExprId id) const {
        if (m_wholes[side].empty()) {
            m_wholes[side].assign(m_sides[side]->graph.exprCount() + 1, false);
            const std::vector<ExprId>& partOf = m_pairs.partOf[side];
            for (std::size_t i = 0; i < partOf.size(); ++i)
                if (partOf[i].valid() && partOf[i].index() != i) m_wholes[side][partOf[i].index()] = true;
        }
        return m_wholes[side][id.index()];
    }

    void join(std::size_t side, ExprId id) {
        if (const ExprId match = matchOf(side, id); match.valid()) unite(at(side, id), at(1 - side, match));
        const std::vector<ExprId>& partOf = m_pairs.partOf[side];
        const ExprId whole = id.index() < partOf.size() ? partOf[id.index()] : ExprId();
        // A part of no one value: all of these are looked at together.
        if (whole == id) return unite(at(side, id), m_root.size() - 1);
        if (whole.valid()) return unite(at(side, id), at(side, whole));
        std::string module = moduleOf(m_sides[side]->graph, id);
        const auto isShared = [this](const std::string& name) {
            return m_modules[0].contains(name) && m_modules[1].contains(name);
        };
        while (!module.empty() && !isShared(module)) {
            const std::size_t dot = module.rfind('.');
            module = dot == std::string::npos ? std::string() : module.substr(0, dot);
        }
        if (module.empty()) return;
        const auto [entry, isNew] = m_firstOfModule.try_emplace(module, at(side, id));
        if (!isNew) unite(at(side, id), entry->second);
    }

    const FlatGraph* m_sides[2];
    const ComparedOperations* m_compared[2];
    const GraphPairs& m_pairs;
    std::size_t m_offset;
    std::vector<std::size_t> m_root;  ///< of a disjoint-set forest; the last one is of parts of no one value
    std::set<std::string> m_modules[2];
    std::map<std::string, std::size_t> m_firstOfModule;
    mutable std::vector<bool> m_wholes[2];
};

std::string numbersText(const std::multiset<float>& numbers) {
    std::string text;
    for (const float number : numbers) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", number);
    return text;
}

/// A branch or loop that the other graph does not have, or in one: it has only one of the ways.
bool isInOpenBranch(const FlatGraph& flat, const LayerFinder& finder, std::size_t side, ExprId id) {
    const Expr& expr = flat.graph.expr(id);
    if (!expr.bodies.empty()) return !finder.matchOf(side, id).valid();
    for (ExprId owner = flat.graph.body(expr.body).owner; owner.valid();
         owner = flat.graph.body(flat.graph.expr(owner).body).owner)
        if (!isCallWithBody(flat.graph.expr(owner)) && !finder.matchOf(side, owner).valid()) return true;
    return false;
}

/// What one layer computes in both graphs.
struct LayerSums {
    std::map<Hash, std::vector<ExprId>> computed[2];  ///< by function: which operations, once for each time
    std::multiset<float> numbers[2];
    bool isKnown = true, mayHoldSums = false, convolves = false;
    std::size_t products[2] = {0, 0};
    std::size_t silent = 0, open = 0;  ///< operations without counterparts that do not count, and that do
};

/// Writes what differs in each layer.
class LayerJudge {
  public:
    LayerJudge(LayerAccounts& accounts, const FlatGraph& first, const FlatGraph& second, const LayerFinder& finder)
        : m_accounts(accounts), m_sides{&first, &second}, m_finder(finder) {}

    void add(const LayerFinder::Layer& layer) {
        const LayerSums sums = sumsOf(layer);
        if (sums.silent + sums.open > 0) ++m_accounts.layers;
        m_accounts.notCompared += sums.isKnown ? sums.silent : sums.silent + sums.open;
        if (!sums.isKnown) return;
        m_accounts.byFunctions += sums.open;
        compareNumbers(layer, sums);
        comparePair(layer, sums);
        compareSettings(sums);
        for (std::size_t side = 0; side < 2; ++side)
            for (const auto& [function, carriers] : sums.computed[side])
                if (!mayDiffer(sums, function)) addSurplus(sums, side, function, carriers);
    }

  private:
    LayerSums sumsOf(const LayerFinder::Layer& layer) const {
        LayerSums sums;
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId id : layer.operations[side]) {
                const KnownFunctions known(*m_sides[side], id);
                if (!known.isKnown || isInOpenBranch(*m_sides[side], m_finder, side, id)) sums.isKnown = false;
                sums.mayHoldSums = sums.mayHoldSums || known.mayHoldSums;
                sums.convolves = sums.convolves || known.convolves;
                if (!m_finder.matchOf(side, id).valid()) ++(known.functions.empty() ? sums.silent : sums.open);
                sums.numbers[side].insert(known.numbers.begin(), known.numbers.end());
                for (const Hash function : known.functions) sums.computed[side][function].push_back(id);
                sums.products[side] += known.multiplies ? 1 : 0;
            }
        // One product gives what several do in the other file: nothing says how.
        if (sums.products[0] != sums.products[1]) sums.isKnown = false;
        return sums;
    }

    /// A normalisation is folded into the convolution in front of it, and one number into another.
    static bool mayDiffer(const LayerSums& sums, Hash function) {
        if (sums.convolves && KnownFunctions::isNormalisation(function)) return true;
        return sums.mayHoldSums && KnownFunctions::isSum(function);
    }

    void compareNumbers(const LayerFinder::Layer& layer, const LayerSums& sums) {
        const auto &own = sums.numbers[0], &other = sums.numbers[1];
        if (own.size() != other.size() || own == other || sums.mayHoldSums) return;
        m_accounts.parts.push_back({layer.operations[0].back(), layer.operations[1].back(),
                                    "numbers: " + numbersText(own) + " -> " + numbersText(other)});
    }

    /// Of two that are written in others the same parts do not say enough: h·clip(x) and clip(x).
    void comparePair(const LayerFinder::Layer& layer, const LayerSums& sums) {
        if (layer.operations[0].size() != 1 || layer.operations[1].size() != 1 || sums.convolves) return;
        const ExprId a = layer.operations[0].front(), b = layer.operations[1].front();
        const bool areInOthers =
            KnownFunctions(*m_sides[0], a).mayHoldSums && KnownFunctions(*m_sides[1], b).mayHoldSums;
        if (areInOthers && functionOf(*m_sides[0], a) != functionOf(*m_sides[1], b)) addChanged(a, b);
    }

    /// Of operations that stand for themselves and that both have as many of, one by one.
    void compareSettings(const LayerSums& sums) {
        const auto areThemselves = [](const FlatGraph& flat, Hash function, const std::vector<ExprId>& carriers) {
            return std::ranges::all_of(carriers, [&](ExprId id) { return functionOf(flat, id) == function; });
        };
        for (const auto& [function, ours] : sums.computed[0]) {
            const auto theirs = sums.computed[1].find(function);
            if (theirs == sums.computed[1].end() || theirs->second.size() != ours.size()) continue;
            if (!areThemselves(*m_sides[0], function, ours) || !areThemselves(*m_sides[1], function, theirs->second))
                continue;
            for (std::size_t i = 0; i < ours.size(); ++i) compareSettings(ours[i], theirs->second[i]);
        }
    }
    void compareSettings(ExprId a, ExprId b) {
        const FlatGraph &first = *m_sides[0], &second = *m_sides[1];
        const Expr &ours = first.graph.expr(a), &theirs = second.graph.expr(b);
        const operators::Traits &own = graph::traitsOf(ours), &other = graph::traitsOf(theirs);
        std::string what = otherSettings(first.graph, ours, second.graph, theirs, false);
        const std::size_t operands = first.computedInputsOf(a).size(), there = second.computedInputsOf(b).size();
        if (!what.empty()) m_accounts.parts.push_back({a, b, std::move(what)});
        else if (own.opClass == other.opClass && own.is(operators::Trait::Broadcasts) && operands != there)
            m_accounts.parts.push_back({a, b, fmt::format("operands: {} -> {}", operands, there), true});
    }

    /// What the other graph has fewer of: operations without counterparts first.
    void addSurplus(const LayerSums& sums, std::size_t side, Hash function, std::vector<ExprId> carriers) {
        const auto other = sums.computed[1 - side].find(function);
        const std::size_t there = other == sums.computed[1 - side].end() ? 0 : other->second.size();
        std::stable_partition(carriers.begin(), carriers.end(),
                              [&](ExprId id) { return !m_finder.matchOf(side, id).valid(); });
        for (std::size_t i = 0; i + there < carriers.size(); ++i) {
            const ExprId id = carriers[i], match = m_finder.matchOf(side, id);
            if (!match.valid()) m_accounts.isOther[side][id.index()] = true;
            else side == 0 ? addChanged(id, match) : addChanged(match, id);
        }
    }

    void addChanged(ExprId a, ExprId b) {
        if (std::ranges::find(m_accounts.changed, a, &OtherFunction::a) != m_accounts.changed.end()) return;
        m_accounts.changed.push_back({a, b, otherOperator(m_sides[0]->graph.expr(a), m_sides[1]->graph.expr(b))});
    }

    LayerAccounts& m_accounts;
    const FlatGraph* m_sides[2];
    const LayerFinder& m_finder;
};

}  // namespace

LayerAccounts::LayerAccounts(const FlatGraph& first, const FlatGraph& second, const ComparedOperations& comparedFirst,
                             const ComparedOperations& comparedSecond, const GraphPairs& pairs)
    : isOther{std::vector<bool>(first.graph.exprCount(), false), std::vector<bool>(second.graph.exprCount(), false)} {
    LayerFinder finder(first, second, comparedFirst, comparedSecond, pairs);
    LayerJudge judge(*this, first, second, finder);
    for (const auto& [root, layer] : finder.layers()) judge.add(layer);
}

}  // namespace sonde::session::diff
