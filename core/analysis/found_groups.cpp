#include "core/analysis/found_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>

#include "core/base/count_text.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

constexpr std::size_t kMaxSegment = 256;  ///< operations; larger ones are looked into instead
constexpr std::size_t kMinSegment = 4;
constexpr std::size_t kMinBlock = 3;                 ///< operations of a block that repeats
constexpr std::size_t kSolidBlock = 8;               ///< so many are no accident
constexpr std::size_t kMaxComparisons = 10'000'000;  ///< on each level
constexpr std::size_t kMaxPeriod = 4000;
constexpr int kMaxLevels = 6;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdu;
}

/// A part of the sequence: an operation, a segment of them, a run of equal blocks, or one such block.
struct Item {
    enum class Kind : std::uint8_t { Op, Segment, Run, Block };
    Kind kind = Kind::Op;
    std::uint64_t label = 0;            ///< equal for equal parts
    std::size_t ops = 1;                ///< operations in it
    std::size_t first = 0, last = 0;    ///< positions of its operations
    std::vector<std::size_t> children;  ///< items
};

/// A stretch of items that repeats with a period.
struct Repeat {
    std::size_t start, length, period, ops;
    bool isSolid;  ///< its blocks hold a segment or many operations
};

/// Finds the groups of one sequence of operations.
class Finder {
  public:
    Finder(const InternalGraph& graph, std::vector<ExprId> order) : m_graph(graph), m_order(std::move(order)) {
        for (std::size_t i = 0; i < m_order.size(); ++i) m_position.emplace(m_order[i].value, i);
        countCrossings();
        makeItems();
        for (int level = 0; level < kMaxLevels && collapseRepeats(); ++level) {
        }
    }

    /// Operations that stand in equal blocks: the more, the better the order.
    std::size_t covered() const { return m_covered; }

    std::vector<FoundGroup> groups() {
        collectFolders();
        std::map<std::string, int> used;
        for (std::size_t item : m_sequence) emit(item, std::nullopt, used);
        return std::move(m_groups);
    }

  private:
    /// Comes from elsewhere, and not from the outside: a parameter, a constant, or what is computed of them.
    bool isWeight(NodeId node) const {
        const Expr& producer = m_graph.expr(m_graph.node(node).producer);
        return producer.kind != graph::ExprKind::Input && !m_position.contains(producer.id.value);
    }

    const Expr& op(std::size_t position) const { return m_graph.expr(m_order[position]); }

    /// How many values are carried over each gap between operations. Values that are read all over the graph (masks,
    /// positions, skip connections over a large part) do not count: they tie everything to everything.
    void countCrossings() {
        const std::size_t count = m_order.size();
        std::vector<std::int64_t> change(count + 1, 0);
        for (std::size_t i = 0; i < count; ++i) {
            for (NodeId output : op(i).outputs) {
                std::size_t last = i;
                for (ExprId user : m_graph.node(output).users) {
                    const auto found = m_position.find(user.value);
                    if (found != m_position.end()) last = std::max(last, found->second);
                }
                const std::size_t span = last - i;
                if (span == 0 || (span > 16 && span > count / 4 && m_graph.node(output).users.size() > 1)) continue;
                ++change[i];
                --change[last];
            }
        }
        m_crossings.resize(count);
        std::int64_t open = 0;
        for (std::size_t i = 0; i < count; ++i) m_crossings[i] = open += change[i];
    }

    bool isCut(std::size_t position) const { return m_crossings[position] <= 1; }

    std::uint64_t labelOf(std::size_t position) const {
        const Expr& expr = op(position);
        std::uint64_t label = mixed(std::hash<std::string>{}(expr.op.name.empty() ? expr.target : expr.op.name),
                                    expr.outputs.size() > 1 ? 2 : 1);
        for (std::size_t i = 0; i < expr.inputs.size() && i < 3; ++i) {
            const graph::Node& node = m_graph.node(expr.inputs[i]);
            if (!isWeight(expr.inputs[i])) continue;
            label = mixed(label, i + 10);
            // A convolution of single points is another thing than one of windows.
            if (i == 1 && node.type.shape && node.type.shape->size() > 2)
                label = mixed(label, node.type.shape->back().value == 1 ? 1 : 2);
        }
        return label;
    }

