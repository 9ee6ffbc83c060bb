#include "core/session/diff/graph_pairs.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/analysis/match.h"
#include "core/graph/traits.h"
#include "core/session/diff/compared_operations.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/layer_groups.h"
#include "core/session/diff/layer_parts.h"
#include "core/session/diff/module_parts.h"
#include "core/session/diff/pair_table.h"
#include "core/session/diff/repacked_weights.h"
#include "core/session/diff/replaced_operations.h"
#include "core/session/diff/sequence.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

using diff::GraphSide;
using diff::Hash;

class PairMaker : private diff::PairTable {
  public:
    PairMaker(const InternalGraph& first, const InternalGraph& second, const PairsByHand& byHand,
              const base::WorkContext& work)
        : PairTable(first, second, byHand), m_comparedA(m_a, m_isOneVocabulary), m_comparedB(m_b, m_isOneVocabulary),
          m_work(work), m_isReplaced(first.exprCount(), false) {}

    GraphPairs pairs() {
        byPlaces();
        byNamesAndWeights();
        byStructure();
        // What was set to something else: a convolution with a larger kernel.
        m_areSizesEqual = false;
        if (m_areSizesOther && !m_isOneVocabulary) byCommonNames();
        if (m_areSizesOther) byStructure();
        // The same operator on the same values, used alike: which is paired with which is no matter, nor that one graph
        // has more of them.
        byKeys(combined(m_a.upDetail, m_a.downDetail), combined(m_b.upDetail, m_b.downDetail), Groups::OfAnySize);
        replaced();
        if (m_isOneVocabulary) {
            // What is left over in both is the same elsewhere.
            byKeys(of(m_a.detail), of(m_b.detail));
        } else {
            byLayers(diff::GroupMembers::Unmatched);
            byLayers(diff::GroupMembers::UnmatchedAndMoved);
        }
        return result();
    }

  private:
    using Key = std::function<Hash(ExprId)>;

    static Key of(const std::vector<Hash>& hashes) {
        return [&hashes](ExprId id) { return hashes[id.index()]; };
    }
    static Key combined(const std::vector<Hash>& up, const std::vector<Hash>& down) {
        return [&up, &down](ExprId id) { return diff::mixed(up[id.index()], down[id.index()]); };
    }

    void byPlaces() {
        byModulesOfOnePlace();
        inPlaces(m_a.placeDetail, m_b.placeDetail);
        inPlaces(m_a.place, m_b.place);
        // By both: the operation is at the same place of the same network.
        byKeys(combined(m_a.upDetail, m_a.downDetail), combined(m_b.upDetail, m_b.downDetail));
        byKeys(combined(m_a.up, m_a.down), combined(m_b.up, m_b.down));
    }

    void byNamesAndWeights() {
        if (!m_isOneVocabulary) byCommonNames();
        bySide(&GraphSide::weightValues, false);
        if (!m_isOneVocabulary) byElements();
        bySide(&GraphSide::weightNames, true);
        if (m_isOneVocabulary) spreadBy(m_a.label, m_b.label);
    }

    void byStructure() {
        byModules();
        if (m_isOneVocabulary) spreadBy(m_a.label, m_b.label);
        byKeys(of(m_a.upDetail), of(m_b.upDetail));
        byKeys(of(m_a.downDetail), of(m_b.downDetail));
        byKeys(of(m_a.up), of(m_b.up));
        byKeys(of(m_a.down), of(m_b.down));
        spread();
        if (!m_isOneVocabulary) byLayers(diff::GroupMembers::Unmatched);
        bySequences();
        spread();
    }

    GraphPairs result() const {
        GraphPairs result{m_a.match, m_b.match, {m_a.partOf, m_b.partOf}, {}, m_isReplaced, m_isOneVocabulary};
        if (m_isOneVocabulary) return result;
        result.isInPairedModule[0] = diff::inPairedModules(m_a, m_b);
        result.isInPairedModule[1] = diff::inPairedModules(m_b, m_a);
        for (std::size_t i = 0; i < m_a.partOf.size(); ++i)
            if (m_a.partOf[i].valid()) result.isInPairedModule[0][i] = true;
        for (std::size_t i = 0; i < m_b.partOf.size(); ++i)
            if (m_b.partOf[i].valid()) result.isInPairedModule[1][i] = true;
        // What a person took apart is no part of a module that is the same for the rest.
        for (const Hash key : m_apart) {
            const auto a = static_cast<std::size_t>(key >> 32), b = static_cast<std::size_t>(key & 0xffffffff);
            if (a < result.isInPairedModule[0].size()) result.isInPairedModule[0][a] = false;
            if (b < result.isInPairedModule[1].size()) result.isInPairedModule[1][b] = false;
        }
        return result;
    }

