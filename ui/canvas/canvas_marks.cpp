#include "ui/canvas/canvas_marks.h"

#include <QPainter>

#include <map>
#include <set>
#include <string_view>

#include "ui/canvas/previews.h"
#include "ui/canvas/scene_flags.h"
#include "ui/canvas/scene_selection.h"
#include "ui/context/bisection.h"
#include "ui/context/findings.h"
#include "ui/context/lessons.h"
#include "ui/context/precision.h"
#include "ui/context/why.h"
#include "ui/models/module_result.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using layout::ItemId;

namespace {

/// Around an item: its outline and marks are drawn there as well, scene units.
constexpr double kMarkMargin = 14;

QRectF withMargin(const layout::SceneItem& item) {
    return toQt(item.rect).adjusted(-kMarkMargin, -kMarkMargin, kMarkMargin, kMarkMargin);
}

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

ItemFlags flagOf(context::DifferenceMarks::Kind kind) {
    using Kind = context::DifferenceMarks::Kind;
    switch (kind) {
        case Kind::Removed: return kRemoved;
        case Kind::Added: return kAdded;
        case Kind::Moved: return kMoved;
        case Kind::Changed:
        case Kind::OtherWeights: break;
    }
    return kChanged;
}

/// Before the range, which has less to say then.
QString changeText(double change) { return QStringLiteral("\u0394 ") + QString::number(change, 'g', 3); }

}  // namespace

CanvasMarks::CanvasMarks(const CanvasView& view, context::InspectorContext& context)
    : m_view(view), m_context(context),
      m_measures(context.model(), context.runs(), context.valueMeasures(), context.comparison(), &context.precision()) {
    connectContext();
}

CanvasMarks::~CanvasMarks() { m_previewJob.abandon(); }

void CanvasMarks::connectContext() {
    connect(&m_context.navigation(), &context::Navigation::bookmarksChanged, this, &CanvasMarks::refresh);
    connect(&m_context.navigation(), &context::Navigation::searchHitsChanged, this, &CanvasMarks::refresh);
    connect(&m_context.points(), &context::Points::watchChanged, this, [this] {
        refresh();
        refreshPreviews();
    });
    connect(&m_context.points(), &context::Points::endChanged, this, &CanvasMarks::refresh);
    connect(&m_context.notes(), &context::Notes::changed, this, &CanvasMarks::refresh);
    connect(&m_context.differenceMarks(), &context::DifferenceMarks::changed, this, &CanvasMarks::refresh);
    connect(&m_context.why(), &context::Why::changed, this, &CanvasMarks::refresh);
    connect(&m_context.findings(), &context::Findings::changed, this, &CanvasMarks::refresh);
    connect(&m_context.bisection(), &context::Bisection::changed, this, &CanvasMarks::refresh);
    connect(&m_context.breakpoints(), &context::Breakpoints::changed, this, &CanvasMarks::refresh);
    for (const auto signal : {&context::Runs::runStarted, &context::Runs::runProgressed})
        connect(&m_context.runs(), signal, this, &CanvasMarks::refresh);
    connect(&m_context.runs(), &context::Runs::runFinished, this, [this] {
        refresh();
        refreshPreviews();
    });
    connect(&m_context.edits(), &context::Edits::changed, this, &CanvasMarks::refresh);
    connect(&context::lessonsOf(m_context), &context::Lessons::answered, this, &CanvasMarks::refresh);
    connect(&m_context.runs(), &context::Runs::valueArrived, this, &CanvasMarks::refreshPreview);
    connect(&m_context.watches(), &context::Watches::changed, this, &CanvasMarks::refreshPins);
    connect(&m_context.valueMeasures(), &context::ValueMeasures::changed, this, &CanvasMarks::refresh);
    connect(&m_context.comparison(), &context::Comparison::changed, this, &CanvasMarks::refresh);
    connect(&m_context.problems(), &context::Problems::changed, this, &CanvasMarks::refresh);
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, &CanvasMarks::refreshPreviews);
}

void CanvasMarks::begin() {
    findUntraced();
    findPassMarks();
    recolor();
}

