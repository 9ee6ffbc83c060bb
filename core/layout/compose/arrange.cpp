#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include "core/layout/compose/level_layout.h"
#include "core/layout/compose/time_budget.h"
#include "core/layout/engine/layered.h"

namespace sonde::layout::compose {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMaxSide = 20'000;  ///< of what the metrics may say
constexpr double kWidthStep = 16;    ///< so that names of almost equal length give equal boxes
constexpr double kPortStep = 28;     ///< between the ports of a closed item, if there is room
constexpr double kUnderTitle = 0.4;  ///< of the first gap's height may be beside the title
constexpr std::size_t kMaxNotes = 20;
constexpr double kPassing = 3;  ///< weight of lines past other operations; of those to the next one: 8

/// Whole and even, so that middles are whole as well and Graphviz, which rounds, agrees.
double even(double side) { return 2 * std::ceil(std::clamp(std::isfinite(side) ? side : 0.0, 0.0, 1e9) / 2 - 1e-9); }

double side(double value) { return std::clamp(std::isfinite(value) ? value : 0.0, 0.0, kMaxSide); }

class Arranger {
  public:
    Arranger(const LayoutDraft& draft, const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
             const base::WorkContext& work)
        : m_draft(draft), m_options(options), m_workers(workers), m_cache(cache), m_work(work),
          m_nextPartial(Clock::now() + options.partialAfter), m_timeBudget(options.allowance, options.budget) {}

    base::Result<std::shared_ptr<const SceneLayout>> run() {
        measure();
        std::vector<LevelLayout> insides(m_draft.levels.size());
        std::uint32_t depth = 0;
        for (const Level& level : m_draft.levels) depth = std::max(depth, level.depth);
        std::vector<std::vector<std::uint32_t>> byDepth(depth + 1);
        for (std::uint32_t i = 0; i < m_draft.levels.size(); ++i) byDepth[m_draft.levels[i].depth].push_back(i);
        for (auto batch = byDepth.rbegin(); batch != byDepth.rend(); ++batch) SONDE_TRY(layOut(*batch, insides));
        return std::shared_ptr<const SceneLayout>(composed(insides));
    }

  private:
    void measure() {
        m_leaf.resize(m_draft.items.size());
        for (std::size_t i = 0; i < m_draft.items.size(); ++i) {
            const Size asked = m_options.metrics(m_draft.items[i].what);
            const double width = std::ceil(side(asked.width) / kWidthStep) * kWidthStep;
            m_leaf[i] = {width, even(side(asked.height))};
        }
    }

    bool across() const { return m_draft.view->direction == Direction::LeftRight; }

    Size sizeOf(std::uint32_t item, const std::vector<LevelLayout>& insides) const {
        const std::uint32_t level = m_draft.levelOf[item];
        return level == kNone ? m_leaf[item] : insides[level].size;
    }

    static std::uint32_t boxOf(const Level& level, std::uint32_t end) {
        const auto members = static_cast<std::uint32_t>(level.members.size());
        if (end & kPortIn) return members + (end & ~kPortIn);
        if (end & kPortOut) return members + static_cast<std::uint32_t>(level.portsIn.size()) + (end & ~kPortOut);
        return end;
    }

    /// Where the port of a value is in the border of an open item: the distance from the border's middle.
    std::optional<double> portOf(std::uint32_t item, NodeId value, bool out,
                                 const std::vector<LevelLayout>& insides) const {
        if (!value.valid()) return std::nullopt;
        const std::uint32_t levelIndex = m_draft.levelOf[item];
        const Level& level = m_draft.levels[levelIndex];
        const LevelLayout& inside = insides[levelIndex];
        const auto index = static_cast<std::uint32_t>(m_portIndex.at(portKey(levelIndex, value, out)));
        const Rect& box = inside.layout->boxes[boxOf(level, index | (out ? kPortOut : kPortIn))];
        return across() ? box.y + inside.origin.y - inside.size.height / 2
                        : box.x + inside.origin.x - inside.size.width / 2;
    }

