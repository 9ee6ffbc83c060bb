#include "core/session/diff/other_forms.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "core/graph/traits.h"
#include "core/session/diff/compared_operations.h"
#include "core/session/diff/form_terms.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

using Given = FormTerms::Given;
using PairState = FormTerms::Pair;
using Flags = std::vector<bool>;  ///< by ExprId

bool isOfOnnx(const InternalGraph& graph) {
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()), [&](ExprId id) {
        const Expr& expr = graph.expr(id);
        return !isValueExpr(expr) && expr.op.domain.empty() && !expr.op.name.empty();
    });
}

class FormJudge {
  public:
    FormJudge(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs,
              const PairsByHand& byHand, StructureDiff& diff, ParameterDiff& parameters)
        : m_flats{FlatGraph(first, false), FlatGraph(second, false)}, m_pairs(pairs), m_diff(diff),
          m_parameters(parameters),
          m_terms(m_flats[0], m_flats[1], pairs, parameters, CanonicalTerms::Numbers::Rounded),
          m_exact(m_flats[0], m_flats[1], pairs, parameters, CanonicalTerms::Numbers::Exact),
          m_isSuspect(first.exprCount(), false), m_isBoundary(first.exprCount(), false),
          m_isSame(first.exprCount(), false),
          m_isSameOfAll(first.exprCount(), false), m_isProved{Flags(first.exprCount(), false),
                                                              Flags(second.exprCount(), false)} {
        for (const auto& [a, b] : byHand.apart) m_apart.insert({m_flats[0].producer(a), m_flats[1].producer(b)});
    }

    void judge(const base::WorkContext& work) {
        for (const NodeChange& change : m_diff.changed) {
            const ExprId id = graph(0).node(change.a).producer;
            if (!m_pairs.ofFirst[id.index()].valid()) continue;
            m_isSuspect[id.index()] = true;
            m_terms.setPair(id, PairState::Open);
            m_exact.setPair(id, PairState::Open);
        }
        for (const ExprId id : m_flats[0].order) {
            if (work.cancelled()) return;
            if (m_pairs.ofFirst[id.index()].valid()) comparePair(id);
        }
        compareResults();
        for (std::size_t side = 0; side < 2; ++side) {
            prove(side);
            for (const NodeId node : side == 0 ? m_diff.removed : m_diff.added)
                m_listed[side].insert(graph(side).node(node).producer);
        }
        listForms();
        if (m_diff.otherForms.empty()) return;
        takeBack();
        takeBackStored();
    }

  private:
    const InternalGraph& graph(std::size_t side) const { return m_flats[side].graph; }
    ExprId matchOf(std::size_t side, ExprId id) const {
        return (side == 0 ? m_pairs.ofFirst : m_pairs.ofSecond)[id.index()];
    }
    ExprId firstOf(std::size_t side, ExprId id) const { return side == 0 ? id : matchOf(1, id); }
    bool isUnmatched(std::size_t side, ExprId id) const {
        return !isValueExpr(graph(side).expr(id)) && !matchOf(side, id).valid();
    }
    bool readsUnmatched(std::size_t side, ExprId id) const {
        return std::ranges::any_of(m_flats[side].inputsOf(id),
                                   [&](NodeId input) { return isUnmatched(side, m_flats[side].producer(input)); });
    }

    /// Of all results that are used.
    bool isEqual(FormTerms& terms, ExprId id, Given given) {
        const ExprId other = m_pairs.ofFirst[id.index()];
        const Expr &ours = graph(0).expr(id), &theirs = graph(1).expr(other);
        for (std::size_t k = 0; k < ours.outputs.size() && k < theirs.outputs.size(); ++k) {
            const auto isUsed = [&](std::size_t side, NodeId node) {
                return k == 0 || !graph(side).node(node).users.empty();
            };
            if (!isUsed(0, ours.outputs[k]) && !isUsed(1, theirs.outputs[k])) continue;
            if (!haveOneShape(ours.outputs[k], theirs.outputs[k])) return false;
            if (terms.result(0, id, k, given) != terms.result(1, other, k, given)) return false;
        }
        return true;
    }

