#include "core/session/diff/same_runs_verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <unordered_set>

#include "core/analysis/model_summary.h"
#include "core/graph/traits.h"
#include "core/session/diff/changed_elements.h"
#include "core/session/diff/compared_operations.h"
#include "core/session/diff/layer_functions.h"

namespace sonde::session::diff {

using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

using Marks = std::vector<bool>;  ///< by ExprId

bool isToldByOperator(const NodeChange& change) {
    return change.told == NodeChange::ByOperator || change.told == NodeChange::ByLayer;
}

/// Tells where the values of one graph are open: not known to be the same in the other.
class OpenSide {
  public:
    OpenSide(const FlatGraph& flat, Marks isClosed) : m_flat(flat), m_isClosed(std::move(isClosed)) {
        m_isOperation.assign(flat.graph.exprCount(), false);
        for (const ExprId id : flat.order) m_isOperation[id.index()] = true;
    }

    const FlatGraph& flat() const { return m_flat; }
    bool isOpen(ExprId id) const { return m_isOperation[id.index()] && !m_isClosed[id.index()]; }
    bool isClosed(ExprId id) const { return m_isClosed[id.index()]; }

    /// The operations that make what an operation reads: of what a body is given, those that make what its owner reads;
    /// a branch or loop itself, with what its bodies give.
    std::vector<ExprId> makersFor(ExprId id) const {
        std::vector<ExprId> makers;
        for (const NodeId read : m_flat.readBy(id)) addMakers(m_flat.producer(read), makers);
        const ExprId owner = m_flat.graph.body(m_flat.graph.expr(id).body).owner;
        if (owner.valid())
            for (const NodeId read : m_flat.inputsOf(owner)) addMakers(m_flat.producer(read), makers);
        return makers;
    }
    void addMakers(ExprId producer, std::vector<ExprId>& makers) const {
        if (m_isOperation[producer.index()]) makers.push_back(producer);
    }

  private:
    const FlatGraph& m_flat;
    Marks m_isClosed, m_isOperation;
};

/// Open operations of both graphs that make the same values together.
struct Group {
    bool has[2] = {false, false};  ///< operations
    bool hasWhole = false;         ///< one of them, or what reads them, is a layer as one operator
    bool isRead = false;           ///< by what is the same in both models
    bool isProved = true;          ///< no result that differs reads it
};

class Judge {
  public:
    Judge(StructureDiff& diff, const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs,
          const PairsByHand& byHand, ParameterDiff& parameters, const SameRuns& runs)
        : m_diff(diff), m_pairs(pairs), m_parameters(parameters),
          m_runs(runs), m_flats{FlatGraph(first, !pairs.isOneVocabulary), FlatGraph(second, !pairs.isOneVocabulary)},
          m_sides{OpenSide(m_flats[0], closed(0)), OpenSide(m_flats[1], closed(1))} {
        for (const auto& [a, b] : byHand.apart) {
            m_apart[0].insert(m_flats[0].producer(a));
            m_apart[1].insert(m_flats[1].producer(b));
        }
    }

    void judge() {
        if (m_runs.failure) return addFailure();
        if (m_runs.runs == 0) return;
        takeBackAlone();
        if (m_runs.haveSameResults()) return takeBack();
        if (m_runs.areValuesTold) addDiffering();
    }

  private:
    const InternalGraph& graph(std::size_t side) const { return m_flats[side].graph; }
    ExprId matchOf(std::size_t side, ExprId id) const {
        return (side == 0 ? m_pairs.ofFirst : m_pairs.ofSecond)[id.index()];
    }
    Verdict verdictOf(std::size_t side, ExprId id) const {
        const ExprId match = matchOf(side, id);
        if (!match.valid()) return Verdict::Unknown;
        return m_runs.ofPair[(side == 0 ? id : match).index()];
    }
    Marks closed(std::size_t side) const {
        const InternalGraph& graph = m_flats[side].graph;
        Marks marks(graph.exprCount(), false);
        for (const ExprId id : m_flats[side].order) marks[id.index()] = verdictOf(side, id) == Verdict::Agrees;
        return marks;
    }

    // Groups.