    /// An open item's own arguments, a condition or a count, come in left of the values that go on inside.
    void giveOwnPorts(const Level& level, BoxGraph& graph) const {
        std::unordered_map<std::uint32_t, double> next;
        auto half = [&](std::uint32_t box) {
            return (across() ? graph.boxes[box].height : graph.boxes[box].width) / 2;
        };
        for (const BoxEdge& edge : graph.edges) {
            if (!edge.toPort || edge.to >= level.members.size() || isClosed(level, edge.to)) continue;
            const double left = *edge.toPort - kPortStep;
            const auto [found, isNew] = next.try_emplace(edge.to, left);
            if (!isNew) found->second = std::min(found->second, left);
        }
        for (std::size_t i = graph.edges.size(); i-- > 0;) {  // the last one next to those inside
            BoxEdge& edge = graph.edges[i];
            const bool comes = edge.to < level.members.size() && !edge.toPort,
                       goes = edge.from < level.members.size() && !edge.fromPort;
            if (goes && level.edges[i].from < level.members.size()) edge.fromPort = 0;
            if (!comes) continue;
            double& place = next.try_emplace(edge.to, 0).first->second;
            edge.toPort = std::max(place, std::min(0.0, kPortStep / 2 - half(edge.to)));
            place -= kPortStep;
        }
    }

    bool isClosed(std::uint32_t item) const { return m_draft.levelOf[item] == kNone; }
    bool isClosed(const Level& level, std::uint32_t box) const {
        return box < level.members.size() && isClosed(level.members[box]);
    }
    bool isWrapped(std::uint32_t item, const std::vector<LevelLayout>& insides) const {
        return !isClosed(item) && insides[m_draft.levelOf[item]].wrapped;
    }

    /// Ports of a closed item: evenly about its middle.
    double placeOf(const Box& box, LevelEdge::Place place) const {
        const double step = std::min(kPortStep, (across() ? box.height : box.width) / (place.count + 1));
        return (place.index - (place.count - 1) / 2.0) * step;
    }

    static std::uint64_t portKey(std::uint32_t level, NodeId value, bool out) {
        return (std::uint64_t{level} << 33) ^ (std::uint64_t{value.value} << 1) ^ (out ? 1 : 0);
    }

    /// By member: whether data that comes from outside goes through it. Constants, and what is computed from them
    /// alone, may stand aside of those. Edges are in the order of their readers' execution, so producers come first.
    std::vector<bool> flowOf(const Level& level) const {
        std::vector<bool> flows(level.members.size(), false);
        for (std::size_t i = 0; i < flows.size(); ++i) flows[i] = isSource(m_draft.items[level.members[i]].what.kind);
        for (const LevelEdge& edge : level.edges) {
            if (edge.to < flows.size() && (edge.from >= flows.size() || flows[edge.from])) flows[edge.to] = true;
        }
        return flows;
    }

    static bool isSource(ItemKind kind) { return kind == ItemKind::Input || kind == ItemKind::Stub; }