void CanvasMarks::clear() {
    m_previewJob.abandon();
    static_cast<ItemMarks&>(m_marks) = {};
    m_marks.previews.reset();
    m_marks.moduleValues.clear();
    m_marks.pins = {};
    m_moduleOutputs.clear();
}

void CanvasMarks::takeOver(const CanvasMarks& other) {
    m_marks = other.m_marks;
    m_untraced = other.m_untraced;
    m_passFlags = other.m_passFlags;
}

void CanvasMarks::recolor() {
    m_measures.reset();
    m_marks.coloring.reset();
    if (m_context.model().isOpen() && m_context.settings().colorBy() != QLatin1String("category"))
        m_marks.coloring = std::make_shared<const Coloring>(m_measures, m_context.settings().colorBy(),
                                                            theme::Theme::instance().scheme());
}

bool CanvasMarks::isColoringOutdated() const {
    const int column = models::nodeColumnIndex(m_context.settings().colorBy());
    return m_marks.coloring && column >= 0 && m_marks.coloring->isKnown() &&
           m_marks.coloring->staleReason() != m_measures.staleReason(column);
}

SceneMarks CanvasMarks::inScheme(const CanvasStyle& style, theme::Scheme scheme) const {
    SceneMarks marks = m_marks;
    if (marks.coloring && style.scheme != scheme)
        marks.coloring = std::make_shared<const Coloring>(m_measures, m_context.settings().colorBy(), scheme);
    return marks;
}

ItemMarks CanvasMarks::computeFlags() const {
    if (!m_view.painter() || !m_context.model().isOpen()) return {};
    SceneFlags flags(*m_view.scene(), *m_context.model().outline());
    markPoints(flags);
    markValues(flags);
    markEdits(flags);
    if (m_context.runs().recording() && !m_context.runs().isRunning()) {
        markRun(flags);
        dimLeftOut(flags);
    }
    return flags.take();
}

/// What the user has set and searched for, and what is known of the graph.
void CanvasMarks::markPoints(SceneFlags& flags) const {
    const graph::InternalGraph& graph = m_context.model().graph();
    const context::Navigation& navigation = m_context.navigation();
    const auto mark = [&](graph::NodeId node, int flag) {
        flags.add(graph.node(node).producer, static_cast<ItemFlags>(flag));
    };
    for (const graph::NodeId node : m_context.points().watched()) mark(node, kWatched);
    for (const context::Watches::Group& group : m_context.watches().groups())
        for (const graph::NodeId node : group.nodes) mark(node, kWatched);
    for (const graph::NodeId node : m_context.points().ends()) mark(node, kEnd);
    const std::vector<graph::NodeId>& hits = navigation.searchHits();
    for (std::size_t i = 0; i < hits.size(); ++i)
        mark(hits[i], static_cast<int>(i) == navigation.currentHit() ? kMatch | kCurrentHit : kMatch);
    for (const context::Selection& bookmark : navigation.bookmarks()) {
        if (bookmark.expr.valid()) flags.add(bookmark.expr, kBookmarked);
        else if (const ItemId item = itemOf(flags.scene(), bookmark)) flags.add(item, kBookmarked);
    }
    for (const session::Notes::Entry& note : m_context.notes().all())
        if (note.node.valid()) mark(note.node, kNote);
    for (const context::Why::Hop& hop : m_context.why().trail())
        if (hop.place.node.valid()) mark(hop.place.node, kWhy);
    const auto markTrue = [&](graph::NodeId node, ItemFlags flag) { flags.addTrue(graph.node(node).producer, flag); };
    for (const graph::NodeId node : m_context.findings().nodes()) markTrue(node, kFinding);
    for (const graph::NodeId node : m_context.bisection().part()) markTrue(node, kBisected);
    for (const graph::NodeId node : m_context.bisection().differing()) markTrue(node, kDiffers);
    markBreakpoints(flags);
    for (const graph::ExprId id : m_untraced) flags.add(id, kUntraced);
    for (const auto& [id, flag] : m_passFlags) flags.addTrue(id, flag);
    for (const context::DifferenceMarks::Mark& other : m_context.differenceMarks().all())
        flags.addTrue(other.expr, flagOf(other.kind));
}