    std::size_t at(std::size_t side, ExprId id) const { return id.index() + (side == 0 ? 0 : graph(0).exprCount()); }
    std::size_t readerAt(ExprId first) const { return at(1, ExprId(graph(1).exprCount())) + first.index(); }
    std::size_t resultAt(std::size_t index) const { return readerAt(ExprId(graph(0).exprCount())) + index; }
    std::size_t rootOf(std::size_t i) {
        while (m_root[i] != i) i = m_root[i] = m_root[m_root[i]];
        return i;
    }
    void unite(std::size_t a, std::size_t b) { m_root[rootOf(a)] = rootOf(b); }

    void findGroups() {
        m_root.resize(resultAt(m_runs.results.size()));
        std::iota(m_root.begin(), m_root.end(), std::size_t{0});
        for (std::size_t side = 0; side < 2; ++side) {
            for (const ExprId id : m_flats[side].order) {
                const ExprId match = matchOf(side, id);
                const std::size_t own = m_sides[side].isOpen(id) ? at(side, id) : readerAt(side == 0 ? id : match);
                for (const ExprId maker : m_sides[side].makersFor(id))
                    if (m_sides[side].isOpen(maker)) unite(own, at(side, maker));
                if (side == 0 && m_sides[0].isOpen(id) && match.valid()) unite(own, at(1, match));
            }
            const std::vector<NodeId> results = m_flats[side].outputs();
            for (std::size_t i = 0; i < results.size() && i < m_runs.results.size(); ++i) {
                std::vector<ExprId> makers;
                m_sides[side].addMakers(m_flats[side].producer(results[i]), makers);
                for (const ExprId maker : makers)
                    if (m_sides[side].isOpen(maker)) unite(resultAt(i), at(side, maker));
            }
        }
        describeGroups();
    }

    void describeGroups() {
        m_groups.assign(m_root.size(), {});
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId id : m_flats[side].order) {
                if (m_sides[side].isOpen(id)) {
                    Group& group = groupOf(side, id);
                    group.has[side] = true;
                    group.hasWhole = group.hasWhole || isWhole(side, id);
                    continue;
                }
                const ExprId first = side == 0 ? id : matchOf(side, id);
                Group& group = m_groups[rootOf(readerAt(first))];
                group.isRead = true;
                if (side == 1) continue;
                const bool isOther = functionOf(m_flats[0], id) != functionOf(m_flats[1], matchOf(0, id));
                if (isOther) group.has[0] = group.has[1] = true;
            }
        for (std::size_t i = 0; i < m_runs.results.size(); ++i) {
            Group& group = m_groups[rootOf(resultAt(i))];
            group.isRead = true;
            group.isProved = group.isProved && m_runs.results[i] == Verdict::Agrees;
        }
    }
    Group& groupOf(std::size_t side, ExprId id) { return m_groups[rootOf(at(side, id))]; }

    bool isWhole(std::size_t side, ExprId id) const { return KnownFunctions::isWholeLayer(m_flats[side], id); }

    /// Which only one of the models has: of this the other may have one way.
    bool isInOwnBranch(std::size_t side, ExprId id) const {
        const InternalGraph& of = graph(side);
        if (!of.expr(id).bodies.empty()) return !matchOf(side, id).valid();
        for (ExprId owner = of.body(of.expr(id).body).owner; owner.valid(); owner = of.body(of.expr(owner).body).owner)
            if (!isCallWithBody(of.expr(owner)) && !matchOf(side, owner).valid()) return true;
        return false;
    }

    bool isSameAlone(std::size_t side, ExprId id) const {
        const ExprId first = side == 0 ? id : matchOf(side, id);
        return first.valid() && first.index() < m_runs.isSameAlone.size() && m_runs.isSameAlone[first.index()];
    }

    /// Other operators for the same function, with stored tensors that only this form of it has (a scale of ones).
    void takeBackAlone() {
        const auto isMeant = [&](const NodeChange& change) {
            return isToldByOperator(change) && isSameAlone(0, graph(0).node(change.a).producer);
        };
        std::erase_if(m_diff.changed, isMeant);
        for (std::size_t side = 0; side < 2; ++side)
            takeBackStored(side, "a part of another operator for the same function", [&](const ParameterRef& one) {
                const std::vector<ExprId>& readers = m_flats[side].users[one.node.index()];
                return !readers.empty() &&
                       std::ranges::all_of(readers, [&](ExprId id) { return isSameAlone(side, id); });
            });
    }