    BoxGraph boxGraph(std::uint32_t levelIndex, const std::vector<LevelLayout>& insides) {
        const Level& level = m_draft.levels[levelIndex];
        BoxGraph graph;
        graph.direction = m_draft.view->direction;
        graph.nodeSep = std::clamp(m_draft.view->nodeSep, 1.0, 1000.0);
        graph.rankSep = std::clamp(m_draft.view->rankSep, 1.0, 1000.0);
        for (const std::uint32_t item : level.members) {
            const Size size = sizeOf(item, insides);
            // Flow enters columns on the left and leaves them on the right, but their boxes are to be in line.
            graph.boxes.push_back({size.width, size.height, Pin::Free, isClosed(item) || isWrapped(item, insides)});
        }
        graph.boxes.insert(graph.boxes.end(), level.portsIn.size(), {0, 0, Pin::First});
        graph.boxes.insert(graph.boxes.end(), level.portsOut.size(), {0, 0, Pin::Last});
        const std::vector<bool> flows = flowOf(level);
        for (const LevelEdge& edge : level.edges) {
            BoxEdge box{boxOf(level, edge.from), boxOf(level, edge.to), {}, {}, edge.atStub ? 1.0 : 8.0};
            if (edge.from < flows.size() && !flows[edge.from]) box.weight = 1;
            if (edge.fromPort.valid()) box.fromPort = portOf(level.members[edge.from], edge.fromPort, true, insides);
            if (edge.toPort.valid()) box.toPort = portOf(level.members[edge.to], edge.toPort, false, insides);
            if (isClosed(level, box.from)) box.fromPort = placeOf(graph.boxes[box.from], edge.fromPlace);
            if (isClosed(level, box.to)) box.toPort = placeOf(graph.boxes[box.to], edge.toPlace);
            graph.edges.push_back(box);
        }
        giveOwnPorts(level, graph);
        easeLongEdges(graph);
        for (std::size_t i = 0; i < level.portsIn.size(); ++i)
            m_portIndex[portKey(levelIndex, level.portsIn[i], false)] = i;
        for (std::size_t i = 0; i < level.portsOut.size(); ++i)
            m_portIndex[portKey(levelIndex, level.portsOut[i], true)] = i;
        return graph;
    }

    /// Engines keep long lines straight at the cost of short ones, but it is what goes on from one operation to the
    /// next that should be straight, and the line past them that gives way.
    static void easeLongEdges(BoxGraph& graph) {
        const std::vector<std::uint32_t> rank = layoutRanks(graph);
        for (BoxEdge& edge : graph.edges) {
            if (rank[edge.to] != rank[edge.from] + 1) edge.weight = std::min(edge.weight, kPassing);
        }
    }

    struct Job {
        LayoutKey key;
        BoxGraph graph;
        std::vector<std::uint32_t> levels;
        std::shared_ptr<const BoxLayout> layout;
        bool quick = false;  ///< left to the layered engine
    };

    /// The levels of one depth: equal ones once, known ones from the cache, the others by the helpers side by side.
    base::Result<void> layOut(const std::vector<std::uint32_t>& batch, std::vector<LevelLayout>& insides) {
        std::vector<Job> jobs;
        std::unordered_map<LayoutKey, std::size_t> jobOf;
        for (const std::uint32_t level : batch) {
            BoxGraph graph = boxGraph(level, insides);
            const LayoutKey key = structuralKey(graph);
            const auto [found, isNew] = jobOf.try_emplace(key, jobs.size());
            if (isNew) jobs.push_back({key, std::move(graph), {}, {}, false});
            jobs[found->second].levels.push_back(level);
        }
        if (m_work.cancelled()) return base::cancelled("laying out");
        std::vector<Job*> missing;
        for (Job& job : jobs) {
            job.layout = m_cache.find(job.key, job.graph);
            if (!job.layout) missing.push_back(&job);
        }
        m_laidOut += static_cast<std::uint32_t>(missing.size());
        m_fromCache += static_cast<std::uint32_t>(batch.size() - missing.size());
        shareOut(missing, m_draft.levels[batch.front()].depth == 0);
        SONDE_TRY(compute(missing, insides));
        for (const Job& job : jobs) {
            const auto wrapped = wrappedOrNull(*m_draft.view, job.graph, *job.layout);
            for (const std::uint32_t level : job.levels) insides[level] = placed(level, job.layout, wrapped);
        }
        return {};
    }

    void shareOut(const std::vector<Job*>& jobs, bool last) {
        std::vector<const BoxGraph*> graphs;
        for (const Job* job : jobs) graphs.push_back(&job->graph);
        const std::vector<bool> granted = m_timeBudget.grant(graphs, last);
        for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i]->quick = !granted[i];
    }