    std::size_t add(Item item) {
        m_items.push_back(std::move(item));
        return m_items.size() - 1;
    }

    void makeItems() {
        for (std::size_t begin = 0; begin < m_order.size();) {
            std::size_t end = begin + 1;
            while (end < m_order.size() && !isCut(end - 1)) ++end;
            const std::size_t size = end - begin;
            std::vector<std::size_t> ops;
            std::uint64_t label = size;
            for (std::size_t i = begin; i < end; ++i) {
                ops.push_back(add({Item::Kind::Op, labelOf(i), 1, i, i, {}}));
                label = mixed(label, m_items.back().label);
            }
            // The last operation before a chain goes on: what lies between two cuts begins behind the first one.
            const bool isSegment = size >= kMinSegment && size <= kMaxSegment && 2 * size <= m_order.size();
            if (isSegment)
                m_sequence.push_back(add({Item::Kind::Segment, label, size, begin, end - 1, std::move(ops)}));
            else m_sequence.insert(m_sequence.end(), ops.begin(), ops.end());
            begin = end;
        }
    }

    // ---- Repeats ----

    /// True if anything was found: then the sequence is shorter, and repeats of a higher order may show.
    bool collapseRepeats() {
        std::vector<Repeat> chosen = chooseRepeats(findRepeats());
        if (chosen.empty()) return false;
        std::vector<std::size_t> next;
        std::size_t at = 0;
        for (const Repeat& repeat : chosen) {
            next.insert(next.end(), m_sequence.begin() + static_cast<std::ptrdiff_t>(at),
                        m_sequence.begin() + static_cast<std::ptrdiff_t>(repeat.start));
            next.push_back(addRun(repeat));
            at = repeat.start + repeat.length;
        }
        next.insert(next.end(), m_sequence.begin() + static_cast<std::ptrdiff_t>(at), m_sequence.end());
        m_sequence = std::move(next);
        return true;
    }

    std::size_t addRun(const Repeat& repeat) {
        Item run;
        run.kind = Item::Kind::Run;
        run.ops = 0;
        for (std::size_t begin = repeat.start; begin < repeat.start + repeat.length; begin += repeat.period) {
            Item block;
            block.kind = Item::Kind::Block;
            block.ops = 0;
            block.label = 7;
            for (std::size_t i = begin; i < begin + repeat.period; ++i) {
                const Item& child = m_items[m_sequence[i]];
                block.children.push_back(m_sequence[i]);
                block.ops += child.ops;
                block.label = mixed(block.label, child.label);
            }
            block.first = m_items[block.children.front()].first;
            block.last = m_items[block.children.back()].last;
            run.ops += block.ops;
            run.label = mixed(block.label, 11);  // however many there are
            run.children.push_back(add(std::move(block)));
        }
        run.first = m_items[run.children.front()].first;
        run.last = m_items[run.children.back()].last;
        m_covered += run.ops;
        return add(std::move(run));
    }

    std::vector<Repeat> findRepeats() const {
        // Small numbers for labels: comparing them is all the work.
        std::unordered_map<std::uint64_t, std::uint32_t> numbers;
        std::vector<std::uint32_t> labels;
        std::vector<std::size_t> before{0};  // operations in front of each item
        for (std::size_t item : m_sequence) {
            labels.push_back(
                numbers.emplace(m_items[item].label, static_cast<std::uint32_t>(numbers.size())).first->second);
            before.push_back(before.back() + m_items[item].ops);
        }
        std::vector<Repeat> result;
        const std::size_t count = labels.size();
        std::size_t comparisons = 0;
        for (std::size_t period : likelyPeriods(labels)) {
            if ((comparisons += count) > kMaxComparisons) break;
            for (std::size_t i = 0; i + period < count; ++i) {
                if (labels[i] != labels[i + period]) continue;
                const std::size_t start = i;
                while (i + period < count && labels[i] == labels[i + period]) ++i;
                if (i - start >= period && isPrimitive(labels, start, period))
                    considerRepeat(start, i - start + period, period, before, result);
            }
        }
        return result;
    }

