// The part of Outline that finds equal blocks.

#include <algorithm>
#include <map>

#include "core/layout/lockstep.h"
#include "core/layout/outline.h"
#include "core/layout/signature.h"

namespace sonde::layout {

namespace {

using Kind = Outline::Kind;

/// Cheap to ask: whether two groups could be equal.
bool alike(const Outline& outline, GroupId a, GroupId b) {
    const Outline::Group &x = outline.group(a), &y = outline.group(b);
    return x.exprs == y.exprs && x.constants == y.constants && x.members.size() == y.members.size() &&
           outline.graph().scope(x.scope).moduleClass == outline.graph().scope(y.scope).moduleClass;
}

/// Whether anything in `second` reads what something in `first` makes.
bool follows(const Outline& outline, GroupId first, GroupId second) {
    const InternalGraph& graph = outline.graph();
    bool reads = false;
    forEachExpr(outline, second, [&](ExprId id) {
        if (reads) return;
        for (const NodeId input : graph.expr(id).inputs) {
            GroupId at = outline.groupOf(graph.node(input).producer);
            while (at.valid() && outline.group(at).depth > outline.group(first).depth) at = outline.group(at).parent;
            // A call's body counts no depth of its own.
            while (at.valid() && at != first && outline.group(at).kind != Kind::Module) at = outline.group(at).parent;
            if (at == first) reads = true;
        }
    });
    return reads;
}

}  // namespace

namespace {

/// Consecutive modules of a group with nothing but constants between them.
class ModuleSequence {
  public:
    explicit ModuleSequence(const Outline& outline) : m_outline(outline), m_signature(outline) {}

    bool empty() const { return m_groups.empty(); }
    void add(GroupId group) { m_groups.push_back(group); }

    /// Calls found(groups, period) for every run in it, in order, and forgets all.
    template <typename Found>
    void takeRuns(Found found) {
        number();
        for (std::size_t i = 0; i < m_groups.size();) {
            std::size_t period = 0, length = 0;
            for (std::size_t p = 1; p <= kMaxPeriod && i + 2 * p <= m_groups.size(); ++p) {
                const std::size_t covered = repeated(i, p);
                if (covered > length) {
                    length = covered;
                    period = p;
                }
                if (p == 1 && covered >= kMaxPeriod) break;  // whatever is longer repeats the same block
            }
            if (period == 0) {
                ++i;
                continue;
            }
            found(std::vector<GroupId>(m_groups.begin() + i, m_groups.begin() + i + length), period);
            i += length;
        }
        m_groups.clear();
    }

  private:
    static constexpr std::size_t kMaxPeriod = 8;

    /// Equal groups get equal numbers; signatures are made only of those that could be equal to one nearby.
    void number() {
        const std::size_t count = m_groups.size();
        m_number.assign(count, 0);
        std::map<std::vector<std::uint64_t>, std::size_t> known;
        for (std::size_t i = 0; i < count; ++i) {
            bool wanted = false;
            for (std::size_t d = 1; d <= kMaxPeriod && !wanted; ++d)
                wanted = (i >= d && alike(m_outline, m_groups[i], m_groups[i - d])) ||
                         (i + d < count && alike(m_outline, m_groups[i], m_groups[i + d]));
            m_number[i] = wanted ? known.try_emplace(m_signature.of(m_groups[i]), i).first->second : count + i;
        }
    }

    /// How many groups from the `begin`-th on repeat the first `period` of them, in whole turns each of which reads
    /// what the one before makes; 0 if there are not enough. Two turns are enough for a single block, not for several.
    std::size_t repeated(std::size_t begin, std::size_t period) const {
        std::size_t turns = 1;
        for (std::size_t next = begin + period; next + period <= m_groups.size(); next += period, ++turns) {
            for (std::size_t k = 0; k < period; ++k)
                if (m_number[next + k] != m_number[begin + k]) return turns >= least(period) ? turns * period : 0;
            bool reads = false;
            for (std::size_t a = next; a-- > next - period && !reads;)
                for (std::size_t b = next; b < next + period && !reads; ++b)
                    reads = follows(m_outline, m_groups[a], m_groups[b]);
            if (!reads) break;
        }
        return turns >= least(period) ? turns * period : 0;
    }
    static std::size_t least(std::size_t period) { return period == 1 ? 2 : 3; }

    const Outline& m_outline;
    Signature m_signature;
    std::vector<GroupId> m_groups;
    std::vector<std::size_t> m_number;
};

}  // namespace

void Outline::findRuns() {
    m_runOfGroup.assign(m_groups.size(), kNoRun);
    m_instanceOfGroup.assign(m_groups.size(), 0);
    ModuleSequence sequence(*this);
    for (std::size_t i = 0; i < m_groups.size(); ++i) {
        const auto close = [&] {
            if (sequence.empty()) return;
            sequence.takeRuns([&](const std::vector<GroupId>& all, std::size_t period) {
                Run run{GroupId(i), {}, static_cast<std::uint32_t>(period), all};
                for (std::size_t k = 0; k < all.size(); ++k) {
                    m_runOfGroup[all[k].index()] = static_cast<std::uint32_t>(m_runs.size());
                    m_instanceOfGroup[all[k].index()] = static_cast<std::uint32_t>(k / period);
                    if (k % period == 0) run.instances.push_back(all[k]);
                }
                m_runs.push_back(std::move(run));
            });
        };
        for (const Member& member : m_groups[i].members) {
            if (member.expr.valid() && isConstant(m_graph->expr(member.expr))) continue;
            const bool module = member.group.valid() && group(member.group).kind == Kind::Module;
            if (module && group(member.group).exprs == group(member.group).constants) continue;
            if (module && group(member.group).exprs - group(member.group).constants >= 2) sequence.add(member.group);
            else close();
        }
        close();
    }
}

std::vector<NodeId> Outline::counterparts(NodeId node) const {
    std::vector<NodeId> found;
    const ExprId made = m_graph->node(node).producer;
    GroupId at = groupOf(made);
    while (at.valid() && runOf(at) == kNoRun) at = group(at).parent;
    if (!at.valid()) return found;
    const Run& run = m_runs[runOf(at)];
    const std::size_t place = run.placeOf(at);
    for (std::size_t i = 0; i < run.instances.size(); ++i) {
        NodeId same;
        forEachPair(*this, at, run.groups[i * run.period + place], [&](const Member& mine, const Member& theirs) {
            if (mine.expr == made && mine.expr.valid())
                same = m_graph->expr(theirs.expr).outputs[m_graph->node(node).outputIndex];
        });
        if (same.valid()) found.push_back(same);
    }
    return found;
}

}  // namespace sonde::layout