    template <typename Meant>
    void takeBackStored(std::size_t side, const std::string& why, const Meant& isMeant) {
        std::erase_if(side == 0 ? m_parameters.removed : m_parameters.added, [&](const ParameterRef& one) {
            if (!one.node.valid() || !isMeant(one)) return false;
            m_parameters.notes.push_back({one.name, one.node, side == 1, why});
            return true;
        });
    }

    /// The same results: what stands between the same values is the same.
    void takeBack() {
        findGroups();
        for (std::size_t side = 0; side < 2; ++side) {
            std::vector<NodeId>& list = side == 0 ? m_diff.removed : m_diff.added;
            const ComparedOperations compared(m_flats[side], m_pairs.isOneVocabulary);
            std::erase_if(list, [&](NodeId node) {
                const ExprId id = graph(side).node(node).producer;
                if (!m_sides[side].isOpen(id) || !isWrittenOtherwise(side, id)) return false;
                const std::size_t nodes = graph(side).expr(id).outputs.size();
                m_diff.matchedByValues += nodes;
                m_diff.matchedNodes += nodes;
                if (compared.hasTensors[id.index()]) m_diff.matchedTensors += nodes;
                return true;
            });
        }
        std::erase_if(m_diff.changed, [&](const NodeChange& change) { return isRefuted(change); });
        if (!m_pairs.isOneVocabulary) takeBackParameters();
    }

    /// Stored tensors that only one model has, read by operations of a group, or by counterparts, of which the other
    /// model has some alone as well: a part of a parameter, several in one, or the same elements in another order.
    void takeBackParameters() {
        std::set<std::size_t> roots[2];
        const std::vector<ParameterRef>* const lists[2] = {&m_parameters.removed, &m_parameters.added};
        const Marks isOfInput[2] = {ofInput(0), ofInput(1)};
        for (std::size_t side = 0; side < 2; ++side)
            for (const ParameterRef& one : *lists[side])
                roots[side].merge(rootsOfReaders(side, one.node, isOfInput[side]));
        findChangedForms(isOfInput);
        for (std::size_t side = 0; side < 2; ++side)
            takeBackStored(side, fmt::format("stored in another form, with the same results on {}", numbersText()),
                           [&](const ParameterRef& one) {
                               const std::set<std::size_t> own = rootsOfReaders(side, one.node, isOfInput[side]);
                               return !own.empty() &&
                                      (std::ranges::includes(roots[1 - side], own) || isNumberThere(side, one));
                           });
    }

    /// What stands in one group of both models and is the same but for some elements has changed, however little of it
    /// reaches the results.
    void findChangedForms(const Marks (&isOfInput)[2]) {
        // What was told to be no difference by itself may be the counterpart of what is open: ones in a norm.
        std::vector<ParameterRef> open[2]{m_parameters.removed, m_parameters.added};
        for (const ParameterNote& note : m_parameters.notes)
            open[note.isOfSecond ? 1 : 0].push_back({note.name, note.node});
        const std::size_t listed[2]{m_parameters.removed.size(), m_parameters.added.size()};
        std::set<std::pair<std::size_t, NodeId>> found;
        const auto tensorOf = [&](std::size_t side, NodeId node) -> const tensor::Tensor* {
            const auto* const constant = node.valid() ? &graph(side).node(node).constant : nullptr;
            return constant && *constant && (*constant)->isTensor() ? &(*constant)->tensor() : nullptr;
        };
        for (std::size_t i = 0; i < open[0].size(); ++i)
            for (std::size_t k = 0; k < open[1].size(); ++k) {
                const ParameterRef &ours = open[0][i], &theirs = open[1][k];
                if (i >= listed[0] && k >= listed[1]) continue;  // both are told
                const tensor::Tensor *const x = tensorOf(0, ours.node), *const y = tensorOf(1, theirs.node);
                if (!x || !y || found.contains({0, ours.node}) || found.contains({1, theirs.node})) continue;
                const auto difference = changedElements(*x, *y);
                if (!difference) continue;
                const std::set<std::size_t> own = rootsOfReaders(0, ours.node, isOfInput[0]),
                                            other = rootsOfReaders(1, theirs.node, isOfInput[1]);
                if (std::ranges::none_of(own, [&](std::size_t root) { return other.contains(root); })) continue;
                found.insert({{0, ours.node}, {1, theirs.node}});
                m_parameters.changed.push_back({ours.name,
                                                ours.name == theirs.name ? std::string() : theirs.name,
                                                ours.node,
                                                theirs.node,
                                                difference->maxAbsolute,
                                                difference->maxRelative,
                                                {}});
            }
        std::erase_if(m_parameters.removed, [&](const ParameterRef& one) { return found.contains({0, one.node}); });
        std::erase_if(m_parameters.added, [&](const ParameterRef& one) { return found.contains({1, one.node}); });
        std::erase_if(m_parameters.notes, [&](const ParameterNote& one) {
            return found.contains({one.isOfSecond ? 1 : 0, one.node});
        });
    }