/// Where several are at one place, one that is on and stops is what is seen.
void CanvasMarks::markBreakpoints(SceneFlags& flags) const {
    for (const bool isLog : {false, true})
        for (const bool isEnabled : {true, false})
            for (const context::Breakpoints::Point& point : m_context.breakpoints().all())
                if (point.isLog == isLog && point.isEnabled == isEnabled && !point.isMissing)
                    markBreakpoint(flags, point);
}

/// A node, a module, each operation of an operator; of a condition where it is asked, of an event where it came up in
/// this run.
void CanvasMarks::markBreakpoint(SceneFlags& flags, const context::Breakpoints::Point& point) const {
    using Kind = context::Breakpoints::Point::Kind;
    const graph::InternalGraph& graph = m_context.model().graph();
    ItemFlags flag = kBreak;
    if (!point.isEnabled) flag |= kBreakOff;
    if (point.isLog) flag |= kBreakLog;
    else if (!point.expression.empty()) flag |= kBreakIf;
    if (m_context.breakpoints().isStoppedAt(point.id)) flag |= kBreakHit;
    if (point.kind == Kind::Event) {
        for (const graph::ExprId id : m_context.breakpoints().hitsOf(point)) flags.addOnce(id, flag, kBreak);
        return;
    }
    if (point.kind == Kind::Operator || (point.kind == Kind::Module && point.isLeaf)) {
        for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
            if (session::debug::Breakpoints::isOf(point, graph, graph.expr(id))) flags.addOnce(id, flag, kBreak);
        return;
    }
    const graph::NodeId node = m_context.breakpoints().nodeOf(point);
    if (!node.valid()) return;
    const ItemId module =
        point.kind != Kind::Module
            ? ItemId()
            : itemOf(flags.scene(), m_context.navigation().selectionOf(QString::fromStdString(point.name)));
    if (module) flags.addOnce(module, flag, kBreak);
    else flags.addOnce(graph.node(node).producer, point.kind == Kind::Module ? flag | kInside : flag, kBreak);
}

/// What values are bad or differ has a mark whatever gives the colours.
void CanvasMarks::markValues(SceneFlags& flags) const {
    const graph::InternalGraph& graph = m_context.model().graph();
    const context::Problems& problems = m_context.problems();
    // Bad values that were counted in the run, and that the user accepted, or that carry what he accepted.
    const auto isMeant = [&](graph::NodeId node) { return problems.counted(node) && !problems.isBad(node); };
    for (const graph::NodeId node : m_context.points().watched())
        if (const Preview* preview = m_marks.preview(node); preview && preview->bad && !isMeant(node))
            flags.addTrue(graph.node(node).producer, kBadValue);
    if (m_context.runs().isRunning()) flags.add(m_context.runs().progress().current, kCurrent);
    else if (const graph::NodeId current = m_context.runs().current(); current.valid())
        flags.add(graph.node(current).producer, kCurrent);
    const context::ValueMeasures& measures = m_context.valueMeasures();
    const context::Comparison& comparison = m_context.comparison();
    for (std::size_t i = 0; (measures.isKnown() || comparison.isKnown()) && i < graph.nodeCount(); ++i) {
        const graph::NodeId node(i);
        const analysis::TensorStats* stats = measures.of(node);
        const analysis::NodeDifference* difference = comparison.of(node);
        if (stats && stats->finiteCount() < stats->count && !isMeant(node))
            flags.addTrue(graph.node(node).producer, kBadValue);
        if (difference && !difference->ok) flags.addTrue(graph.node(node).producer, kDiffers);
    }
}

/// Edited values always; what they reach where a run shows that.
void CanvasMarks::markEdits(SceneFlags& flags) const {
    const context::Edits& edits = m_context.edits();
    if (!edits.areOn() || context::lessonsOf(m_context).hidesEdits()) return;
    const graph::InternalGraph& graph = m_context.model().graph();
    const auto& recording = m_context.runs().recording();
    for (const context::Edits::Entry& entry : edits.all()) {
        if (!entry.counts()) continue;
        for (const graph::NodeId node : entry.ready->nodes()) flags.addTrue(graph.node(node).producer, kEdited);
    }
    if (!edits.isCounterfactual() || !recording) return;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const graph::NodeId node(i);
        const graph::Expr& producer = graph.expr(graph.node(node).producer);
        // What an iteration is given is there once the loop has begun.
        const graph::ExprId loop = graph.body(producer.body).owner;
        const bool isGiven = producer.kind == graph::ExprKind::Input && loop.valid() &&
                             recording->state(loop) != exec::ExprState::NotReached;
        if (edits.isRecomputed(node) && !graph.node(node).constant && (isGiven || recording->computed(node)))
            flags.addTrue(graph.node(node).producer, kWhatIf);
    }
}

