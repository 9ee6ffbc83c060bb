#include <QPainter>

#include <set>
#include <string_view>
#include <unordered_set>

#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/previews.h"
#include "ui/context/comparison.h"
#include "ui/context/problems.h"
#include "ui/context/value_measures.h"
#include "ui/models/module_result.h"

namespace sonde::canvas {

using layout::ItemId;

std::vector<std::uint16_t> GraphCanvas::computeFlags() const {
    if (!m_painter || !m_context.model().isOpen()) return {};
    const layout::SceneLayout& scene = *this->scene();
    const graph::InternalGraph& graph = m_context.model().graph();
    std::vector<std::uint16_t> flags;
    const context::Problems& problems = m_context.problems();
    // Bad values that were counted in the run, and that the user accepted, or that carry what he accepted.
    const auto isMeant = [&](graph::NodeId node) { return problems.counted(node) && !problems.isBad(node); };
    const auto mark = [&](graph::ExprId expr, std::uint16_t flag) {
        if (!expr.valid()) return;
        const ItemId id = scene.itemOf(expr);
        if (!id) return;
        if (flags.empty()) flags.resize(scene.items.size(), 0);
        const layout::ItemDescription& what = scene.item(id).what;
        // Also if the item is that of the same operation in an equal block, or of an operation around it.
        const bool inside = what.kind == layout::ItemKind::Module
                                ? !what.open
                                : what.kind == layout::ItemKind::Expr && what.expr != expr;
        flags[id.index()] = static_cast<std::uint16_t>(flags[id.index()] | flag | (inside ? kInside : 0));
    };
    for (const graph::NodeId node : m_context.points().watched()) {
        const Preview* preview = m_marks.preview(node);
        const bool isBad = preview && preview->bad && !isMeant(node);
        mark(graph.node(node).producer, static_cast<std::uint16_t>(kWatched | (isBad ? kBadValue : 0)));
    }
    for (const graph::NodeId node : m_context.points().ends()) mark(graph.node(node).producer, kEnd);
    const std::vector<graph::NodeId>& hits = m_context.navigation().searchHits();
    for (std::size_t i = 0; i < hits.size(); ++i)
        mark(graph.node(hits[i]).producer,
             static_cast<int>(i) == m_context.navigation().currentHit() ? kMatch | kCurrentHit : kMatch);
    for (const context::Selection& bookmark : m_context.navigation().bookmarks()) {
        if (bookmark.expr.valid()) {
            mark(bookmark.expr, kBookmarked);
        } else if (const ItemId id = itemOf(bookmark)) {
            if (flags.empty()) flags.resize(scene.items.size(), 0);
            flags[id.index()] |= kBookmarked;
        }
    }
    for (const graph::ExprId id : m_untraced) mark(id, kUntraced);
    for (const auto& [id, flag] : m_passFlags) mark(id, flag);
    if (m_context.runs().isRunning()) mark(m_context.runs().progress().current, kRunning);
    // What is bad has a mark whatever gives the colours.
    const context::ValueMeasures& measures = m_context.valueMeasures();
    const context::Comparison& comparison = m_context.comparison();
    for (std::size_t i = 0; (measures.isKnown() || comparison.isKnown()) && i < graph.nodeCount(); ++i) {
        const graph::NodeId node(i);
        const analysis::TensorStats* stats = measures.of(node);
        const analysis::NodeDifference* difference = comparison.of(node);
        if (stats && stats->finiteCount() < stats->count && !isMeant(node)) mark(graph.node(node).producer, kBadValue);
        if (difference && !difference->ok) mark(graph.node(node).producer, kDiffers);
    }

    const auto& recording = m_context.runs().recording();
    if (!recording || m_context.runs().isRunning()) return flags;
    for (const graph::NodeId node : problems.bad()) mark(graph.node(node).producer, kBadValue);
    if (recording->error && recording->failedAt.valid()) mark(recording->failedAt, kFailed);
    for (const exec::Failure& failure : recording->failures) mark(failure.expr, kFailed);
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
        const layout::ItemDescription& what = scene.items[i].what;
        if (what.kind != layout::ItemKind::Body || !m_context.runs().wasTaken(what.body)) continue;
        if (flags.empty()) flags.resize(scene.items.size(), 0);
        flags[i] |= kTaken;
    }
    // Dimmed is what an end point, an error or a cancel left out: an item with an operation that was reached is not.
    std::vector<bool> reached(scene.items.size(), false), holds(scene.items.size(), false);
    bool anyLeftOut = false;
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const graph::ExprId id(i);
        if (graph.isErased(id) || layout::Outline::isConstant(graph.expr(id))) continue;
        const bool input = graph.expr(id).kind == graph::ExprKind::Input;
        // The inputs of a called module's inside say nothing of whether it was called.
        if (input && graph.expr(id).body != graph.mainId()) continue;
        const ItemId item = scene.itemOf(id);
        if (!item) continue;
        const bool done = input || recording->state(id) != exec::ExprState::NotReached ||
                          (!graph.expr(id).outputs.empty() && recording->computed(graph.expr(id).outputs.front()));
        holds[item.index()] = true;
        if (done) reached[item.index()] = true;
        anyLeftOut |= !done;
    }
    if (!anyLeftOut) return flags;
    if (flags.empty()) flags.resize(scene.items.size(), 0);
    for (std::size_t i = 0; i < flags.size(); ++i)
        if (holds[i] && !reached[i]) flags[i] |= kDimmed;
    return flags;
}