    /// Distances at which short stretches occur again, short ones first. A repeat shows in many of its places.
    static std::vector<std::size_t> likelyPeriods(const std::vector<std::uint32_t>& labels) {
        std::vector<std::size_t> counts(std::min(labels.size() / 2, kMaxPeriod) + 1, 0);
        for (std::size_t length : {1, 4, 16}) {
            std::unordered_map<std::uint64_t, std::size_t> next;
            for (std::size_t i = labels.size() < length ? 0 : labels.size() - length + 1; i-- > 0;) {
                std::uint64_t hash = length;
                for (std::size_t k = 0; k < length; ++k) hash = mixed(hash, labels[i + k]);
                const auto [place, isNew] = next.emplace(hash, i);
                if (isNew) continue;
                if (place->second - i < counts.size()) ++counts[place->second - i];
                place->second = i;
            }
        }
        std::vector<std::size_t> result;
        for (std::size_t period = 1; period < counts.size(); ++period) {
            if (counts[period] > 0 && 2 * counts[period] >= period) result.push_back(period);
        }
        return result;
    }

    /// Not a multiple of a shorter period.
    static bool isPrimitive(const std::vector<std::uint32_t>& labels, std::size_t start, std::size_t period) {
        for (std::size_t shorter = 1; shorter <= period / 2; ++shorter) {
            if (period % shorter != 0) continue;
            std::size_t i = 0;
            while (i + shorter < period && labels[start + i] == labels[start + i + shorter]) ++i;
            if (i + shorter == period) return false;
        }
        return true;
    }

    void considerRepeat(std::size_t start, std::size_t length, std::size_t period,
                        const std::vector<std::size_t>& before, std::vector<Repeat>& result) const {
        const std::size_t times = length / period;
        // Where blocks begin is open by what is left over.
        std::size_t best = start;
        int bestScore = -1;
        for (std::size_t at = start; at + times * period <= start + length && at < start + period; ++at) {
            if (const int score = boundaryScore(at, period); score > bestScore) {
                best = at;
                bestScore = score;
            }
        }
        const std::size_t ops = before[best + times * period] - before[best];
        const std::size_t block = ops / times;
        const bool isWorthIt = block >= kMinBlock && (times > 2 || block > kMinBlock);
        if (isWorthIt) result.push_back({best, times * period, period, ops, isSolid(best, period, block)});
    }

    bool isSolid(std::size_t start, std::size_t period, std::size_t ops) const {
        if (ops >= kSolidBlock) return true;
        for (std::size_t i = start; i < start + period; ++i) {
            if (m_items[m_sequence[i]].kind != Item::Kind::Op) return true;
        }
        return false;
    }

    /// Blocks begin behind a cut, with something that has weights, and end with what has none.
    int boundaryScore(std::size_t at, std::size_t period) const {
        const Item &first = m_items[m_sequence[at]], &last = m_items[m_sequence[at + period - 1]];
        int score = 0;
        if (first.first == 0 || isCut(first.first - 1)) score += 8;
        if (isCut(last.last)) score += 4;
        if (first.kind != Item::Kind::Op) score += 3;
        else if (hasParameters(first.first)) score += 2;
        if (last.kind == Item::Kind::Op && !hasParameters(last.first)) score += 1;
        return score;
    }

    bool hasParameters(std::size_t position) const {
        return std::ranges::any_of(op(position).inputs, [this](NodeId input) { return isWeight(input); });
    }

    /// None over another, in order. Solid blocks with the shortest period come first: repeats of a higher order are
    /// built from them on the next level. Of the rest those that cover most.
    static std::vector<Repeat> chooseRepeats(std::vector<Repeat> all) {
        const bool anySolid = std::ranges::any_of(all, &Repeat::isSolid);
        if (anySolid) std::erase_if(all, [](const Repeat& repeat) { return !repeat.isSolid; });
        std::ranges::sort(all, [anySolid](const Repeat& a, const Repeat& b) {
            if (anySolid && a.period != b.period) return a.period < b.period;
            if (a.ops != b.ops) return a.ops > b.ops;
            return a.period != b.period ? a.period < b.period : a.start < b.start;
        });
        std::map<std::size_t, Repeat> chosen;  // by start
        for (const Repeat& repeat : all) {
            const auto after = chosen.lower_bound(repeat.start);
            if (after != chosen.end() && after->first < repeat.start + repeat.length) continue;
            if (after != chosen.begin() &&
                std::prev(after)->second.start + std::prev(after)->second.length > repeat.start)
                continue;
            chosen.emplace(repeat.start, repeat);
        }
        std::vector<Repeat> result;
        for (const auto& [start, repeat] : chosen) result.push_back(repeat);
        return result;
    }

