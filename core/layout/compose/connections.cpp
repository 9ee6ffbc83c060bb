#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include "core/layout/compose/layout_draft.h"
#include "core/layout/compose/port_bindings.h"
#include "core/layout/compose/port_order.h"
#include "core/layout/engine/layered.h"

namespace sonde::layout::compose {

namespace {

/// A reader with more stubs than this gets one that stands for all of them.
constexpr std::size_t kMaxStubs = 4;
/// Readers nearer than this on average do not make a hub: many branches of one point are better seen as lines.
constexpr double kNear = 3;

/// Calls visit(kind of step, item, item) for each step of the way of a connection: Up: from an item to the border of
/// the box around it. Across: between two items in one level. Down: from a border to an item.
enum class Way : std::uint8_t { Up, Across, Down };

template <typename Visit>
bool walk(const LayoutDraft& draft, std::uint32_t from, std::uint32_t to, Visit visit) {
    std::vector<std::uint32_t> downs;
    std::uint32_t a = from, b = to;
    while (draft.itemDepth[b] > draft.itemDepth[a]) {
        downs.push_back(b);
        b = draft.parentOf(b);
    }
    std::vector<std::uint32_t> ups;
    while (draft.itemDepth[a] > draft.itemDepth[b]) {
        ups.push_back(a);
        a = draft.parentOf(a);
    }
    if (a == b && from != to) return false;  // one is inside the other
    while (draft.parentOf(a) != draft.parentOf(b)) {
        ups.push_back(a);
        downs.push_back(b);
        a = draft.parentOf(a);
        b = draft.parentOf(b);
    }
    for (const std::uint32_t item : ups) visit(Way::Up, item, kNone);
    visit(Way::Across, a, b);
    for (auto it = downs.rbegin(); it != downs.rend(); ++it) visit(Way::Down, kNone, *it);
    return true;
}

class Connector {
  public:
    explicit Connector(LayoutDraft& draft) : m_draft(draft), m_view(*draft.view), m_graph(draft.outline->graph()) {}

    void run() {
        collect();
        if (m_view.hubReaders > 0 || m_view.longSpan > 0) makeStubs();
        for (const Connection& connection : m_connections) addLine(connection, false);
        for (const Connection& connection : m_fromStubs) addLine(connection, true);
        for (Level& level : m_draft.levels) {
            sortPortsOut(level);
            givePlaces(level);
        }
    }

  private:
    /// Every reading of a value made in another item, once for each (value, reader), in the order of execution.
    void collect() {
        findResults();
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
            const ExprId reader(i);
            if (m_graph.isErased(reader) || isFiltered(m_view, reader) || m_draft.isShape(reader)) continue;
            const std::uint32_t to = m_draft.exprItems[i].value;
            const bool behind = isBehind(reader);
            std::vector<NodeId> gone;
            if (isOpenOperation(to) && m_draft.items[to].what.expr == reader) gone = goInside(reader, !behind);
            for (const NodeId value : m_graph.expr(reader).inputs) {
                if (isFolded(m_graph.node(value).producer, reader)) continue;
                if (std::find(gone.begin(), gone.end(), value) == gone.end()) add(value, to, !behind);
            }
        }
        for (std::uint32_t item = 0; item < m_draft.items.size(); ++item) {
            const ItemDescription& what = m_draft.items[item].what;
            if (what.kind == ItemKind::Output && !what.expr.valid()) add(what.values.front(), item);
        }
        // Sort to drop repetitions, then back: arguments stay in their order.
        std::vector<std::uint32_t> order(m_connections.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        auto key = [&](std::uint32_t i) {
            const Connection& c = m_connections[i];
            return std::tuple(c.to, c.from, c.value, i);
        };
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
        auto same = [&](std::uint32_t a, std::uint32_t b) {
            const Connection &x = m_connections[a], &y = m_connections[b];
            return x.to == y.to && x.from == y.from && x.value == y.value;
        };
        order.erase(std::unique(order.begin(), order.end(), same), order.end());
        std::sort(order.begin(), order.end());
        std::vector<Connection> kept;
        kept.reserve(order.size());
        for (const std::uint32_t i : order) {
            kept.push_back(m_connections[i]);
            kept.back().order = static_cast<std::uint32_t>(kept.size() - 1);
        }
        m_connections = std::move(kept);
    }