    /// Which groups of operations with one key are paired: those that both graphs have equally many of, or all.
    enum class Groups { OfEqualSize, OfAnySize };

    /// Pairs of what has the same key and operator; key 0 is none.
    void byKeys(const Key& ofA, const Key& ofB, Groups paired = Groups::OfEqualSize) {
        if (m_work.cancelled()) return;
        std::unordered_map<Hash, std::pair<std::vector<ExprId>, std::vector<ExprId>>> groups;
        for (const ExprId id : m_a.order)
            if (!m_a.isMatched(id) && !isWeak(m_a, id))
                if (const Hash key = ofA(id)) groups[diff::mixed(key, m_a.label[id.index()])].first.push_back(id);
        if (groups.empty()) return;
        for (const ExprId id : m_b.order)
            if (!m_b.isMatched(id) && !isWeak(m_b, id))
                if (const Hash key = ofB(id)) groups[diff::mixed(key, m_b.label[id.index()])].second.push_back(id);
        // In the order of the program, so that what was found first is followed first.
        for (const ExprId id : m_a.order) {
            if (m_a.isMatched(id)) continue;
            const auto group = groups.find(diff::mixed(ofA(id), m_a.label[id.index()]));
            if (group == groups.end()) continue;
            const auto& [ours, theirs] = group->second;
            if (paired == Groups::OfAnySize || ours.size() == theirs.size()) pairGroup(ours, theirs);
            groups.erase(group);
        }
    }

    /// In order; those that are no counterparts with one that is, where there are few.
    void pairGroup(const std::vector<ExprId>& ours, const std::vector<ExprId>& theirs) {
        constexpr std::size_t kMaxTried = 64;
        for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
            if (isFree(ours[i], theirs[i])) pair(ours[i], theirs[i]);
        if (ours.size() > kMaxTried || theirs.size() > kMaxTried) return;
        for (const ExprId a : ours) {
            if (m_a.isMatched(a)) continue;
            for (const ExprId b : theirs)
                if (isFree(a, b)) pair(a, b);
        }
    }

    void bySide(Hash (GraphSide::*key)(ExprId) const, bool withDetail) {
        std::unordered_map<ExprId, Hash> a, b;
        const auto fill = [&](const GraphSide& side, std::unordered_map<ExprId, Hash>& keys) {
            for (const ExprId id : side.order) {
                if (m_work.cancelled()) return;
                if (side.isMatched(id)) continue;
                Hash hash = (side.*key)(id);
                if (hash != 0 && withDetail) hash = diff::mixed(hash, side.detail[id.index()]);
                keys[id] = hash;
            }
        };
        fill(m_a, a);
        fill(m_b, b);
        byKeys([&a](ExprId id) { return a[id]; }, [&b](ExprId id) { return b[id]; });
    }

    using Operations = std::pair<std::vector<ExprId>, std::vector<ExprId>>;  ///< of both graphs

    /// What is left, by a key; 0 is none.
    std::unordered_map<Hash, Operations> openBy(const Key& ofA, const Key& ofB) const {
        std::unordered_map<Hash, Operations> groups;
        for (const ExprId id : m_a.order)
            if (!m_a.isMatched(id) && !isWeak(m_a, id))
                if (const Hash key = ofA(id)) groups[key].first.push_back(id);
        for (const ExprId id : m_b.order)
            if (!m_b.isMatched(id) && !isWeak(m_b, id))
                if (const Hash key = ofB(id)) groups[key].second.push_back(id);
        return groups;
    }