    /// One number, read by operations that stand for others, which the other file has as an argument: addcmul's value.
    bool isNumberThere(std::size_t side, const ParameterRef& one) const {
        const auto& constant = graph(side).node(one.node).constant;
        if (!constant || !constant->isTensor() || constant->tensor().numel() != 1) return false;
        const auto isOpen = [&](ExprId id) { return m_sides[side].isOpen(id) && !matchOf(side, id).valid(); };
        if (!std::ranges::all_of(m_flats[side].users[one.node.index()], isOpen)) return false;
        const auto number = static_cast<float>(constant->tensor().toDouble(0));
        const auto isIt = [number](const graph::Argument& argument) {
            using tensor::ValueKind;
            if (argument.kind != graph::Argument::Kind::Constant) return false;
            const ValueKind kind = argument.constant.kind();
            return (kind == ValueKind::Float || kind == ValueKind::Int) &&
                   static_cast<float>(argument.constant.number()) == number;
        };
        return std::ranges::any_of(m_flats[1 - side].order, [&](ExprId id) {
            const graph::Expr& expr = graph(1 - side).expr(id);
            return std::ranges::any_of(expr.arguments, isIt) ||
                   std::ranges::any_of(expr.keywords, [&](const auto& each) { return isIt(each.second); });
        });
    }

    /// The groups that read a stored tensor, by themselves or through what depends on no input; none: one of them is
    /// not proved.
    std::set<std::size_t> rootsOfReaders(std::size_t side, NodeId stored, const Marks& isOfInput) {
        std::set<std::size_t> found;
        if (!stored.valid()) return found;
        std::vector<ExprId> readers = m_flats[side].users[stored.index()];
        constexpr std::size_t kMaxReaders = 64;
        for (std::size_t i = 0; i < readers.size(); ++i) {
            if (i == kMaxReaders) return {};
            const ExprId id = readers[i];
            const ExprId match = matchOf(side, id);
            if (m_sides[side].isOpen(id) && !isOfInput[id.index()]) {
                for (const NodeId output : graph(side).expr(id).outputs)
                    for (const ExprId user : m_flats[side].users[output.index()]) readers.push_back(user);
                continue;
            }
            const std::size_t root = rootOf(m_sides[side].isOpen(id) ? at(side, id) : readerAt(side == 0 ? id : match));
            if (!m_groups[root].isRead || !m_groups[root].isProved) return {};
            found.insert(root);
        }
        return found;
    }

    /// Operations that read what is computed of an input, or one itself.
    Marks ofInput(std::size_t side) const {
        Marks marks(graph(side).exprCount(), false);
        for (const ExprId id : m_flats[side].order) {
            const auto isInput = [&](NodeId input) {
                return graph(side).expr(graph(side).node(input).producer).kind == ExprKind::Input;
            };
            marks[id.index()] =
                std::ranges::any_of(m_flats[side].inputsOf(id), isInput) ||
                std::ranges::any_of(m_sides[side].makersFor(id), [&](ExprId maker) { return marks[maker.index()]; });
        }
        return marks;
    }

    /// Is the same as its counterpart, or leads to nothing but what is the same in both.
    bool isProved(std::size_t side, ExprId id) {
        if (m_sides[side].isClosed(id)) return true;
        const Group& group = groupOf(side, id);
        return group.isRead && group.isProved && m_runs.hasRun[side][id.index()];
    }

