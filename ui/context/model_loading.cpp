// The part of InspectorContext that opens models and keeps what is remembered of them.

#include <algorithm>

#include "ui/context/background.h"
#include "ui/context/comparison.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/problems.h"
#include "ui/context/remembered.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

struct InspectorContext::Loaded {
    std::shared_ptr<const document::Document> document;
    std::shared_ptr<const layout::Outline> outline;
    std::optional<base::Error> error;
    std::optional<document::NativeRequest> request;  ///< what the user must agree to first
};

namespace {

/// A graph with no more operations than this is shown with every module open.
constexpr std::uint32_t kSmallGraph = 24;

/// So many findings of a file are listed one by one: nobody reads more, and each takes time in every list that shows
/// it.
constexpr std::size_t kFindingsTold = 300;

QString textOf(const std::string& text) { return QString::fromStdString(text); }

/// What a run computes: without inputs, constants and the output, as `sonde info` and `sonde run` count.
std::size_t operationCount(const graph::InternalGraph& graph, const layout::Outline::Group& root) {
    const auto isOutput = [&graph](graph::ExprId id) { return graph.expr(id).kind == graph::ExprKind::Output; };
    const auto outputs = static_cast<std::size_t>(std::ranges::count_if(graph.main().order, isOutput));
    const std::size_t others = root.constants + graph.inputs().size() + outputs;
    return root.exprs > others ? root.exprs - others : 0;
}

}  // namespace

void InspectorContext::open(const QString& model) {
    if (model != m_location) m_traceOptions = {};
    m_location = model;
    load();
}

void InspectorContext::load() {
    m_loadState = LoadState::Loading;
    m_traceOptions.groups = findsGroups();
    m_traceOptions.allowNative = m_allowsNative;
    m_traceOptions.registeredLeaves.clear();
    for (const QString& leaf : registeredLeaves()) m_traceOptions.registeredLeaves.push_back(leaf.toStdString());
    Q_EMIT bannerCleared();
    Q_EMIT loadStarted(m_location);
    m_load.start(
        [path = m_location.toStdString(), options = m_traceOptions](const base::WorkContext& work) {
            Loaded loaded;
            auto opened = document::open(path, options, work);
            if (!opened) {
                loaded.error = std::move(opened).error();
                if (!options.allowNative) loaded.request = document::nativeRequest(path);
                return loaded;
            }
            if (work.cancelled()) {
                loaded.error = base::cancelled("opening the model");
                return loaded;
            }
            loaded.document = *opened;
            loaded.outline = std::make_shared<layout::Outline>(loaded.document->graph);
            fetchRemembered(*loaded.document);
            return loaded;
        },
        [this](Loaded loaded) {
            loaded.request ? askForConsent(*loaded.error, *loaded.request)
            : loaded.error ? failLoading(*loaded.error)
                           : adopt(std::move(loaded));
        });
}

/// Not an error but a question, which stands until it is answered.
void InspectorContext::askForConsent(const base::Error& error, const document::NativeRequest& request) {
    leaveLoading();
    Q_EMIT loadFailed(error);
    Q_EMIT consentRequested(request);
}

void InspectorContext::agreeToNative(const document::NativeRequest& request) {
    if (const auto remembered = document::agreeToNative(request.hash, request.path); !remembered)
        return report(remembered.error());
    report(Message{base::Severity::Info,
                   tr("Agreed to run %1").arg(textOf(request.path.filename().string())),
                   tr("SHA-256 %1").arg(textOf(request.hash)),
                   {},
                   {}});
    // The file is read again: should it have another content by now, that is asked about.
    open(textOf(request.location));
}

/// What was open stays: a typing mistake must not take the user's model away, nor be what is reloaded or traced again.
void InspectorContext::failLoading(const base::Error& error) {
    leaveLoading();
    if (error.kind != base::ErrorKind::Cancelled) report(error);
    Q_EMIT loadFailed(error);
}

void InspectorContext::leaveLoading() {
    m_loadState = document() ? LoadState::Loaded : LoadState::Failed;
    if (wholeDocument()) {
        m_location = textOf(wholeDocument()->location);
        m_traceOptions = wholeDocument()->options;
    }
}

void InspectorContext::show(std::shared_ptr<const document::Document> document) {
    m_load.abandon();
    auto outline = std::make_shared<const layout::Outline>(document->graph);
    m_location = textOf(document->location);
    adopt({std::move(document), std::move(outline), {}});
}

void InspectorContext::reload() {
    if (!m_location.isEmpty()) open(QString(m_location));
}

/// At once for who asked: the work itself ends where it next looks.
void InspectorContext::cancelLoading() {
    if (m_loadState != LoadState::Loading) return;
    m_load.abandon();
    failLoading(base::cancelled("opening the model"));
}

void InspectorContext::close() {
    cancelLoading();
    m_loadState = LoadState::Empty;
    m_location.clear();
    if (!document()) return;
    keep();
    m_fileWatch.watch({});
    m_session.close();
    dropView();
    m_graphs.clear();
    m_shownGraph = 0;
    m_traceOptions = {};
    Q_EMIT bannerCleared();
    Q_EMIT documentClosed();
}