    /// What both graphs call the same, each once. Where layers were put in between, names that are numbers are those of
    /// other layers: so only if both have the places of both, and names say no more than which is which.
    void byModulesOfOnePlace() {
        const std::vector<Hash>&ours = m_a.placeDetail, &theirs = m_b.placeDetail;
        const auto collected = [](const GraphSide& side, const std::vector<Hash>& places) {
            std::unordered_set<Hash> known;
            for (const ExprId id : side.order) known.insert(places[id.index()]);
            return known;
        };
        const std::unordered_set<Hash> placesOfA = collected(m_a, ours), placesOfB = collected(m_b, theirs);
        const auto groups = openBy([this](ExprId id) { return moduleKey(m_a, id, true); },
                                   [this](ExprId id) { return moduleKey(m_b, id, true); });
        for (const ExprId id : m_a.order) {
            const auto group = groups.find(moduleKey(m_a, id, true));
            if (group == groups.end()) continue;
            const auto& [first, second] = group->second;
            if (first.size() != 1 || second.size() != 1 || first.front() != id || !isFree(id, second.front())) continue;
            if (placesOfB.contains(ours[id.index()]) && placesOfA.contains(theirs[second.front().index()]))
                pair(id, second.front());
        }
    }

    /// Parallel branches that do the same have one place. Which is which is said by what they are given, then by what
    /// is next to that.
    void inPlaces(const std::vector<Hash>& ours, const std::vector<Hash>& theirs) {
        spreadBy(ours, theirs);
        using WeightKey = Hash (*)(const GraphSide&, ExprId);
        const std::array<WeightKey, 3> keys{
            [](const GraphSide& side, ExprId id) { return side.weightPaths(id); },
            [](const GraphSide& side, ExprId id) { return side.weightValues(id); },
            [](const GraphSide& side, ExprId id) { return diff::hashOfLayerWeight(side, id); }};
        for (const WeightKey key : keys) {
            if (key == keys.back() && m_isOneVocabulary) break;
            const auto groups = openBy(of(ours), of(theirs));
            for (const ExprId id : m_a.order) {
                if (m_work.cancelled()) return;
                if (m_a.isMatched(id)) continue;
                const auto group = groups.find(ours[id.index()]);
                if (group == groups.end() || group->second.first.empty() || group->second.first.front() != id) continue;
                inPlace(group->second, key);
            }
            spreadBy(ours, theirs);
        }
    }

    /// Of the operations of one place those that alone have a key.
    void inPlace(const Operations& group, Hash (*key)(const GraphSide&, ExprId)) {
        const auto& [first, second] = group;
        if (second.empty()) return;
        if (first.size() == 1 && second.size() == 1) return tryPair(first.front(), second.front());
        std::unordered_map<Hash, Operations> keyed;
        for (const ExprId id : first) keyed[key(m_a, id)].first.push_back(id);
        for (const ExprId id : second) keyed[key(m_b, id)].second.push_back(id);
        for (const auto& [hash, both] : keyed)
            if (hash != 0 && both.first.size() == 1 && both.second.size() == 1)
                tryPair(both.first.front(), both.second.front());
    }

    /// As spread(), whatever the position of inputs: to the only ones before and behind a pair with one hash.
    void spreadBy(const std::vector<Hash>& ours, const std::vector<Hash>& theirs) {
        fromPairs([&](ExprId a, ExprId b) {
            std::map<Hash, std::pair<std::set<ExprId>, std::set<ExprId>>> before;
            for (const NodeId input : m_a.inputsOf(a))
                if (const ExprId id = m_a.producer(input); !m_a.isMatched(id))
                    before[ours[id.index()]].first.insert(id);
            for (const NodeId input : m_b.inputsOf(b))
                if (const ExprId id = m_b.producer(input); !m_b.isMatched(id))
                    before[theirs[id.index()]].second.insert(id);
            for (const auto& [hash, both] : before)
                if (both.first.size() == 1 && both.second.size() == 1)
                    tryPair(*both.first.begin(), *both.second.begin());
            pairUsers(a, b, ours, theirs);
        });
    }

    Hash moduleKey(const GraphSide& side, ExprId id, bool ofEachCall) const {
        const Expr& expr = side.graph.expr(id);
        const graph::Scope* scope = expr.scope.valid() ? &side.graph.scope(expr.scope) : nullptr;
        if (!expr.qualname || expr.qualname->empty() || (scope && scope->inferred)) return 0;
        const Hash own = m_isOneVocabulary ? side.detail[id.index()] : side.label[id.index()];
        const Hash key = diff::mixed(diff::hashOf(*expr.qualname), own);
        return ofEachCall && scope ? diff::mixed(key, static_cast<Hash>(scope->call)) : key;
    }

