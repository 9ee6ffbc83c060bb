#include "core/session/diff/layer_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/graph/traits.h"
#include "core/session/diff/layer_functions.h"
#include "core/session/diff/module_parts.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// What a group reads, and what reads it, in the words of the first graph.
using Borders = std::pair<std::set<Hash>, std::set<Hash>>;

struct OpenGroup {
    std::vector<ExprId> operations;  ///< without counterparts
    std::vector<ExprId> members;     ///< all
    std::set<NodeId> results;        ///< values that are used outside
    std::set<ExprId> users;          ///< counterparts that read them
    bool isRead = false;             ///< also by the end of the graph

    void add(const OpenGroup& other) {
        operations.insert(operations.end(), other.operations.begin(), other.operations.end());
        members.insert(members.end(), other.members.begin(), other.members.end());
        results.insert(other.results.begin(), other.results.end());
        users.insert(other.users.begin(), other.users.end());
        isRead = isRead || other.isRead;
    }
};
using Groups = std::map<Borders, OpenGroup>;

/// The groups of one graph.
class GroupFinder {
  public:
    GroupFinder(const GraphSide& side, const ComparedOperations& compared, GroupMembers members, bool isFirst)
        : m_side(side), m_compared(compared), m_members(members), m_isFirst(isFirst), m_ownBranches(ownBranches(side)),
          m_root(side.graph.exprCount()) {
        std::iota(m_root.begin(), m_root.end(), std::size_t{0});
    }

    Groups groups() {
        readResults();
        for (const ExprId id : m_side.order)
            if (isOpen(id)) join(id);
        std::map<std::size_t, std::pair<Borders, OpenGroup>> found;
        for (const ExprId id : m_side.order) {
            if (!isOpen(id)) continue;
            auto& [borders, group] = found[rootOf(id.index())];
            group.members.push_back(id);
            if (!m_side.isMatched(id)) group.operations.push_back(id);
            addInputs(id, borders.first);
            addUsers(id, borders.second, group);
        }
        Groups byBorders;
        for (auto& [root, each] : found) {
            auto& [borders, group] = each;
            if (group.operations.empty() || borders.first.empty() || borders.second.empty()) continue;
            byBorders[borders].add(group);
        }
        return byBorders;
    }

    /// What one operation reads from counterparts.
    std::set<Hash> readOf(ExprId id) const {
        std::set<Hash> borders;
        addInputs(id, borders);
        return borders;
    }

  private:
    bool isOpen(ExprId id) const {
        if (!m_compared.isListed[id.index()] || isInOwnBranch(id)) return false;
        const bool mayMove = m_members == GroupMembers::UnmatchedAndMoved && onlyMoves(m_side.graph.expr(id));
        return !m_side.isMatched(id) || (mayMove && m_side.hasCounterpart(id));
    }

    /// Of a branch or loop that the other graph does not have. What only moves elements may be the form that a value
    /// has there: squeezed if it was no batch.
    bool isInOwnBranch(ExprId id) const {
        if (onlyMoves(m_side.graph.expr(id))) return false;
        const graph::BodyId body = m_side.graph.expr(id).body;
        const ExprId owner = m_side.graph.body(body).owner;
        return owner.valid() && !m_side.hasCounterpart(owner) && m_ownBranches.contains(body);
    }

    std::size_t rootOf(std::size_t i) {
        while (m_root[i] != i) i = m_root[i] = m_root[m_root[i]];
        return i;
    }
    void unite(ExprId a, ExprId b) { m_root[rootOf(a.index())] = rootOf(b.index()); }

    void join(ExprId id) {
        for (const NodeId input : m_side.readBy(id))
            if (const ExprId producer = m_side.producer(input); isOpen(producer)) unite(id, producer);
    }

    /// Branches, loops and calls with several results as one whose body gives a value.
    const std::vector<ExprId>& ownersOf(NodeId value) const {
        static const std::vector<ExprId> kNone;
        const auto found = m_owners.find(value);
        return found == m_owners.end() ? kNone : found->second;
    }
    void readResults() {
        const InternalGraph& graph = m_side.graph;
        std::vector<bool> isInOrder(graph.exprCount(), false);
        for (const ExprId id : m_side.order) isInOrder[id.index()] = true;
        for (std::size_t i = 0; i < graph.bodyCount(); ++i) {
            const graph::Body& body = graph.body(graph::BodyId(i));
            if (!body.owner.valid() || graph.isErased(body.owner) || !isInOrder[body.owner.index()]) continue;
            for (const NodeId output : body.outputs) m_owners[m_side.origin[output.index()]].push_back(body.owner);
        }
        const std::vector<NodeId> results = m_side.outputs();
        for (std::size_t i = 0; i < results.size(); ++i) m_results[results[i]].push_back(i);
    }

    /// What an operation is called in both graphs; 0: it has no counterpart.
    Hash nameOf(ExprId id) const {
        const ExprId counterpart = m_side.match[id.index()];
        if (!counterpart.valid()) return 0;
        return mixed(17, m_isFirst ? id.value : counterpart.value);
    }

    void addInputs(ExprId id, std::set<Hash>& borders) const {
        const InternalGraph& graph = m_side.graph;
        for (const NodeId input : m_side.readBy(id)) {
            const Expr& producer = graph.expr(m_side.producer(input));
            if (producer.kind == ExprKind::Input) {
                const auto& inputs = graph.body(producer.body).inputs;
                const auto at = static_cast<Hash>(std::ranges::find(inputs, input) - inputs.begin());
                const ExprId owner = graph.body(producer.body).owner;
                borders.insert(mixed(owner.valid() ? nameOf(owner) : 23, at));
            } else if (!isValueExpr(producer) && !isOpen(producer.id)) {
                if (const Hash name = nameOf(producer.id)) borders.insert(mixed(name, graph.node(input).outputIndex));
            }
        }
    }