    base::Result<void> compute(const std::vector<Job*>& jobs, const std::vector<LevelLayout>& insides) {
        const bool partial = static_cast<bool>(m_options.onPartial);
        const std::size_t count = std::min(jobs.size(), std::max<std::size_t>(1, m_workers.processes()));
        if (count <= 1 && !partial) {
            for (Job* job : jobs) SONDE_TRY(computeOne(*job));
            return {};
        }
        if (jobs.empty()) return {};
        std::atomic<std::size_t> next = 0;
        std::mutex mutex;
        std::condition_variable ended;
        std::size_t running = count;
        std::optional<base::Error> failure;
        auto takeJobs = [&] {
            for (std::size_t i = next++; i < jobs.size(); i = next++) {
                auto done = computeOne(*jobs[i]);
                if (done) continue;
                const std::lock_guard lock(mutex);
                failure = done.error();
                break;
            }
            const std::lock_guard lock(mutex);
            if (--running == 0) ended.notify_all();
        };
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < count; ++i) threads.emplace_back(takeJobs);
            std::unique_lock lock(mutex);
            while (running > 0) {
                if (!partial) {
                    ended.wait(lock, [&] { return running == 0; });
                } else if (!ended.wait_until(lock, m_nextPartial, [&] { return running == 0; })) {
                    lock.unlock();
                    showPartial(insides);
                    lock.lock();
                }
            }
        }
        if (failure) return *failure;
        return {};
    }

    base::Result<void> computeOne(Job& job) {
        SONDE_ASSIGN(BoxLayout layout, job.quick ? layoutLayered(job.graph, m_work)
                                                 : m_workers.layout(job.graph, m_work, m_options.budget));
        if (job.quick) layout.note = "too many modules are expanded at once for Graphviz";
        job.layout = m_cache.insert(job.key, std::move(layout));
        return {};
    }

    /// The whole with what is known so far, the rest by the quick engine.
    void showPartial(const std::vector<LevelLayout>& known) {
        std::vector<LevelLayout> insides = known;
        const auto begin = Clock::now();
        for (std::uint32_t depth = deepest() + 1; depth-- > 0;) {
            for (std::uint32_t i = 0; i < m_draft.levels.size(); ++i) {
                if (m_draft.levels[i].depth != depth || insides[i].layout) continue;
                const BoxGraph graph = boxGraph(i, insides);
                auto layout = m_cache.find(structuralKey(graph), graph);
                if (!layout) {
                    auto quick = layoutLayered(graph, m_work);
                    if (!quick) return;
                    layout = std::make_shared<const BoxLayout>(std::move(quick).value());
                }
                const auto wrapped = wrappedOrNull(*m_draft.view, graph, *layout);
                insides[i] = placed(i, std::move(layout), wrapped);
            }
        }
        if (!m_work.cancelled()) m_options.onPartial(composed(insides));
        // Show the next one after a while that is long compared with what this one cost.
        const auto cost = Clock::now() - begin;
        m_nextPartial = Clock::now() + std::max<Clock::duration>(std::chrono::milliseconds(600), 10 * cost);
    }

    std::uint32_t deepest() const {
        std::uint32_t depth = 0;
        for (const Level& level : m_draft.levels) depth = std::max(depth, level.depth);
        return depth;
    }

    /// Puts a level's picture into its box: below the title, with room around, but up to the border where ports are.
    LevelLayout placed(std::uint32_t levelIndex, std::shared_ptr<const BoxLayout> layout,
                       std::shared_ptr<const WrappedLayout> wrapped) const {
        const Level& level = m_draft.levels[levelIndex];
        if (wrapped) layout = std::shared_ptr<const BoxLayout>(wrapped, &wrapped->layout);
        LevelLayout inside{std::move(layout), std::move(wrapped), {}, {}};
        const Size size = inside.layout->size;
        if (level.container == kNone) {
            inside.size = size;
            return inside;
        }
        const Size title = m_leaf[level.container];
        const double padding = std::clamp(m_draft.view->padding, 0.0, 1000.0);
        const double first = level.portsIn.empty() ? padding : 0, last = level.portsOut.empty() ? padding : 0;
        const double left = across() ? first : padding, right = across() ? last : padding;
        const double top = across() ? padding / 2 : first, bottom = across() ? padding : last;
        inside.size.width = even(std::max(size.width + left + right, title.width));
        inside.origin.x = left + (inside.size.width - left - right - size.width) / 2;
        inside.origin.y = title.height + top;
        // Lines that come in may bend beside the title already, but lanes between columns may not be there.
        if (inside.wrapped) inside.origin.y += padding / 2;
        else if (!across() && !level.portsIn.empty())
            inside.origin.y -= std::min(title.height, kUnderTitle * std::clamp(m_draft.view->rankSep, 1.0, 1000.0));
        inside.size.height = even(inside.origin.y + size.height + bottom);
        return inside;
    }

    std::shared_ptr<SceneLayout> composed(const std::vector<LevelLayout>& insides) const {
        auto scene = std::make_shared<SceneLayout>();
        scene->items = m_draft.items;
        scene->exprItems = m_draft.exprItems;
        scene->scopeItems = m_draft.scopeItems;
        scene->direction = m_draft.view->direction;
        scene->hiddenExprs = m_draft.hiddenExprs;
        scene->hiddenConstants = m_draft.hiddenConstants;
        scene->foldedExprs = m_draft.foldedExprs;
        scene->foldedBlocks = m_draft.foldedBlocks;
        scene->filteredExprs = m_draft.filteredExprs;
        scene->shapeExprs = m_draft.shapeExprs;
        scene->piecesLaidOut = m_laidOut;
        scene->piecesFromCache = m_fromCache;
        std::vector<Point> origins(m_draft.levels.size());  // of each level's picture
        for (std::uint32_t i = 0; i < m_draft.levels.size(); ++i) placeMembers(*scene, i, insides, origins);
        const auto firstStroke = addStrokes(*scene, insides, origins);
        for (const Line& line : m_draft.lines) addEdge(*scene, line, firstStroke);
        for (std::uint32_t i = 0; i < m_draft.levels.size(); ++i)
            addJumps(*scene, m_draft.levels[i], insides[i], origins[i], firstStroke[i]);
        for (std::uint32_t i = 0; i < m_draft.items.size(); ++i) {
            if (!scene->items[i].parent.valid()) scene->top.push_back(ItemId(i));
        }
        scene->bounds = {0, 0, insides[0].layout->size.width, insides[0].layout->size.height};
        addNotes(*scene, insides);
        return scene;
    }

    /// Levels come after those around them, so the box's own place is known.
    void placeMembers(SceneLayout& scene, std::uint32_t levelIndex, const std::vector<LevelLayout>& insides,
                      std::vector<Point>& origins) const {
        const Level& level = m_draft.levels[levelIndex];
        const LevelLayout& inside = insides[levelIndex];
        Point origin = inside.origin;
        if (level.container != kNone) {
            SceneItem& box = scene.items[level.container];
            box.titleHeight = m_leaf[level.container].height;
            origin = {origin.x + box.rect.x, origin.y + box.rect.y};
        }
        origins[levelIndex] = origin;
        std::vector<std::uint32_t> order;
        for (std::uint32_t k = 0; k < level.members.size(); ++k) {
            scene.items[level.members[k]].rect = inside.layout->boxes[k].translated(origin);
            order.push_back(level.members[k]);
        }
        auto along = [&](std::uint32_t item) {
            const Point center = scene.items[item].rect.center();
            return across() ? center.x : center.y;
        };
        auto column = [&](std::uint32_t item) {
            return inside.wrapped ? inside.wrapped->column[m_draft.slot[item]] : 0;
        };
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
            return std::pair(column(a), along(a)) < std::pair(column(b), along(b));
        });
        std::uint32_t rank = 0;
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k > 0 && (column(order[k]) != column(order[k - 1]) || along(order[k]) - along(order[k - 1]) > 2))
                ++rank;
            scene.items[order[k]].rank = rank;
        }
    }

    /// One stroke for each edge of each level; returns the first of each level.
    std::vector<std::size_t> addStrokes(SceneLayout& scene, const std::vector<LevelLayout>& insides,
                                        const std::vector<Point>& origins) const {
        std::vector<std::size_t> first;
        for (std::size_t i = 0; i < m_draft.levels.size(); ++i) {
            const Level& level = m_draft.levels[i];
            first.push_back(scene.strokes.size());
            for (std::size_t k = 0; k < level.edges.size(); ++k) {
                const LevelEdge& edge = level.edges[k];
                SceneStroke stroke;
                stroke.arrow = !edge.toPort.valid() && !(edge.to & kPortOut);
                stroke.fromStub = edge.atStub;
                Path path = insides[i].layout->edges[k];
                path.translate(origins[i]);
                // A port lies a little inside its box: on to the border.
                if (edge.from & kPortIn) {
                    stroke.path.moveTo(borderPoint(scene.items[level.container].rect, path.start(), false));
                }
                stroke.path.append(path);
                if (edge.to & kPortOut) {
                    Path last;
                    last.moveTo(borderPoint(scene.items[level.container].rect, path.end(), true));
                    stroke.path.append(last);
                }
                scene.strokes.push_back(std::move(stroke));
            }
        }
        return first;
    }

    void addEdge(SceneLayout& scene, const Line& line, const std::vector<std::size_t>& firstStroke) const {
        SceneEdge edge;
        edge.from = ItemId(line.from);
        edge.to = ItemId(line.to);
        edge.values = line.values;
        edge.fromStub = line.fromStub;
        for (const Step& step : line.steps) {
            SceneStroke& stroke = scene.strokes[firstStroke[step.level] + step.edge];
            stroke.edges.push_back(static_cast<std::uint32_t>(scene.edges.size()));
            edge.path.append(stroke.path);
        }
        edge.labelAt = edge.path.middle();
        scene.edges.push_back(std::move(edge));
    }

    Point borderPoint(const Rect& box, Point port, bool out) const {
        if (across()) return {out ? box.right() : box.x, port.y};
        return {port.x, out ? box.bottom() : box.y};
    }

    void addNotes(SceneLayout& scene, const std::vector<LevelLayout>& insides) const {
        std::unordered_set<const BoxLayout*> told;
        std::size_t more = 0;
        for (std::size_t i = 0; i < insides.size(); ++i) {
            const BoxLayout& layout = *insides[i].layout;
            if (layout.note.empty() || !told.insert(&layout).second) continue;
            if (scene.notes.size() >= kMaxNotes) {
                ++more;
                continue;
            }
            scene.notes.push_back(nameOf(m_draft.levels[i]) + ": laid out by the layered engine: " + layout.note);
        }
        if (more > 0) scene.notes.push_back("and " + std::to_string(more) + " more");
    }

    std::string nameOf(const Level& level) const {
        if (level.container == kNone) return "top level";
        const InternalGraph& graph = m_draft.outline->graph();
        const ItemDescription& what = m_draft.items[level.container].what;
        if (what.kind == ItemKind::Body) return graph.body(what.body).label;
        return graph.scope(what.scope).qualname;
    }

    const LayoutDraft& m_draft;
    const SceneOptions& m_options;
    LayoutWorkers& m_workers;
    LayoutCache& m_cache;
    const base::WorkContext& m_work;
    Clock::time_point m_nextPartial;
    TimeBudget m_timeBudget;
    std::vector<Size> m_leaf;  // by item: closed ones' size, open ones' title
    std::unordered_map<std::uint64_t, std::size_t> m_portIndex;
    std::uint32_t m_laidOut = 0, m_fromCache = 0;
};

}  // namespace

base::Result<std::shared_ptr<const SceneLayout>> arrange(const LayoutDraft& draft, const SceneOptions& options,
                                                         LayoutWorkers& workers, LayoutCache& cache,
                                                         const base::WorkContext& work) {
    return Arranger(draft, options, workers, cache, work).run();
}

}  // namespace sonde::layout::compose