void CanvasMarks::markRun(SceneFlags& flags) const {
    const graph::InternalGraph& graph = m_context.model().graph();
    const auto& recording = m_context.runs().recording();
    // Of a debugged run what has come up so far.
    if (m_context.runs().isDebugged())
        for (const auto& [node, bad] : recording->bad) flags.addTrue(graph.node(node).producer, kBadValue);
    else
        for (const graph::NodeId node : m_context.problems().bad()) flags.addTrue(graph.node(node).producer, kBadValue);
    if (recording->error && recording->failedAt.valid()) flags.addTrue(recording->failedAt, kFailed);
    for (const exec::Failure& failure : recording->failures) flags.addTrue(failure.expr, kFailed);
    const std::vector<layout::SceneItem>& items = flags.scene().items;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i].what.kind == layout::ItemKind::Body && m_context.runs().wasTaken(items[i].what.body))
            flags.add(ItemId(i), kTaken);
}

/// Dimmed is what an end point, an error or a cancel left out: an item with an operation that was reached is not.
void CanvasMarks::dimLeftOut(SceneFlags& flags) const {
    const graph::InternalGraph& graph = m_context.model().graph();
    const auto& recording = m_context.runs().recording();
    std::vector<bool> reached(flags.scene().items.size(), false), holds(flags.scene().items.size(), false);
    bool anyLeftOut = false;
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const graph::ExprId id(i);
        if (graph.isErased(id) || layout::Outline::isConstant(graph.expr(id))) continue;
        const bool input = graph.expr(id).kind == graph::ExprKind::Input;
        // The inputs of a called module's inside say nothing of whether it was called.
        if (input && graph.expr(id).body != graph.mainId()) continue;
        const ItemId item = flags.scene().itemOf(id);
        if (!item) continue;
        const bool done = input || recording->state(id) != exec::ExprState::NotReached ||
                          (!graph.expr(id).outputs.empty() && recording->computed(graph.expr(id).outputs.front()));
        holds[item.index()] = true;
        if (done) reached[item.index()] = true;
        anyLeftOut |= !done;
    }
    if (!anyLeftOut) return;
    for (std::size_t i = 0; i < holds.size(); ++i)
        if (holds[i] && !reached[i]) flags.add(ItemId(i), kDimmed);
}

void CanvasMarks::findPassMarks() {
    using PassMark = context::OpenModel::PassMark;
    m_passFlags.clear();
    for (const auto& [node, mark] : m_context.model().passMarks())
        m_passFlags.emplace_back(m_context.model().graph().node(node).producer, mark == PassMark::Removed ? kRemoved
                                                                                : mark == PassMark::Added ? kAdded
                                                                                                          : kChanged);
}