    void addUsers(ExprId id, std::set<Hash>& borders, OpenGroup& group) const {
        const auto add = [&](ExprId user, NodeId output) {
            if (isOpen(user)) return;
            // A part is read as what it is a part of.
            const ExprId whole = m_side.partOf[user.index()];
            const Hash name = nameOf(whole.valid() ? whole : user);
            if (name == 0) return;
            borders.insert(name);
            group.users.insert(whole.valid() ? whole : user);
            group.results.insert(output);
        };
        for (const NodeId output : m_side.graph.expr(id).outputs) {
            for (const ExprId user : m_side.users[output.index()]) add(user, output);
            for (const ExprId owner : ownersOf(output)) add(owner, output);
            const auto given = m_results.find(output);
            if (given == m_results.end()) continue;
            for (const std::size_t index : given->second) borders.insert(mixed(29, index));
            group.isRead = true;
            group.results.insert(output);
        }
    }

    const GraphSide& m_side;
    const ComparedOperations& m_compared;
    GroupMembers m_members;
    bool m_isFirst;
    std::set<graph::BodyId> m_ownBranches;
    std::vector<std::size_t> m_root;  ///< by ExprId: of a disjoint-set forest
    std::map<NodeId, std::vector<ExprId>> m_owners;
    std::map<NodeId, std::vector<std::size_t>> m_results;
};

/// What reads the same, or is read by the same, as one.
Groups mergedBy(const Groups& groups, std::set<Hash> Borders::*border) {
    std::map<std::set<Hash>, std::pair<Borders, OpenGroup>> merged;
    for (const auto& [borders, group] : groups) {
        auto& [allBorders, all] = merged[borders.*border];
        allBorders.first.insert(borders.first.begin(), borders.first.end());
        allBorders.second.insert(borders.second.begin(), borders.second.end());
        all.add(group);
    }
    Groups result;
    for (const auto& [key, each] : merged) result[each.first].add(each.second);
    return result;
}

/// Finds groups with the same borders.
class GroupMatcher {
  public:
    GroupMatcher(const GraphSide& first, const GraphSide& second) : m_first(first), m_second(second) {}

    /// What is in front of an operation whose counterpart does all of it: all of a decomposed layer but its last
    /// operation, the padding of a pooling.
    void matchFronts(const GroupFinder& finder, const GroupFinder& otherFinder, const Groups& groups, bool areOfFirst) {
        const GraphSide &side = areOfFirst ? m_first : m_second, &other = areOfFirst ? m_second : m_first;
        for (const auto& [borders, group] : groups) {
            if (group.users.size() != 1 || group.isRead) continue;
            const ExprId last = *group.users.begin(), counterpart = side.match[last.index()];
            if (!counterpart.valid()) continue;
            std::set<Hash> read = borders.first, readThere = otherFinder.readOf(counterpart);
            read.merge(finder.readOf(last));
            if (read != readThere) continue;
            std::vector<ExprId> all = group.members;
            all.push_back(last);
            if (!LayerFunctions(side, all).mayEqual(LayerFunctions(other, {counterpart}))) continue;
            if (areOfFirst) m_found.push_back({group.operations, {}, last, counterpart});
            else m_found.push_back({{}, group.operations, counterpart, last});
        }
    }

    /// Takes out what it finds.
    void match(Groups& ours, Groups& theirs) {
        for (auto own = ours.begin(); own != ours.end();) {
            const auto other = theirs.find(own->first);
            if (other == theirs.end() || !LayerFunctions(m_first, own->second.members)
                                              .mayEqual(LayerFunctions(m_second, other->second.members))) {
                ++own;
                continue;
            }
            add(own->second, other->second);
            theirs.erase(other);
            own = ours.erase(own);
        }
    }
    std::vector<LayerGroup> take() { return std::move(m_found); }

  private:
    void add(const OpenGroup& ours, const OpenGroup& theirs) {
        LayerGroup& layer = m_found.emplace_back(LayerGroup{ours.operations, theirs.operations, {}, {}});
        if (ours.results.size() != 1 || theirs.results.size() != 1) return;
        const graph::Node &result = m_first.graph.node(*ours.results.begin()),
                          &otherResult = m_second.graph.node(*theirs.results.begin());
        if (result.outputIndex != otherResult.outputIndex) return;
        layer.resultOfFirst = result.producer;
        layer.resultOfSecond = otherResult.producer;
    }

    const GraphSide &m_first, &m_second;
    std::vector<LayerGroup> m_found;
};

}  // namespace

std::vector<LayerGroup> layerGroups(const GraphSide& first, const GraphSide& second,
                                    const ComparedOperations& comparedFirst, const ComparedOperations& comparedSecond,
                                    GroupMembers members, const base::WorkContext& work) {
    if (work.cancelled()) return {};
    GroupMatcher matcher(first, second);
    GroupFinder finder(first, comparedFirst, members, true), otherFinder(second, comparedSecond, members, false);
    Groups ours = finder.groups(), theirs = otherFinder.groups();
    matcher.match(ours, theirs);
    matcher.matchFronts(finder, otherFinder, ours, true);
    matcher.matchFronts(otherFinder, finder, theirs, false);
    // One file takes three parts of a value each by itself, the other one all at once.
    ours = mergedBy(ours, &Borders::first);
    theirs = mergedBy(theirs, &Borders::first);
    matcher.match(ours, theirs);
    ours = mergedBy(ours, &Borders::second);
    theirs = mergedBy(theirs, &Borders::second);
    matcher.match(ours, theirs);
    return matcher.take();
}

}  // namespace sonde::session::diff