    /// As manieth of its operator in its module, with the same attributes if they can be the same.
    void byModules() {
        byKeys([this](ExprId id) { return moduleKey(m_a, id, false); },
               [this](ExprId id) { return moduleKey(m_b, id, false); });
    }

    void byCommonNames() {
        const std::vector<NodeId> matched = analysis::matchNodes(m_a.graph, m_b.graph);
        for (std::size_t i = 0; i < matched.size(); ++i) {
            if (!matched[i].valid()) continue;
            const ExprId a = m_a.producer(NodeId(i)), b = m_b.producer(matched[i]);
            // The name of a group that was found in one graph is no name of a module of the other.
            const auto isInFoundGroup = [](const GraphSide& side, ExprId id) {
                const graph::ScopeId scope = side.graph.expr(id).scope;
                return scope.valid() && side.graph.scope(scope).inferred;
            };
            const bool areNamesakes = m_a.graph.node(NodeId(i)).name == m_b.graph.node(matched[i]).name;
            if (isInFoundGroup(m_a, a) != isInFoundGroup(m_b, b) && !areNamesakes) continue;
            const bool areOperations = !diff::isValueExpr(m_a.graph.expr(a)) && !diff::isValueExpr(m_b.graph.expr(b));
            if (areOperations && isFree(a, b)) pair(a, b);
        }
    }

    /// The only operations that read a stored tensor with the same elements, in whatever layout.
    void byElements() {
        std::unordered_map<Hash, std::pair<std::set<ExprId>, std::set<ExprId>>> users;
        for (const auto& [node, hash] : m_a.storedElements())
            users[hash].first.insert(m_a.users[node.index()].begin(), m_a.users[node.index()].end());
        for (const auto& [node, hash] : m_b.storedElements())
            users[hash].second.insert(m_b.users[node.index()].begin(), m_b.users[node.index()].end());
        for (const auto& [hash, both] : users)
            if (both.first.size() == 1 && both.second.size() == 1) tryPair(*both.first.begin(), *both.second.begin());
    }

    /// Layers that one of the files has in other operators.
    void byLayers(diff::GroupMembers members) {
        for (const diff::LayerGroup& layer : diff::layerGroups(m_a, m_b, m_comparedA, m_comparedB, members, m_work)) {
            if (areApart(layer.ofFirst, layer.ofSecond)) continue;
            const ExprId a = layer.resultOfFirst, b = layer.resultOfSecond;
            if (a.valid() && b.valid() && isFree(a, b)) setPair(a, b);
            const bool isPair = a.valid() && b.valid() && m_a.match[a.index()] == b;
            // Without one result each is a part of no other.
            const auto mark = [&](GraphSide& side, const std::vector<ExprId>& operations, ExprId whole) {
                for (const ExprId id : operations)
                    if (!side.isMatched(id)) side.partOf[id.index()] = isPair ? whole : id;
            };
            mark(m_a, layer.ofFirst, a);
            mark(m_b, layer.ofSecond, b);
        }
    }

    /// From pairs to what feeds them, or uses them, with the same operator.
    void spread() {
        const auto inputsOf = [this](const GraphSide& side, ExprId id) {
            return m_isOneVocabulary ? side.inputsOf(id) : diff::readByLayer(side, id);
        };
        fromPairs([&](ExprId a, ExprId b) {
            const std::vector<NodeId> inputs = inputsOf(m_a, a), others = inputsOf(m_b, b);
            for (std::size_t i = 0; i < inputs.size() && inputs.size() == others.size(); ++i)
                tryPair(m_a.producer(inputs[i]), m_b.producer(others[i]));
            if (!m_isOneVocabulary) pairUsers(a, b, m_a.detail, m_b.detail);
            pairUsers(a, b, m_a.label, m_b.label);
        });
    }