    // ---- Names ----

    /// What the operations of an item do, as far as its name says it.
    struct Doing {
        bool attends = false, convolves = false, multiplies = false, averages = false, takesRoots = false;
    };

    Doing doingOf(const Item& item) const {
        using operators::OpClass;
        using operators::Trait;
        Doing doing;
        for (std::size_t i = item.first; i <= item.last; ++i) {
            const operators::Traits& traits = graph::traitsOf(op(i));
            doing.attends |= traits.is(Trait::Attends);
            doing.convolves |= traits.is(Trait::Convolves);
            doing.multiplies |= traits.is(Trait::Multiplies);
            doing.averages |= traits.opClass == OpClass::Mean;
            doing.takesRoots |= traits.opClass == OpClass::Sqrt;
        }
        return doing;
    }

    std::string nameOf(const Item& item) const {
        const Doing doing = doingOf(item);
        if (item.kind == Item::Kind::Segment) {
            if (doing.convolves) return "block";
            if (doing.multiplies) return doing.attends ? "attention" : "mlp";
            return doing.averages && doing.takesRoots ? "norm" : "block";
        }
        const Item& block = m_items[item.children.front()];
        if (std::ranges::any_of(block.children,
                                [this](std::size_t child) { return m_items[child].kind == Item::Kind::Run; }))
            return "stages";
        return doing.attends && doing.multiplies && !doing.convolves ? "layers" : "blocks";
    }

    /// The operations of an item that is not split further.
    void collect(std::size_t item, std::vector<ExprId>& into) const {
        for (std::size_t i = m_items[item].first; i <= m_items[item].last; ++i) into.push_back(m_order[i]);
    }

    std::size_t addGroup(std::string name, std::string title, std::optional<std::size_t> parent) {
        m_groups.push_back({std::move(name), std::move(title), parent, {}});
        return m_groups.size() - 1;
    }

    static std::string unique(const std::string& name, std::map<std::string, int>& used) {
        const int number = ++used[name];
        return number == 1 ? name : name + "_" + std::to_string(number);
    }

    /// Depth is bounded by the number of levels.
    void emit(std::size_t index, std::optional<std::size_t> parent, std::map<std::string, int>& used) {
        const Item& item = m_items[index];
        switch (item.kind) {
            case Item::Kind::Op:
                if (parent) m_groups[*parent].exprs.push_back(m_order[item.first]);
                return;
            case Item::Kind::Segment: {
                const std::string name = nameOf(item);
                const std::string own = weightFolder(item);
                const std::size_t group = addGroup(unique(own.empty() ? name : own, used), name, parent);
                collect(index, m_groups[group].exprs);
                return;
            }
            case Item::Kind::Run: {
                const std::string name = nameOf(item);  // "layers"
                const std::size_t run =
                    addGroup(unique(name, used),
                             base::countText(static_cast<std::int64_t>(item.children.size())) + " " + name, parent);
                std::vector<std::string> names;
                for (std::size_t child : item.children) names.push_back(weightFolder(m_items[child]));
                std::vector<std::string> sorted = names;
                std::ranges::sort(sorted);
                const bool areNames = !sorted.front().empty() && std::ranges::adjacent_find(sorted) == sorted.end();
                for (std::size_t i = 0; i < item.children.size(); ++i) {
                    emitBlock(item.children[i], areNames ? names[i] : std::to_string(i),
                              name.substr(0, name.size() - 1), run);
                }
                return;
            }
            case Item::Kind::Block: return;
        }
    }

    void emitBlock(std::size_t index, const std::string& name, const std::string& title, std::size_t run) {
        const std::size_t group = addGroup(name, title, run);
        const std::vector<std::size_t> children = m_items[index].children;
        std::map<std::string, int> used;
        // One segment with little around it is the block itself.
        const auto parts = std::ranges::count_if(
            children, [this](std::size_t child) { return m_items[child].kind != Item::Kind::Op; });
        for (std::size_t child : children) {
            if (parts == 1 && m_items[child].kind == Item::Kind::Segment) collect(child, m_groups[group].exprs);
            else emit(child, group, used);
        }
    }