    bool isWrittenOtherwise(std::size_t side, ExprId id) {
        const Group& group = groupOf(side, id);
        if (!group.isRead || !group.isProved || m_apart[side].contains(id)) return false;
        // Elements in another shape or order that come out the same: the other file says it in another way.
        const bool isMoved = !m_pairs.isOneVocabulary && onlyMoves(graph(side).expr(id));
        if (!group.has[1 - side] && !isMoved) return false;
        if (m_pairs.isOneVocabulary) return group.hasWhole && m_runs.hasRun[side][id.index()];
        return m_runs.hasRun[side][id.index()] || isInOwnBranch(side, id);
    }

    bool isRefuted(const NodeChange& change) {
        const ExprId a = graph(0).node(change.a).producer, b = graph(1).node(change.b).producer;
        if (change.told == NodeChange::ByOperands && isProved(0, a) && isProved(1, b)) return true;
        if (matchOf(0, a) != b || verdictOf(0, a) != Verdict::Agrees) return false;
        if (change.told != NodeChange::ByLayer) return false;
        // One operator in the place of another one is a change, whatever they do to these numbers.
        for (std::size_t side = 0; side < 2; ++side)
            for (const ExprId maker : m_sides[side].makersFor(side == 0 ? a : b))
                if (m_sides[side].isOpen(maker)) return true;
        return false;
    }

    // Other results.

    /// Operations that are listed, or read what is.
    Marks listed(std::size_t side) const {
        Marks marks(graph(side).exprCount(), false);
        const auto mark = [&](NodeId node) {
            if (node.valid()) marks[graph(side).node(node).producer.index()] = true;
        };
        for (const NodeId node : side == 0 ? m_diff.removed : m_diff.added) mark(node);
        for (const NodeChange& change : m_diff.changed) mark(side == 0 ? change.a : change.b);
        std::unordered_set<NodeId> weights;
        for (const ParameterRef& one : side == 0 ? m_parameters.removed : m_parameters.added) weights.insert(one.node);
        for (const ParameterChange& one : m_parameters.changed) weights.insert(side == 0 ? one.a : one.b);
        for (const ExprId id : m_flats[side].order)
            for (const NodeId input : m_flats[side].inputsOf(id))
                if (weights.contains(input)) marks[id.index()] = true;
        return marks;
    }

    bool isStrong(ExprId first) const {
        return !onlyMoves(graph(0).expr(first)) && !onlyMoves(graph(1).expr(m_pairs.ofFirst[first.index()]));
    }

    /// Operations that are made of values which differ for a reason that is listed or that another one shows first.
    Marks explained(std::size_t side) const {
        Marks marks = listed(side);
        const Marks own = marks;
        for (const ExprId id : m_flats[side].order) {
            if (m_sides[side].isClosed(id)) {
                marks[id.index()] = false;
                continue;
            }
            bool is = marks[id.index()] || (isControl(side, id) && !matchOf(side, id).valid());
            for (const ExprId maker : m_sides[side].makersFor(id)) {
                const ExprId first = side == 0 ? maker : matchOf(side, maker);
                const bool differs = verdictOf(side, maker) == Verdict::Differs && isStrong(first);
                is = is || marks[maker.index()] || differs;
            }
            marks[id.index()] = is;
        }
        return marks;
    }
    bool isControl(std::size_t side, ExprId id) const {
        return !graph(side).expr(id).bodies.empty() && !isCallWithBody(graph(side).expr(id));
    }

    void addDiffering() {
        const Marks first = explained(0), second = explained(1);
        const std::size_t before = m_diff.changed.size();
        for (const ExprId id : m_flats[0].order) {
            if (verdictOf(0, id) != Verdict::Differs || !isStrong(id)) continue;
            const ExprId other = matchOf(0, id);
            if (first[id.index()] || second[other.index()]) continue;
            add(id, other, fmt::format("max abs {:.3g}", m_runs.maxAbs[id.index()]));
        }
        if (m_diff.changed.size() > before) return;
        // What only moves elements says nothing by itself, but as a result; and if nothing at all is listed, then that
        // much is.
        const bool isUnexplained = m_diff.isEqual() && m_parameters.isEqual();
        const std::vector<NodeId> ours = m_flats[0].outputs(), theirs = m_flats[1].outputs();
        for (std::size_t i = 0; i < m_runs.results.size(); ++i) {
            if (m_runs.results[i] != Verdict::Differs) continue;
            const ExprId a = m_flats[0].producer(ours[i]), b = m_flats[1].producer(theirs[i]);
            if (isUnexplained || (!first[a.index()] && !second[b.index()])) add(a, b, m_runs.resultTexts[i]);
        }
    }