/// What was seen of the document that has gone.
void InspectorContext::dropView() {
    context::freeLater(std::exchange(m_outline, {}));
    m_runTimer.stop();
    m_runProgress = {};
    m_selection = m_hovered = {};
    m_selectedNodes.clear();
    m_history.clear();
    m_historyAt = 0;
    m_searchHits.clear();
    m_currentHit = -1;
    m_inputs.clear();
    m_view = {};
    m_focus = {};
    m_hidden.clear();
    m_otherCanvas = {};
    m_places[0] = m_places[1] = {};
    m_bookmarks.clear();
}

/// Shows a graph in place of the one that is shown, with what is remembered of it.
void InspectorContext::display(std::shared_ptr<const document::Document> document,
                               std::shared_ptr<const layout::Outline> outline,
                               std::shared_ptr<const document::Document> whole) {
    m_session.show(std::move(document), std::move(whole));
    dropView();
    m_outline = std::move(outline);
    recallState();
    keep();
}

void InspectorContext::recallState() {
    Remembered state = recall(*document());
    m_session.restorePoints(state.watched, state.ends);
    m_session.problems().restoreAccepted(std::move(state.accepted));
    m_comparison->restoreTolerance(state.tolerance);
    for (const NodeId node : state.bookmarkedNodes) m_bookmarks.push_back(selectionOf(node));
    for (const ScopeId scope : state.bookmarkedScopes) m_bookmarks.push_back(selectionOf(scope));
    m_view = state.view ? *state.view : firstView();
    m_otherCanvas.view = state.secondView ? *state.secondView : m_view;
    if (m_activeCanvas == 1) std::swap(m_view, m_otherCanvas.view);
    m_places[0] = state.place;
    m_places[1] = state.secondPlace;
    for (const auto& [name, spec] : state.inputs) m_session.inputs().restore(name.toStdString(), spec.plain());
    for (const session::Input& input : m_session.inputs().all()) m_inputs.push_back(ModelInput::from(input));
}

layout::ViewState InspectorContext::firstView() const {
    layout::ViewState view;
    view.foldFrom = kFoldFrom;
    const layout::Outline::Group& root = m_outline->group(m_outline->root());
    if (root.exprs - root.constants <= kSmallGraph)
        layout::openToDepth(*m_outline, view, layout::greatestDepth(*m_outline));
    return view;
}

void InspectorContext::adopt(Loaded loaded) {
    // Reloading keeps the selection, by name.
    const bool same = document() && document()->location == loaded.document->location;
    const std::string selected = same && m_selection.node.valid() ? graph().node(m_selection.node).name : std::string();
    if (document()) keep();
    m_graphs.clear();
    if (loaded.document->original) m_graphs.push_back(kBeforePasses);
    for (std::size_t i = 0; i < loaded.document->parts.size(); ++i)
        if (loaded.document->parts[i].graph) m_graphs.push_back(static_cast<int>(i));
    m_shownGraph = 0;
    m_loadState = LoadState::Loaded;
    display(loaded.document, std::move(loaded.outline), loaded.document);
    report(Message{base::Severity::Info,
                   tr("Opened %1: %2, %3 operations")
                       .arg(textOf(document()->title), textOf(document()->format),
                            countText(operationCount(*document()->graph, m_outline->group(m_outline->root())))),
                   textOf(document()->location),
                   {},
                   {}});
    std::size_t told = 0;
    for (const base::Diagnostic& found : document()->diagnostics) {
        if (told++ == kFindingsTold) break;
        report(Message{found.severity, textOf(found.what), windowPlace(found.where), windowHint(found.hint),
                       graph().findNode(found.where)});
    }
    if (const std::size_t all = document()->diagnostics.size(); all > kFindingsTold)
        report(Message{base::Severity::Info,
                       tr("%1 more messages are not listed").arg(countText(all - kFindingsTold)),
                       textOf(document()->location),
                       {},
                       {}});
    watchFiles();
    Q_EMIT documentOpened();
    Q_EMIT historyChanged();
    const NodeId again = selected.empty() ? NodeId() : graph().findNode(selected);
    if (again.valid()) select(selectionOf(again));
}

void InspectorContext::keep() const {
    if (!document()) return;
    Remembered state{
        watched(), ends(), {}, {}, {}, view(0), view(1), m_problems->accepted(), m_comparison->keptTolerance()};
    for (const Selection& bookmark : m_bookmarks) {
        if (bookmark.node.valid()) state.bookmarkedNodes.push_back(bookmark.node);
        else if (bookmark.scope.valid()) state.bookmarkedScopes.push_back(bookmark.scope);
    }
    for (const ModelInput& input : m_inputs) state.inputs.emplace_back(input.name, input.spec);
    remember(document(), std::move(state));
}

}  // namespace sonde::context