void CanvasMarks::findUntraced() {
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

void CanvasMarks::refresh() {
    if (!m_view.painter()) return;
    const std::vector<layout::SceneItem>& items = m_view.scene()->items;
    ItemMarks made = computeFlags();
    std::vector<std::uint32_t> changedItems;
    constexpr std::size_t kMaxChanged = 256;
    for (std::uint32_t i = 0; i < items.size() && changedItems.size() <= kMaxChanged; ++i) {
        const ItemId item(std::size_t{i});
        const BlockCounts *before = m_marks.blocksOf(item), *after = made.blocksOf(item);
        const bool isSameCount = before && after ? *before == *after : before == after;
        if (m_marks.of(item) != made.of(item) || !isSameCount) changedItems.push_back(i);
    }
    static_cast<ItemMarks&>(m_marks) = std::move(made);
    if (changedItems.empty()) return;
    if (changedItems.size() > kMaxChanged) Q_EMIT areaChanged({});
    else
        for (const std::uint32_t id : changedItems) Q_EMIT areaChanged(withMargin(items[id]));
    Q_EMIT changed();
}

/// Where a pinned expression's node is drawn: on itself, or on the closed module that it is in.
Pins CanvasMarks::computePins() const {
    Pins pins;
    if (!m_view.painter() || !m_context.model().isOpen()) return pins;
    const layout::SceneLayout& scene = *m_view.scene();
    const graph::InternalGraph& graph = m_context.model().graph();
    for (const context::Watches::Entry& entry : m_context.watches().expressions()) {
        if (!entry.pin.valid() || !entry.isEnabled) continue;
        const session::ExpressionResult* const result = m_context.watches().result(entry.id);
        const ItemId item = result ? scene.itemOf(graph.node(entry.pin).producer) : ItemId();
        if (!item) continue;
        const layout::ItemDescription& what = scene.item(item).what;
        PinnedText& pinned = what.kind == layout::ItemKind::Module ? pins.ofModule[what.scope] : pins.ofExpr[what.expr];
        if (!pinned.text.isEmpty()) pinned.text += QStringLiteral(" \u00b7 ");
        pinned.text += QString::fromStdString(entry.text) +
                       (result->error ? QStringLiteral(": ") : QStringLiteral(" = ")) +
                       QString::fromStdString(result->text());
        pinned.isError = pinned.isError || result->error.has_value();
    }
    return pins;
}

void CanvasMarks::refreshPins() {
    Pins pins = computePins();
    if (pins == m_marks.pins) return;
    m_marks.pins = std::move(pins);
    Q_EMIT areaChanged({});
    Q_EMIT changed();
}

std::unordered_set<graph::ScopeId> CanvasMarks::watchedModules() {
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

/// Of a value that came later.
void CanvasMarks::refreshPreview(graph::NodeId node) {
    if (m_context.points().isWatched(node)) refreshPreviews();
}

void CanvasMarks::refreshPreviews() {
    if (!m_context.model().isOpen()) return;
    std::vector<std::pair<graph::NodeId, tensor::Value>> values;
    std::set<graph::NodeId> stale;
    std::map<graph::NodeId, double> changes;  ///< by edits
    Previews summaries;
    const bool isDebugged = m_context.runs().isDebugged();
    for (const graph::NodeId node : m_context.points().watched()) {
        const session::WatchSummary* const summary = isDebugged ? nullptr : m_context.watches().summary(node);
        if (const tensor::Value* value = m_context.runs().value(node)) values.emplace_back(node, *value);
        else if (summary) summaries.emplace(node, makePreview(*summary));
        // What the run passed and did not keep, as that of a comparison, comes later.
        else if (!isDebugged) m_context.runs().requestValue(node);
        if (m_context.runs().isStale(node)) stale.insert(node);
        if (const auto* const change = m_context.runs().change(node)) changes.emplace(node, change->maxAbsolute);
    }
    m_previewJob.start(
        [values = std::move(values), stale = std::move(stale), changes = std::move(changes),
         summaries = std::move(summaries), scheme = theme::Theme::instance().scheme()](const base::WorkContext& work) {
            auto made = std::make_shared<Previews>(summaries);
            for (const auto& [node, value] : values) {
                if (work.cancelled()) break;
                made->emplace(node, makePreview(value, scheme, work.stop));
            }
            for (const auto& [node, change] : changes)
                if (const auto shown = made->find(node); shown != made->end())
                    shown->second.range = changeText(change) + QStringLiteral("   ") + shown->second.range;
            for (auto& [node, preview] : *made)
                if (stale.contains(node)) preview = faded(std::move(preview));
            return made;
        },
        [this](const std::shared_ptr<Previews>& made) {
            if (!m_context.model().checkFiles()) made->clear();  // they may show another file's bytes
            m_marks.previews = made;
            refresh();
            const auto scene = m_view.scene();
            if (!scene) return;
            for (const graph::NodeId node : m_context.points().watched())
                if (const ItemId item = scene->itemOf(m_context.model().graph().node(node).producer))
                    Q_EMIT areaChanged(withMargin(scene->item(item)));
            Q_EMIT previewsChanged();
        });
}

}  // namespace sonde::canvas