    void add(ExprId a, ExprId b, const std::string& how) {
        const NodeId node = graph(0).expr(a).outputs.front(), other = graph(1).expr(b).outputs.front();
        m_diff.changed.push_back({node, other, fmt::format("computes other values on {}: {}", numbersText(), how)});
    }
    std::string numbersText() const { return m_runs.isGiven ? "the given input" : "random numbers"; }

    /// At the first counterpart at or behind the operation that cannot be done.
    void addFailure() {
        const OneFailure& failure = *m_runs.failure;
        if (!m_runs.areFailuresTold[failure.side] || !m_diff.isEqual() || !m_parameters.isEqual()) return;
        // What one file checks is no part of what it computes.
        if (!failure.at.valid() || graph::traitsOf(graph(failure.side).expr(failure.at)).is(operators::Trait::Effect))
            return;
        const InternalGraph& failing = graph(failure.side);
        const std::vector<ExprId> order = failing.recursiveOrder(failing.mainId());
        auto from = std::ranges::find(order, failure.at);
        while (from != order.end() && !matchOf(failure.side, *from).valid()) ++from;
        if (from == order.end()) return;
        const ExprId match = matchOf(failure.side, *from);
        const ExprId a = failure.side == 0 ? *from : match, b = failure.side == 0 ? match : *from;
        if (graph(0).expr(a).outputs.empty() || graph(1).expr(b).outputs.empty()) return;
        m_diff.changed.push_back({graph(0).expr(a).outputs.front(), graph(1).expr(b).outputs.front(),
                                  fmt::format("the {} model fails on {}, the other does not: {}",
                                              failure.side == 0 ? "first" : "second", numbersText(), failure.text)});
    }

    StructureDiff& m_diff;
    const GraphPairs& m_pairs;
    ParameterDiff& m_parameters;
    const SameRuns& m_runs;
    const FlatGraph m_flats[2];
    const OpenSide m_sides[2];
    std::set<ExprId> m_apart[2];  ///< what a person took apart stays so
    /// Of a disjoint-set forest: operations of the first graph, of the second, pairs as readers, results.
    std::vector<std::size_t> m_root;
    std::vector<Group> m_groups;  ///< by root
};

}  // namespace

void judgeByRuns(StructureDiff& diff, const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs,
                 const PairsByHand& byHand, ParameterDiff& parameters, const SameRuns& runs) {
    Judge(diff, first, second, pairs, byHand, parameters, runs).judge();
}

/// Operators of another opset may compute another function with the same attributes: Softmax before 13 and since.
static bool haveOtherDefinitions(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs) {
    for (const ExprId id : first.recursiveOrder(first.mainId())) {
        const ExprId other = pairs.ofFirst[id.index()];
        if (!other.valid()) continue;
        if (analysis::definitionOf(first.expr(id)) != analysis::definitionOf(second.expr(other))) return true;
    }
    return false;
}

std::vector<ExprId> comparedAlone(const StructureDiff& diff, const InternalGraph& first, const GraphPairs& pairs) {
    std::vector<ExprId> asked;
    if (pairs.isOneVocabulary) return asked;
    for (const NodeChange& change : diff.changed)
        if (const ExprId id = first.node(change.a).producer;
            isToldByOperator(change) && pairs.ofFirst[id.index()].valid())
            asked.push_back(id);
    return asked;
}

bool requiresRuns(const StructureDiff& diff, const InternalGraph& first, const InternalGraph& second,
                  const GraphPairs& pairs) {
    if (!pairs.isOneVocabulary) return diff.uncompared() > 0 || !diff.isEqual();
    if (!diff.otherForms.empty()) return true;
    if (diff.isEqual()) return haveOtherDefinitions(first, second, pairs);
    if (diff.added.empty() || diff.removed.empty()) return false;
    const auto holdsWhole = [](const InternalGraph& graph, const std::vector<NodeId>& nodes) {
        const FlatGraph flat(graph, false);
        return std::ranges::any_of(
            nodes, [&](NodeId node) { return KnownFunctions::isWholeLayer(flat, graph.node(node).producer); });
    };
    return holdsWhole(first, diff.removed) || holdsWhole(second, diff.added);
}

}  // namespace sonde::session::diff