    /// As far as both files say it.
    bool haveOneShape(NodeId a, NodeId b) const {
        const tensor::TypeInfo &ours = graph(0).node(a).type, &theirs = graph(1).node(b).type;
        if (ours.dtype != theirs.dtype) return false;
        const auto x = ours.staticShape(), y = theirs.staticShape();
        return !x || !y || *x == *y;
    }

    void comparePair(ExprId id) {
        const ExprId other = m_pairs.ofFirst[id.index()];
        const bool isSuspect = m_isSuspect[id.index()];
        m_isBoundary[id.index()] = isSuspect || readsUnmatched(0, id) || readsUnmatched(1, other);
        if (!m_isBoundary[id.index()]) return;
        // Of one operator a number that differs in its last bit is another one: no form of it has to be computed.
        const bool isOneForm = isSuspect && operatorName(graph(0).expr(id)) == operatorName(graph(1).expr(other));
        FormTerms& terms = isOneForm ? m_exact : m_terms;
        m_isSame[id.index()] = isEqual(terms, id, Given::SamePairs);
        m_isSameOfAll[id.index()] = m_isSame[id.index()] || isEqual(terms, id, Given::AllPairs);
        if (isSuspect)
            for (FormTerms* const each : {&m_terms, &m_exact})
                each->setPair(id, m_isSameOfAll[id.index()] ? PairState::Same : PairState::Other);
        if (!m_isSameOfAll[id.index()]) compareInputs(id, other);
    }

    /// What a pair that has changed reads may be the same all the same.
    void compareInputs(ExprId id, ExprId other) {
        const std::vector<NodeId> ours = m_flats[0].inputsOf(id), theirs = m_flats[1].inputsOf(other);
        for (std::size_t i = 0; i < ours.size() && ours.size() == theirs.size(); ++i)
            if (haveOneShape(ours[i], theirs[i]) &&
                m_terms.value(0, ours[i], Given::AllPairs) == m_terms.value(1, theirs[i], Given::AllPairs))
                m_sameInputs.insert({id, i});
    }

    void compareResults() {
        const std::vector<NodeId> ours = m_flats[0].outputs(), theirs = m_flats[1].outputs();
        for (std::size_t i = 0; i < ours.size() && ours.size() == theirs.size(); ++i) {
            const bool isOpen =
                isUnmatched(0, m_flats[0].producer(ours[i])) || isUnmatched(1, m_flats[1].producer(theirs[i]));
            if (!isOpen || !haveOneShape(ours[i], theirs[i])) continue;
            for (const Given given : {Given::SamePairs, Given::AllPairs})
                if (m_terms.value(0, ours[i], given) == m_terms.value(1, theirs[i], given)) m_sameResults.insert(i);
        }
    }

    bool isOther(std::size_t side, ExprId id) const {
        const ExprId first = firstOf(side, id);
        return first.valid() && matchOf(side, id).valid() && m_terms.pair(first) == PairState::Other;
    }

    /// By what reads it: all of that is the same in both models. From behind: what reads a value comes later.
    void prove(std::size_t side) {
        const FlatGraph& flat = m_flats[side];
        std::vector<std::vector<std::size_t>> asResult(graph(side).nodeCount());
        const std::vector<NodeId> results = flat.outputs();
        for (std::size_t i = 0; i < results.size(); ++i) asResult[results[i].index()].push_back(i);
        Flags isOfBody(graph(side).nodeCount(), false);
        for (std::size_t i = 0; i < graph(side).bodyCount(); ++i)
            if (graph(side).body(graph::BodyId(i)).owner.valid())
                for (const NodeId output : graph(side).body(graph::BodyId(i)).outputs)
                    isOfBody[flat.origin[output.index()].index()] = true;
        for (auto at = flat.order.rbegin(); at != flat.order.rend(); ++at) {
            const bool isPair = isOther(side, *at);
            if (!isPair && !isUnmatched(side, *at)) continue;
            bool isRead = false, areAll = true;
            for (const NodeId output : graph(side).expr(*at).outputs) {
                for (const ExprId user : flat.users[output.index()]) {
                    isRead = true;
                    areAll = areAll && (isUserSame(side, user, isPair) || (!isPair && isReadAlike(side, user, output)));
                }
                for (const std::size_t i : asResult[output.index()]) {
                    isRead = true;
                    areAll = areAll && m_sameResults.contains(i);
                }
                areAll = areAll && !isOfBody[output.index()];
            }
            m_isProved[side][at->index()] = isRead && areAll;
        }
    }