    const FoldedBlock* blockOf(ExprId expr) const {
        if (m_draft.blockOf.empty() || m_draft.blockOf[expr.index()] == kNone) return nullptr;
        return &m_draft.blocks[m_draft.blockOf[expr.index()]];
    }
    const FoldedBlock* around(const FoldedBlock& block) const {
        return block.parent == kNone ? nullptr : &m_draft.blocks[block.parent];
    }

    /// Whether an expr is in a block that another block stands for.
    bool isBehind(ExprId expr) const {
        for (const FoldedBlock* block = blockOf(expr); block; block = around(*block))
            if (!block->shown) return true;
        return false;
    }

    /// Whether folding leaves a reading out: from one block of a run to another one, or within a block that another one
    /// stands for.
    bool isFolded(ExprId producer, ExprId reader) const {
        const FoldedBlock *a = blockOf(producer), *b = blockOf(reader);
        if (!a || !b) return false;
        while (a->depth > b->depth) a = around(*a);
        while (b->depth > a->depth) b = around(*b);
        for (; a && b; a = around(*a), b = around(*b)) {
            if (a == b ? !a->shown : a->run == b->run) return true;
        }
        return false;
    }

    void add(NodeId value, std::uint32_t to, bool counts = true) {
        const ExprId producer = m_graph.node(value).producer;
        if (isFiltered(m_view, producer)) return;
        ItemId& made = m_draft.exprItems[producer.index()];
        if (to == kNone) return;
        if (!made.valid() || m_hidden.contains(producer)) return hideIn(producer, ItemId(to), counts);
        const bool selfLoop = made.value == to && !m_draft.items[to].what.expandable &&
                              m_draft.items[to].what.expr == producer && readsItself(producer);
        if (made.value == to && !selfLoop) return;
        const auto inside = m_results.find(value);
        if (inside == m_results.end()) return m_connections.push_back({value, made.value, to});
        for (const std::uint32_t result : inside->second) m_connections.push_back({value, result, to});
    }

    /// The first reader of a hidden constant stands for it; that of a shape for all that computes it, too.
    void hideIn(ExprId hidden, ItemId reader, bool counts) {
        std::vector<ExprId> stack{hidden};
        while (!stack.empty()) {
            const ExprId expr = stack.back();
            stack.pop_back();
            ItemId& item = m_draft.exprItems[expr.index()];
            const bool shape = m_draft.isShape(expr);
            if (shape && item.valid()) continue;
            ItemDescription& what = m_draft.items[reader.index()].what;
            if (counts && !Outline::isConstant(m_graph.expr(expr))) ++what.shapeExprs;
            if (counts && Outline::isConstant(m_graph.expr(expr))) ++what.hiddenConstants;
            if (!item.valid()) item = reader;
            m_hidden.insert(expr);
            if (!shape) continue;
            for (const NodeId value : m_graph.expr(expr).inputs) {
                const ExprId before = m_graph.node(value).producer;
                if (!isFiltered(m_view, before) && !m_draft.exprItems[before.index()].valid()) stack.push_back(before);
            }
        }
    }

    bool isOpenOperation(std::uint32_t item) const {
        return item != kNone && m_draft.items[item].what.open && m_draft.items[item].what.kind == ItemKind::Expr;
    }

    /// Leads the arguments of an open operation on to the inputs of its bodies. Returns those that go on.
    std::vector<NodeId> goInside(ExprId reader, bool counts) {
        std::vector<NodeId> gone;
        for (const PortBinding& binding : entriesOf(m_graph, reader)) {
            const ItemId item = m_draft.exprItems[m_graph.node(binding.inner).producer.index()];
            if (!item.valid() || m_draft.items[item.index()].what.kind != ItemKind::Input) continue;
            add(binding.outer, item.value, counts);
            gone.push_back(binding.outer);
        }
        return gone;
    }

    /// The items inside of open operations that show what they give.
    void findResults() {
        std::map<std::pair<BodyId, NodeId>, std::uint32_t> outputs;
        for (std::uint32_t item = 0; item < m_draft.items.size(); ++item) {
            const ItemDescription& what = m_draft.items[item].what;
            if (what.kind != ItemKind::Output) continue;
            if (what.expr.valid()) outputs[{m_graph.expr(what.expr).body, NodeId()}] = item;
            else outputs[{what.body, what.values.front()}] = item;
        }
        for (std::uint32_t item = 0; item < m_draft.items.size(); ++item) {
            if (!isOpenOperation(item)) continue;
            for (const PortBinding& binding : resultsOf(m_graph, m_draft.items[item].what.expr)) {
                auto found = outputs.find({binding.body, binding.inner});
                if (found == outputs.end()) found = outputs.find({binding.body, NodeId()});
                if (found == outputs.end()) continue;
                auto& all = m_results[binding.outer];
                if (std::find(all.begin(), all.end(), found->second) == all.end()) all.push_back(found->second);
            }
        }
    }