    /// The folder that all weights of an item have in their names and no others: "inception_3a" of
    /// "inception_3a/1x1_w_0".
    std::string weightFolder(const Item& item) const {
        std::string folder;
        for (std::size_t i = item.first; i <= item.last; ++i) {
            for (NodeId input : op(i).inputs) {
                const std::string& name = m_graph.node(input).name;
                const std::size_t slash = name.find('/');
                if (!isWeight(input) || m_graph.node(input).users.size() > 1) continue;
                if (slash == std::string::npos || slash == 0 || (!folder.empty() && name.substr(0, slash) != folder))
                    return {};
                folder = name.substr(0, slash);
            }
        }
        const auto range = m_folders.find(folder);
        const bool isOwn =
            range != m_folders.end() && range->second.first >= item.first && range->second.second <= item.last;
        return isOwn && folder.find('.') == std::string::npos ? folder : "";
    }

    void collectFolders() {
        for (std::size_t i = 0; i < m_order.size(); ++i) {
            for (NodeId input : op(i).inputs) {
                const std::string& name = m_graph.node(input).name;
                const std::size_t slash = name.find('/');
                if (slash == std::string::npos || slash == 0 || !isWeight(input)) continue;
                m_folders.emplace(name.substr(0, slash), std::pair(i, i)).first->second.second = i;
            }
        }
    }

    const InternalGraph& m_graph;
    std::vector<ExprId> m_order;
    std::unordered_map<std::uint32_t, std::size_t> m_position;
    std::vector<std::int64_t> m_crossings;  ///< over the gap behind each operation
    std::vector<Item> m_items;
    std::vector<std::size_t> m_sequence;  ///< items, in order
    std::vector<FoundGroup> m_groups;
    std::map<std::string, std::pair<std::size_t, std::size_t>> m_folders;  ///< of weights' names: first and last reader
    std::size_t m_covered = 0;
};

/// The same operations so that each stands as near to its readers as can be: from the results back, inputs in order.
std::vector<ExprId> fromTheResults(const InternalGraph& graph, const std::vector<ExprId>& exprs) {
    std::unordered_map<std::uint32_t, std::uint8_t> state;  // 0: not seen, 1: on the stack, 2: placed
    for (ExprId id : exprs) state.emplace(id.value, 0);
    std::vector<ExprId> result;
    std::vector<std::pair<ExprId, std::size_t>> stack;
    for (std::size_t r = exprs.size(); r-- > 0;) {
        // Begin with what nobody reads.
        const bool isRead = std::ranges::any_of(graph.expr(exprs[r]).outputs, [&](NodeId output) {
            return std::ranges::any_of(graph.node(output).users,
                                       [&](ExprId user) { return state.contains(user.value); });
        });
        if (isRead || state[exprs[r].value] != 0) continue;
        stack.emplace_back(exprs[r], 0);
        state[exprs[r].value] = 1;
        while (!stack.empty()) {
            auto& [id, next] = stack.back();
            const std::vector<NodeId>& inputs = graph.expr(id).inputs;
            if (next == inputs.size()) {
                state[id.value] = 2;
                result.push_back(id);
                stack.pop_back();
                continue;
            }
            const ExprId producer = graph.node(inputs[next++]).producer;
            const auto found = state.find(producer.value);
            if (found == state.end() || found->second != 0) continue;
            found->second = 1;
            stack.emplace_back(producer, 0);
        }
    }
    return result;
}

}  // namespace

std::vector<FoundGroup> findGroups(const InternalGraph& graph, const std::vector<ExprId>& exprs) {
    if (exprs.size() < 2 * kMinBlock) return {};
    Finder asWritten(graph, exprs);
    const std::vector<ExprId> other = fromTheResults(graph, exprs);
    if (other.size() == exprs.size()) {
        Finder sorted(graph, other);
        if (sorted.covered() > asWritten.covered()) return sorted.groups();
    }
    return asWritten.groups();
}

}  // namespace sonde::analysis