    bool isUserSame(std::size_t side, ExprId user, bool isReadPair) const {
        if (isUnmatched(side, user)) return m_isProved[side][user.index()];
        const ExprId first = firstOf(side, user);
        if (!m_isBoundary[first.index()]) return false;
        const bool isSame = isReadPair ? m_isSame[first.index()] : m_isSameOfAll[first.index()];
        return isSame || (isOther(side, user) && m_isProved[side][user.index()]);
    }

    /// By a pair that has changed itself, at inputs that are the same in both.
    bool isReadAlike(std::size_t side, ExprId user, NodeId value) const {
        const std::vector<NodeId> inputs = m_flats[side].inputsOf(user);
        bool isRead = false;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (inputs[i] != value) continue;
            isRead = true;
            if (!m_sameInputs.contains({firstOf(side, user), i})) return false;
        }
        return isRead;
    }

    /// What stands for something else of the other model, by the value that both have behind it.
    void listForms() {
        for (const ExprId id : m_flats[0].order) {
            const ExprId other = m_pairs.ofFirst[id.index()];
            if (!other.valid() || !m_isBoundary[id.index()]) continue;
            const std::vector<NodeId> ours = m_flats[0].inputsOf(id), theirs = m_flats[1].inputsOf(other);
            if (m_isSameOfAll[id.index()]) addForm(ours, theirs, m_isSuspect[id.index()] ? id : ExprId());
            else
                for (std::size_t i = 0; i < ours.size(); ++i)
                    if (m_sameInputs.contains({id, i})) addForm({ours[i]}, {theirs[i]}, {});
        }
        const std::vector<NodeId> ours = m_flats[0].outputs(), theirs = m_flats[1].outputs();
        for (const std::size_t i : m_sameResults) addForm({ours[i]}, {theirs[i]}, {});
        std::vector<std::size_t> positions[2];
        for (std::size_t side = 0; side < 2; ++side) {
            positions[side].resize(graph(side).exprCount());
            for (std::size_t i = 0; i < m_flats[side].order.size(); ++i)
                positions[side][m_flats[side].order[i].index()] = i;
        }
        for (const auto& operations : m_forms) {
            StructureDiff::OtherForm form;
            for (std::size_t side = 0; side < 2; ++side) {
                std::string names;
                std::vector<ExprId> ordered(operations[side].begin(), operations[side].end());
                std::ranges::sort(ordered, {}, [&](ExprId id) { return positions[side][id.index()]; });
                for (const ExprId id : ordered) {
                    (side == 0 ? form.a : form.b).push_back(graph(side).expr(id).outputs.front());
                    names += (names.empty() ? "" : ", ") + operatorName(graph(side).expr(id));
                }
                form.what += (side == 0 ? "" : " = ") + (names.empty() ? "nothing" : names);
            }
            m_diff.otherForms.push_back(std::move(form));
        }
    }

    /// Operations that are a part of several are one form.
    void addForm(const std::vector<NodeId>& ours, const std::vector<NodeId>& theirs, ExprId pair) {
        std::array<std::set<ExprId>, 2> all;
        std::optional<std::size_t> known;
        collect(0, ours, all[0], known);
        collect(1, theirs, all[1], known);
        if (pair.valid()) {
            all[0].insert(pair);
            all[1].insert(m_pairs.ofFirst[pair.index()]);
        }
        if (all[0].empty() && all[1].empty()) return;
        if (!known) {
            known = m_forms.size();
            m_forms.emplace_back();
        }
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId id : all[side]) {
                m_forms[*known][side].insert(id);
                m_formOf[side].emplace(id, *known);
            }
    }

    /// The operations that are taken back and make values; `known`: a form that has some of them.
    void collect(std::size_t side, const std::vector<NodeId>& values, std::set<ExprId>& found,
                 std::optional<std::size_t>& known) {
        std::set<ExprId> seen;
        std::vector<NodeId> open = values;
        while (!open.empty()) {
            const ExprId id = m_flats[side].producer(open.back());
            open.pop_back();
            const bool isPart = isUnmatched(side, id) || isOther(side, id);
            if (!isPart || !m_isProved[side][id.index()] || !seen.insert(id).second) continue;
            if (const auto form = m_formOf[side].find(id); form != m_formOf[side].end()) {
                known = form->second;
                continue;
            }
            const bool isCopy = graph::traitsOf(graph(side).expr(id)).isIdentityAtInference();
            if ((m_listed[side].contains(id) && !isCopy) || isOther(side, id)) found.insert(id);
            for (const NodeId input : m_flats[side].inputsOf(id)) open.push_back(input);
        }
    }

    bool isApart(std::size_t side, ExprId id) const {
        return std::ranges::any_of(m_apart,
                                   [&](const auto& both) { return (side == 0 ? both.first : both.second) == id; });
    }

    void takeBack() {
        for (std::size_t side = 0; side < 2; ++side) {
            const ComparedOperations compared(m_flats[side], true);
            std::erase_if(side == 0 ? m_diff.removed : m_diff.added, [&](NodeId node) {
                const ExprId id = graph(side).node(node).producer;
                if (!m_isProved[side][id.index()] || isApart(side, id)) return false;
                const std::size_t nodes = graph(side).expr(id).outputs.size();
                m_diff.matchedByForm += nodes;
                m_diff.matchedNodes += nodes;
                if (compared.hasTensors[id.index()]) m_diff.matchedTensors += nodes;
                return true;
            });
        }
        std::erase_if(m_diff.changed, [&](const NodeChange& change) {
            const ExprId a = graph(0).node(change.a).producer, b = graph(1).node(change.b).producer;
            if (m_pairs.ofFirst[a.index()] != b) return false;
            return m_isSameOfAll[a.index()] || (m_isProved[0][a.index()] && m_isProved[1][b.index()]);
        });
    }

    /// Read by nothing but what stands for something else: the axes of a squeeze.
    void takeBackStored() {
        const auto isPart = [&](std::size_t side, ExprId id) {
            if (isUnmatched(side, id)) return bool(m_isProved[side][id.index()]);
            const ExprId first = firstOf(side, id);
            return first.valid() && m_isSuspect[first.index()] && m_isSameOfAll[first.index()];
        };
        for (std::size_t side = 0; side < 2; ++side)
            std::erase_if(side == 0 ? m_parameters.removed : m_parameters.added, [&](const ParameterRef& one) {
                if (!one.node.valid()) return false;
                const std::vector<ExprId>& readers = m_flats[side].users[one.node.index()];
                if (readers.empty() || !std::ranges::all_of(readers, [&](ExprId id) { return isPart(side, id); }))
                    return false;
                m_parameters.notes.push_back(
                    {one.name, one.node, side == 1, "a part of another form of the same function"});
                return true;
            });
    }

    const FlatGraph m_flats[2];
    const GraphPairs& m_pairs;
    StructureDiff& m_diff;
    ParameterDiff& m_parameters;
    FormTerms m_terms, m_exact;
    Flags m_isSuspect, m_isBoundary;  ///< of the first graph: pairs that are listed, or read what has no counterpart
    Flags m_isSame, m_isSameOfAll;    ///< of the first graph: pairs that are equal, see FormTerms::Given
    Flags m_isProved[2];              ///< no counterpart, or another one, and all that reads it is the same in both
    std::set<std::size_t> m_sameResults;
    std::set<std::pair<ExprId, std::size_t>> m_sameInputs;  ///< of pairs of the first graph that have changed
    std::set<ExprId> m_listed[2];                           ///< removed, added
    std::vector<std::array<std::set<ExprId>, 2>> m_forms;
    std::map<ExprId, std::size_t> m_formOf[2];
    std::set<std::pair<ExprId, ExprId>> m_apart;
};

}  // namespace

void takeBackForms(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs,
                   const PairsByHand& byHand, StructureDiff& diff, ParameterDiff& parameters,
                   const base::WorkContext& work) {
    constexpr std::size_t kMaxListed = 20'000;
    const std::size_t listed = diff.removed.size() + diff.added.size() + diff.changed.size();
    if (!pairs.isOneVocabulary || listed == 0 || listed > kMaxListed || !isOfOnnx(first) || !isOfOnnx(second)) return;
    FormJudge(first, second, pairs, byHand, diff, parameters).judge(work);
}

}  // namespace sonde::session::diff