    bool readsItself(ExprId expr) const {
        for (const NodeId value : m_graph.expr(expr).inputs) {
            if (m_graph.node(value).producer == expr) return true;
        }
        return false;
    }

    /// How far a connection goes: the sum of ranks, and the most in one level.
    struct Span {
        double sum = 0;
        double most = 0;
    };

    void makeStubs() {
        rankLevels();
        std::vector<Span> spans;
        spans.reserve(m_connections.size());
        struct Use {
            std::size_t readers = 0;
            double ranks = 0;
        };
        std::unordered_map<NodeId, Use> uses;
        for (const Connection& connection : m_connections) {
            spans.push_back(spanOf(connection));
            Use& use = uses[connection.value];
            ++use.readers;
            use.ranks += spans.back().sum;
        }
        std::vector<bool> isCut(m_connections.size());
        for (std::size_t i = 0; i < m_connections.size(); ++i) {
            const Use& use = uses[m_connections[i].value];
            const bool hub = m_view.hubReaders > 0 && use.readers >= m_view.hubReaders &&
                             use.ranks > kNear * static_cast<double>(use.readers);
            const bool far = m_view.longSpan > 0 && spans[i].most > static_cast<double>(m_view.longSpan);
            isCut[i] = hub || far;
        }
        keepTheFlow(spans, isCut);
        std::vector<Connection> kept, cut;
        for (std::size_t i = 0; i < m_connections.size(); ++i) (isCut[i] ? cut : kept).push_back(m_connections[i]);
        m_connections = std::move(kept);
        std::stable_sort(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
        for (std::size_t i = 0; i < cut.size();) {
            std::size_t end = i;
            while (end < cut.size() && cut[end].to == cut[i].to) ++end;
            if (end - i > kMaxStubs) {
                addStub({cut.begin() + i, cut.begin() + end});
            } else {
                for (std::size_t k = i; k < end; ++k) addStub({cut[k]});
            }
            i = end;
        }
    }

    /// A reader that would have stubs only keeps the line from its nearest producer, if that is near: else the blocks
    /// of a dense network, which read nothing but hubs, would fall apart.
    void keepTheFlow(const std::vector<Span>& spans, std::vector<bool>& isCut) const {
        std::vector<std::uint32_t> nearest(m_draft.items.size(), kNone);
        std::vector<bool> fed(m_draft.items.size(), false);
        for (std::uint32_t i = 0; i < m_connections.size(); ++i) {
            const std::uint32_t to = m_connections[i].to;
            if (!isCut[i]) fed[to] = true;
            else if (spans[i].most <= kNear && (nearest[to] == kNone || spans[i].sum < spans[nearest[to]].sum))
                nearest[to] = i;
        }
        for (std::size_t item = 0; item < nearest.size(); ++item) {
            if (!fed[item] && nearest[item] != kNone) isCut[nearest[item]] = false;
        }
    }

    void rankLevels() {
        std::vector<BoxGraph> graphs(m_draft.levels.size());
        for (std::size_t i = 0; i < graphs.size(); ++i) graphs[i].boxes.resize(m_draft.levels[i].members.size());
        for (const Connection& connection : m_connections) {
            walk(m_draft, connection.from, connection.to, [&](Way way, std::uint32_t a, std::uint32_t b) {
                if (way != Way::Across) return;
                graphs[m_draft.levelAround(a)].edges.push_back({m_draft.slot[a], m_draft.slot[b]});
            });
        }
        m_ranks.clear();
        m_depths.clear();
        for (const BoxGraph& graph : graphs) {
            m_ranks.push_back(layoutRanks(graph));
            std::uint32_t depth = 0;
            for (const std::uint32_t rank : m_ranks.back()) depth = std::max(depth, rank + 1);
            m_depths.push_back(depth);
        }
    }

    double rankOf(std::uint32_t item) const { return m_ranks[m_draft.levelAround(item)][m_draft.slot[item]]; }

    Span spanOf(const Connection& connection) const {
        Span span;
        walk(m_draft, connection.from, connection.to, [&](Way way, std::uint32_t a, std::uint32_t b) {
            const double ranks = way == Way::Up     ? m_depths[m_draft.levelAround(a)] - rankOf(a) - 1
                                 : way == Way::Down ? rankOf(b)
                                                    : std::abs(rankOf(b) - rankOf(a));
            span.sum += ranks;
            span.most = std::max(span.most, ranks);
        });
        return span;
    }

    /// One stub at the reader that all these connections lead to.
    void addStub(const std::vector<Connection>& cut) {
        const std::uint32_t reader = cut.front().to;
        const auto index = static_cast<std::uint32_t>(m_draft.items.size());
        SceneItem stub;
        stub.what.kind = ItemKind::Stub;
        stub.what.scope = m_draft.items[reader].what.scope;
        stub.parent = m_draft.items[reader].parent;
        stub.source = ItemId(cut.front().from);
        for (const Connection& connection : cut) {
            stub.what.values.push_back(connection.value);
            if (connection.from != stub.source.value) stub.source = ItemId();
            ++m_draft.items[connection.from].stubs;
            m_fromStubs.push_back({connection.value, index, reader, connection.order});
        }
        const ItemDescription& read = m_draft.items[reader].what;
        stub.key = {ItemKind::Stub, read.expr, read.kind == ItemKind::Module ? read.scope : ScopeId(), read.body,
                    cut.size() == 1 ? cut.front().value : NodeId()};
        Level& level = m_draft.levels[m_draft.levelAround(reader)];
        m_draft.slot.push_back(static_cast<std::uint32_t>(level.members.size()));
        m_draft.itemDepth.push_back(m_draft.itemDepth[reader]);
        m_draft.levelOf.push_back(kNone);
        level.members.push_back(index);
        if (stub.parent.valid()) m_draft.items[stub.parent.index()].children.push_back(ItemId(index));
        m_draft.items.push_back(std::move(stub));
    }

    void addLine(const Connection& connection, bool fromStub) {
        Line line{connection.from, connection.to, {connection.value}, {}, fromStub};
        bool ported = false;  // the value has come out of an open box
        const NodeId value = connection.value;
        const std::uint32_t from = connection.from, to = connection.to;
        const bool possible = walk(m_draft, from, to, [&](Way way, std::uint32_t a, std::uint32_t b) {
            const std::uint32_t levelIndex = m_draft.levelAround(way == Way::Down ? b : a);
            LevelEdge edge;
            edge.atStub = fromStub;
            edge.value = value;
            edge.order = connection.order;
            edge.from = way == Way::Down ? inPort(levelIndex, value) : m_draft.slot[a];
            if (way != Way::Down && ported) edge.fromPort = value;
            edge.to = way == Way::Up ? outPort(levelIndex, value) : m_draft.slot[b];
            if (way != Way::Up && b != to) edge.toPort = value;
            ported = true;
            line.steps.push_back({levelIndex, edgeOf(levelIndex, edge)});
        });
        if (!possible) return;
        // Connections within one level share their line; those that cross borders do so by a port of their own.
        if (line.steps.size() == 1 && m_lineOf.contains(stepKey(line.steps[0]))) {
            m_draft.lines[m_lineOf[stepKey(line.steps[0])]].values.push_back(value);
            return;
        }
        if (line.steps.size() == 1) m_lineOf[stepKey(line.steps[0])] = m_draft.lines.size();
        m_draft.lines.push_back(std::move(line));
    }

    static std::uint64_t stepKey(Step step) { return (std::uint64_t{step.level} << 32) | step.edge; }

    std::uint32_t port(std::uint32_t level, NodeId value, std::vector<NodeId>& ports, std::uint32_t bit) {
        const auto [found, isNew] =
            m_portOf.try_emplace(std::tuple(level, value.value, bit), static_cast<std::uint32_t>(ports.size()));
        if (isNew) ports.push_back(value);
        return found->second | bit;
    }
    std::uint32_t inPort(std::uint32_t level, NodeId value) {
        return port(level, value, m_draft.levels[level].portsIn, kPortIn);
    }
    std::uint32_t outPort(std::uint32_t level, NodeId value) {
        return port(level, value, m_draft.levels[level].portsOut, kPortOut);
    }

    std::uint32_t edgeOf(std::uint32_t levelIndex, const LevelEdge& edge) {
        Level& level = m_draft.levels[levelIndex];
        const auto key = std::tuple(levelIndex, edge.from, edge.to, edge.fromPort.value, edge.toPort.value);
        const auto [found, isNew] = m_edgeOf.try_emplace(key, static_cast<std::uint32_t>(level.edges.size()));
        if (isNew) level.edges.push_back(edge);
        else level.edges[found->second].order = std::min(level.edges[found->second].order, edge.order);
        return found->second;
    }

    void sortPortsOut(Level& level) const {
        std::vector<std::uint32_t> order(level.portsOut.size()), place(level.portsOut.size());
        // What comes out of a module has no order of its own: that of the first readers crosses least.
        const bool module = level.container != kNone && m_draft.items[level.container].what.kind == ItemKind::Module;
        std::vector<std::uint32_t> firstRead(order.size(), module ? kNone : 0);
        for (const LevelEdge& edge : level.edges) {
            if (module && (edge.to & kPortOut))
                firstRead[edge.to & ~kPortOut] = std::min(firstRead[edge.to & ~kPortOut], edge.order);
        }
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](auto a, auto b) {
            return std::pair(firstRead[a], level.portsOut[a]) < std::pair(firstRead[b], level.portsOut[b]);
        });
        std::vector<NodeId> sorted;
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            sorted.push_back(level.portsOut[order[i]]);
        }
        level.portsOut = std::move(sorted);
        for (LevelEdge& edge : level.edges) {
            if (edge.to & kPortOut) edge.to = kPortOut | place[edge.to & ~kPortOut];
        }
    }