void GraphCanvas::findPassMarks() {
    using PassMark = context::OpenModel::PassMark;
    m_passFlags.clear();
    for (const auto& [node, mark] : m_context.model().passMarks())
        m_passFlags.emplace_back(m_context.model().graph().node(node).producer, mark == PassMark::Removed ? kRemoved
                                                                                : mark == PassMark::Added ? kAdded
                                                                                                          : kChanged);
}

void GraphCanvas::findUntraced() {
    m_untraced.clear();
    if (!m_context.model().isOpen()) return;
    std::unordered_set<std::string_view> failed;
    for (const graph::ModuleInfo& module : m_context.model().document()->modules->modules())
        if (!module.failure.empty()) failed.insert(module.qualname);
    if (failed.empty()) return;
    for (const graph::ExprId id : m_context.model().graph().main().order) {
        const graph::Expr& expr = m_context.model().graph().expr(id);
        if (expr.kind == graph::ExprKind::CallModule && failed.contains(expr.target)) m_untraced.push_back(id);
    }
}

void GraphCanvas::refreshMarks() {
    if (!m_painter) return;
    std::vector<std::uint16_t> flags = computeFlags();
    std::vector<std::uint32_t> changed;
    constexpr std::size_t kMaxChanged = 256;
    for (std::uint32_t i = 0; i < scene()->items.size() && changed.size() <= kMaxChanged; ++i) {
        const std::uint16_t before = i < m_marks.flags.size() ? m_marks.flags[i] : std::uint16_t{0};
        const std::uint16_t after = i < flags.size() ? flags[i] : std::uint16_t{0};
        if (before != after) changed.push_back(i);
    }
    m_marks.flags = std::move(flags);
    if (changed.empty()) return;
    m_overlays->refreshLegend();
    if (changed.size() > kMaxChanged) m_tiles.invalidate();
    else
        for (const std::uint32_t id : changed)
            m_tiles.invalidate(toQt(scene()->items[id].rect).adjusted(-14, -14, 14, 14));
    m_tilesComplete = false;
    Q_EMIT marksChanged();
    update();
}

/// Modules whose value, their output, is watched: closed, they show it as the node would.
std::unordered_set<graph::ScopeId> GraphCanvas::watchedModules() {
    const graph::InternalGraph& graph = m_context.model().graph();
    std::unordered_set<graph::ScopeId> modules;
    m_marks.moduleValues.clear();
    for (const graph::NodeId node : m_context.points().watched())
        for (graph::ScopeId scope = graph.expr(graph.node(node).producer).scope; scope.valid();
             scope = graph.scope(scope).parent) {
            const auto [found, isNew] = m_moduleOutputs.try_emplace(scope);
            if (isNew) found->second = models::resultOf(m_context.model(), m_context.navigation().selectionOf(scope));
            if (found->second != node) continue;
            m_marks.moduleValues[scope] = node;
            modules.insert(scope);
        }
    return modules;
}

namespace {

/// Of inputs that were changed since: pale, and said so.
Preview faded(Preview preview) {
    constexpr double kOpacity = 0.35;
    if (!preview.image.isNull()) {
        QImage pale(preview.image.size(), QImage::Format_ARGB32_Premultiplied);
        pale.fill(Qt::transparent);
        QPainter painter(&pale);
        painter.setOpacity(kOpacity);
        painter.drawImage(0, 0, preview.image);
        painter.end();
        preview.image = pale;
    }
    preview.range = QStringLiteral("stale");
    return preview;
}

}  // namespace

void GraphCanvas::refreshPreviews() {
    if (!m_context.model().isOpen()) return;
    std::vector<std::pair<graph::NodeId, tensor::Value>> values;
    std::set<graph::NodeId> stale;
    for (const graph::NodeId node : m_context.points().watched()) {
        if (const tensor::Value* value = m_context.runs().value(node)) values.emplace_back(node, *value);
        if (m_context.runs().isStale(node)) stale.insert(node);
    }
    m_previewJob.start(
        [values = std::move(values), stale = std::move(stale), scheme = style().scheme](const base::WorkContext& work) {
            auto made = std::make_shared<Previews>();
            for (const auto& [node, value] : values) {
                if (work.cancelled()) break;
                Preview& preview = made->emplace(node, makePreview(value, scheme, work.stop)).first->second;
                if (stale.contains(node)) preview = faded(std::move(preview));
            }
            return made;
        },
        [this](const std::shared_ptr<Previews>& made) {
            if (!m_context.model().checkFiles()) made->clear();  // they may show another file's bytes
            m_marks.previews = made;
            refreshMarks();
            if (!m_painter) return;
            for (const graph::NodeId node : m_context.points().watched())
                if (const ItemId item = scene()->itemOf(m_context.model().graph().node(node).producer))
                    m_tiles.invalidate(toQt(scene()->item(item).rect).adjusted(-14, -14, 14, 14));
            m_tilesComplete = false;
            update();
        });
}

}  // namespace sonde::canvas