    /// Calls step(a, b) for each pair, also for those that it finds.
    template <typename F>
    void fromPairs(F step) {
        std::deque<ExprId> open;
        for (const ExprId id : m_a.order)
            if (m_a.hasCounterpart(id)) open.push_back(id);
        while (!open.empty() && !m_work.cancelled()) {
            const ExprId a = open.front();
            open.pop_front();
            m_new.clear();
            step(a, m_a.match[a.index()]);
            open.insert(open.end(), m_new.begin(), m_new.end());
        }
    }

    /// The only free user with a hash, as that of its operator, with the only one.
    void pairUsers(ExprId a, ExprId b, const std::vector<Hash>& ours, const std::vector<Hash>& theirs) {
        const std::vector<NodeId>&first = m_a.graph.expr(a).outputs, &second = m_b.graph.expr(b).outputs;
        for (std::size_t i = 0; i < first.size() && i < second.size(); ++i)
            pairUsersOf(first[i], second[i], ours, theirs);
    }
    void pairUsersOf(NodeId a, NodeId b, const std::vector<Hash>& ours, const std::vector<Hash>& theirs) {
        std::map<Hash, std::pair<std::set<ExprId>, std::set<ExprId>>> users;
        for (const ExprId user : m_a.users[a.index()])
            if (!m_a.isMatched(user)) users[ours[user.index()]].first.insert(user);
        for (const ExprId user : m_b.users[b.index()])
            if (!m_b.isMatched(user)) users[theirs[user.index()]].second.insert(user);
        for (const auto& [hash, both] : users)
            if (both.first.size() == 1 && both.second.size() == 1) tryPair(*both.first.begin(), *both.second.begin());
    }

    /// Between pairs that are in the same order in both, the longest common sequence of operators.
    void bySequences() {
        std::vector<std::size_t> positionInB(m_b.graph.exprCount(), 0);
        for (std::size_t i = 0; i < m_b.order.size(); ++i) positionInB[m_b.order[i].index()] = i;
        std::vector<std::size_t> ours, theirs;
        for (std::size_t i = 0; i < m_a.order.size(); ++i) {
            if (!m_a.hasCounterpart(m_a.order[i])) continue;
            ours.push_back(i);
            theirs.push_back(positionInB[m_a.match[m_a.order[i].index()].index()]);
        }
        std::size_t beginA = 0, beginB = 0;
        const auto gap = [&](std::size_t endA, std::size_t endB) {
            std::vector<ExprId> a, b;
            for (std::size_t i = beginA; i < endA; ++i)
                if (!m_a.isMatched(m_a.order[i]) && !isWeak(m_a, m_a.order[i])) a.push_back(m_a.order[i]);
            for (std::size_t i = beginB; i < endB; ++i)
                if (!m_b.isMatched(m_b.order[i]) && !isWeak(m_b, m_b.order[i])) b.push_back(m_b.order[i]);
            for (const auto& [i, j] : diff::commonSequence(a.size(), b.size(), [&](std::size_t x, std::size_t y) {
                     return isSameOperator(a[x], b[y]) && isFree(a[x], b[y]);
                 }))
                pair(a[i], b[j]);
        };
        for (const std::size_t kept : diff::longestIncreasing(theirs)) {
            if (m_work.cancelled()) return;
            gap(ours[kept], theirs[kept]);
            beginA = ours[kept] + 1;
            beginB = theirs[kept] + 1;
        }
        gap(m_a.order.size(), m_b.order.size());
    }

    /// Another operator between the same neighbours.
    void replaced() {
        diff::pairReplaced(
            m_a, m_b, [this](ExprId a, ExprId b) { return isFree(a, b); },
            [this](ExprId a, ExprId b) {
                pair(a, b);
                m_isReplaced[a.index()] = true;
            },
            m_work);
    }

    diff::ComparedOperations m_comparedA, m_comparedB;
    const base::WorkContext& m_work;
    std::vector<bool> m_isReplaced;
};

}  // namespace

bool isDiffOperation(const Expr& expr) { return !diff::isValueExpr(expr); }

GraphPairs pairOperations(const InternalGraph& first, const InternalGraph& second, const base::WorkContext& work) {
    return pairOperations(first, second, {}, work);
}

GraphPairs pairOperations(const InternalGraph& first, const InternalGraph& second, const PairsByHand& byHand,
                          const base::WorkContext& work) {
    return PairMaker(first, second, byHand, work).pairs();
}

}  // namespace sonde::session