    /// Numbers the ports of closed members: those in by argument, those out by output, of modules by first reader.
    void givePlaces(Level& level) const {
        const auto count = level.members.size();
        std::vector<std::vector<std::uint32_t>> in(count), out(count);
        for (std::uint32_t i = 0; i < level.edges.size(); ++i) {
            const LevelEdge& edge = level.edges[i];
            if (edge.to < count && !edge.toPort.valid()) in[edge.to].push_back(i);
            if (edge.from < count && !edge.fromPort.valid()) out[edge.from].push_back(i);
        }
        for (std::size_t member = 0; member < count; ++member) {
            if (m_draft.levelOf[level.members[member]] != kNone) continue;
            auto byOrder = [&](auto a, auto b) { return level.edges[a].order < level.edges[b].order; };
            std::stable_sort(in[member].begin(), in[member].end(), byOrder);
            for (std::uint32_t k = 0; k < in[member].size(); ++k)
                level.edges[in[member][k]].toPlace = {k, static_cast<std::uint32_t>(in[member].size())};
            const bool module = m_draft.items[level.members[member]].what.kind == ItemKind::Module;
            std::stable_sort(out[member].begin(), out[member].end(), [&](auto a, auto b) {
                return module ? level.edges[a].order < level.edges[b].order
                              : level.edges[a].value < level.edges[b].value;
            });
            std::unordered_map<NodeId, std::uint32_t> places;
            for (const auto i : out[member])
                places.try_emplace(level.edges[i].value, static_cast<std::uint32_t>(places.size()));
            for (const auto i : out[member])
                level.edges[i].fromPlace = {places[level.edges[i].value], static_cast<std::uint32_t>(places.size())};
        }
    }

    template <typename Tuple>
    struct TupleHash {
        std::size_t operator()(const Tuple& key) const {
            std::uint64_t hash = 0x9e3779b97f4a7c15u;
            std::apply([&](auto... part) { ((hash = (hash ^ part) * 0xbf58476d1ce4e5b9u, hash ^= hash >> 29), ...); },
                       key);
            return hash;
        }
    };
    using PortKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    using EdgeKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

    LayoutDraft& m_draft;
    const ViewState& m_view;
    const InternalGraph& m_graph;
    std::vector<Connection> m_connections, m_fromStubs;
    std::unordered_set<ExprId> m_hidden;
    std::unordered_map<NodeId, std::vector<std::uint32_t>>
        m_results;                                    // of open operations: items inside that give a value
    std::vector<std::vector<std::uint32_t>> m_ranks;  // by level and slot
    std::vector<std::uint32_t> m_depths;              // ranks of each level
    std::unordered_map<PortKey, std::uint32_t, TupleHash<PortKey>> m_portOf;
    std::unordered_map<EdgeKey, std::uint32_t, TupleHash<EdgeKey>> m_edgeOf;
    std::unordered_map<std::uint64_t, std::size_t> m_lineOf;
};

}  // namespace

void connectItems(LayoutDraft& draft) {
    Connector(draft).run();
    orderPorts(draft);
}

}  // namespace sonde::layout::compose
