#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <memory>
#include <vector>

#include "core/document/document.h"
#include "core/document/native_library.h"
#include "core/layout/outline.h"
#include "core/layout/view_state.h"
#include "core/session/session.h"
#include "ui/context/file_watch.h"
#include "ui/context/focus.h"
#include "ui/context/input_spec.h"
#include "ui/context/job.h"
#include "ui/context/job_executor.h"
#include "ui/context/label_rules.h"
#include "ui/context/place.h"
#include "ui/context/selection.h"

namespace sonde::context {

class Comparison;
class Problems;
class ValueMeasures;

/// Something to tell the user: a line of the log and, if it matters now, the banner.
struct Message {
    base::Severity severity = base::Severity::Info;
    QString text;
    QString where;
    QString hint;
    NodeId node;                                           ///< what it is about, if it can be shown
    std::weak_ptr<const graph::InternalGraph> graph = {};  ///< that the node is of; report() sets it
    bool isOfRun = false;                                  ///< about one run: no more true when another one begins
};

enum class LoadState { Empty, Loading, Loaded, Failed };
using session::RunProgress;
using session::RunState;

/// The one place where panels, canvas and window meet: what is open, selected, watched, run, seen. Everything that a
/// panel shows is read from here, everything that a user does ends in one of the verbs below, and the signals tell what
/// has become of it. Inputs, points, runs, values and comparisons are those of its session, whose work is done by Jobs.
/// Belongs to the UI thread; no verb blocks.
class InspectorContext : public QObject {
    Q_OBJECT
  public:
    explicit InspectorContext(QObject* parent = nullptr);
    ~InspectorContext() override;

    // --- the model -----------------------------------------------------------------------------------------------
    LoadState loadState() const { return m_loadState; }
    /// The open document; null if there is none.
    const std::shared_ptr<const document::Document>& document() const { return m_session.document(); }
    bool hasModel() const { return document() != nullptr; }
    /// What a script can do without this window. Its verbs may be called; its events become the signals below.
    session::Session& session() { return m_session; }
    const session::Session& session() const { return m_session; }
    /// Only with a model. After a run its types are those for that run's inputs.
    const graph::InternalGraph& graph() const { return *sharedGraph(); }
    const std::shared_ptr<const graph::InternalGraph>& sharedGraph() const { return m_session.runs().graph(); }
    /// Boxes in boxes of the graph; null if there is no model.
    const std::shared_ptr<const layout::Outline>& outline() const { return m_outline; }
    /// Whether a file of the open model is no longer what was opened: its values mean nothing, and there are none until
    /// it is read again.
    bool fileHasChanged() const { return m_session.runs().fileHasChanged(); }
    /// What is being opened or was opened last: path or "zoo:NAME".
    QString location() const { return m_location; }

    // --- tracing -------------------------------------------------------------------------------------------------
    /// How the model was or is being traced. Kept for reloading; another model begins with the usual way.
    const document::OpenOptions& traceOptions() const { return m_traceOptions; }
    /// Classes that this user keeps as single nodes in every model (QSettings "tracing/leaves").
    static QStringList registeredLeaves();
    static void setRegisteredLeaves(const QStringList& classes);
    /// The document of the file itself, whichever of its graphs is shown.
    const std::shared_ptr<const document::Document>& wholeDocument() const { return m_session.whole(); }
    /// Names of the graphs that can be shown: the model's, then those of modules that were traced apart.
    QStringList graphTitles() const;
    /// Which of them is shown.
    int shownGraph() const { return m_shownGraph; }
    /// The number of a module's own graph, or of the first of its children's if it could not be traced; -1: none.
    int graphOfModule(const QString& qualname) const;
    /// What passes did to the nodes of the graph that is shown: the model's own, or the one before them.
    enum class PassMark { Removed, Added, Changed };
    std::vector<std::pair<NodeId, PassMark>> passMarks() const;
    /// The number of the graph before passes; -1: there were none.
    int graphBeforePasses() const;
    /// What the present inputs are, in the grammar of --input-data.
    QString inputData() const;

    // --- what is pointed at --------------------------------------------------------------------------------------
    const Selection& selection() const { return m_selection; }
    const Selection& hovered() const { return m_hovered; }
    /// All selected nodes: the selection's own first. Several after a box selection.
    const std::vector<NodeId>& selectedNodes() const { return m_selectedNodes; }
    Selection selectionOf(NodeId node) const;
    Selection selectionOf(ExprId expr) const;  ///< of its first output, if it has one
    Selection selectionOf(ScopeId scope) const;
    Selection selectionOf(const QString& qualname) const;  ///< of the module's first call, or the module
    bool canGoBack() const { return m_historyAt > 0; }
    bool canGoForward() const { return m_historyAt + 1 < m_history.size(); }
    /// Hits of the last search, in graph order, and which of them is current (-1: none).
    const std::vector<NodeId>& searchHits() const { return m_searchHits; }
    int currentHit() const { return m_currentHit; }

    // --- watch and end points ------------------------------------------------------------------------------------
    /// In the order in which they were set.
    const std::vector<NodeId>& watched() const { return m_session.points().watched.nodes(); }
    const std::vector<NodeId>& ends() const { return m_session.points().ends.nodes(); }
    bool isWatched(NodeId node) const { return m_session.points().watched.contains(node); }
    bool isEnd(NodeId node) const { return m_session.points().ends.contains(node); }

    // --- running -------------------------------------------------------------------------------------------------
    RunState runState() const { return m_session.runs().state(); }
    bool isRunning() const { return m_session.runs().isRunning(); }
    const RunProgress& runProgress() const { return m_runProgress; }
    /// What the last run left; null before the first. Kept while a new run goes on.
    const std::shared_ptr<const exec::Recording>& recording() const { return m_session.runs().last().recording; }
    /// The node's value: of the last run, looked up afterwards (see requestValue), a weight, or a given input; else
    /// null. Valid until the next signal.
    const tensor::Value* value(NodeId node) const { return m_session.values().of(node); }
    /// Why the last run's values are not those of the present inputs: "the inputs were changed", "x.npz changed on
    /// disk". Empty if they are, and while there is no run. Changes with inputsChanged() and with runs.
    QString staleReason() const;
    /// Whether a value of the node is one of the last run, which is stale: weights and what is given never are.
    bool isStale(NodeId node) const { return m_session.values().isStale(node); }
    /// How many values of a node the last run kept: more than one inside loops.
    std::size_t iterations(NodeId node) const { return m_session.values().iterations(node); }
    /// The value of one pass of the loop that the node is in; null if there is none.
    const tensor::Value* value(NodeId node, std::size_t iteration) const {
        return m_session.values().of(node, iteration);
    }
    /// Whether a body is a branch that the last run took, at least once.
    bool wasTaken(graph::BodyId body) const { return m_session.runs().wasTaken(body); }
    /// Whether the node was computed in the last run. True for everything before the first run.
    bool wasReached(NodeId node) const { return m_session.runs().wasReached(node); }
    /// Of the run that goes on, else of the last one.
    exec::ExprState exprState(ExprId expr) const { return m_session.runs().exprState(expr); }
    bool isLive() const { return m_session.runs().isLive(); }
    int threads() const { return static_cast<int>(m_session.runs().settings().threads); }

    // --- inputs --------------------------------------------------------------------------------------------------
    const std::vector<ModelInput>& inputs() const { return m_inputs; }
    const ModelInput* input(const QString& name) const;
    /// Why the last run did not begin: what was given cannot be read or contradicts the model. Empty of a run that
    /// began.
    const std::optional<base::Error>& refusal() const { return m_session.runs().refusal(); }

    // --- what is seen --------------------------------------------------------------------------------------------
    const layout::ViewState& view() const { return m_view; }
    /// A window has up to two canvases on its model. Each has its own view, cone and hidden operations; verbs and
    /// getters without a number are about the active one, which is where the user worked last.
    static constexpr int kCanvases = 2;
    int activeCanvas() const { return m_activeCanvas; }
    const layout::ViewState& view(int canvas) const { return canvas == m_activeCanvas ? m_view : m_otherCanvas.view; }
    /// Where a canvas looked when it was last told; of a document that was just opened, in the session before.
    const Place& place(int canvas) const { return m_places[canvas]; }
    bool isExpanded(ScopeId scope) const;
    bool folds() const { return m_view.foldFrom > 0; }
    /// The run of repeated blocks that something is in (Outline::runs()), or Outline::kNoRun.
    std::uint32_t runOf(const Selection& selection) const;
    const Focus& focus() const { return m_focus; }
    /// Whether anything was hidden by hand, besides what the focus leaves out.
    bool hidesAny() const;
    /// The operations that a selection means: a module's, or those of the selected nodes.
    std::vector<ExprId> exprsOf(const Selection& selection) const;
    const std::vector<Selection>& bookmarks() const { return m_bookmarks; }
    bool isBookmarked(const Selection& selection) const;
    /// What gives operations their colour: "category", or a column of models::nodeColumns().
    const QString& colorBy() const { return m_colorBy; }
    /// Whether edges are as wide as the tensors on them are large.
    bool edgeWidths() const { return m_edgeWidths; }
    /// Whether attributes and generated names are to be written on nodes.
    bool showsAttributes() const { return m_showAttributes; }
    bool showsNames() const { return m_showNames; }
    /// What is written on nodes in place of operator, module and name; empty: those.
    const LabelRules& labelRules() const { return m_labelRules; }
    /// Whether ONNX files that name no modules are shown with groups found in the graph (QSettings "tracing/groups").
    static bool findsGroups();
    static void setFindsGroups(bool finds);

    // --- measures ------------------------------------------------------------------------------------------------
    /// Mean, range, zeros … of every node's value in the last run; computed when asked for.
    ValueMeasures& valueMeasures() const { return *m_valueMeasures; }
    /// Failures, NaN and infinity of the last run, and what of it was accepted.
    Problems& problems() const { return *m_problems; }
    /// How far values are from those of another run, a reference file or another model.
    Comparison& comparison() const { return *m_comparison; }
    /// What the next run gets, in the order of graph().inputs(); none for what is not given.
    std::vector<tensor::Value> inputValues() const { return m_session.inputs().values(); }
    /// What the last run was given, which may have changed since. Only with a recording.
    const std::vector<tensor::Value>& runInputs() const { return m_session.runs().last().inputs; }

    // --- messages ------------------------------------------------------------------------------------------------
    /// The last ones, no more than kMaxMessages.
    const std::vector<Message>& messages() const { return m_messages; }
    static constexpr std::size_t kMaxMessages = 2000;
    /// What a message is about, if that is a node of the graph that is shown.
    NodeId nodeOf(const Message& message) const;

    /// Why an operation failed in the last run: it, or one inside of it. Null if it did not, and while another run goes
    /// on.
    const exec::Failure* failure(ExprId expr) const { return m_session.runs().failure(expr); }
    void keep() const;  ///< remembers what belongs to the model for the next time

    /// True while something goes on in the background that these objects started (loading, reading, running).
    bool isBusy() const;

  public Q_SLOTS:
    void open(const QString& model);
    /// Shows a document that was made elsewhere.
    void show(std::shared_ptr<const sonde::document::Document> document);
    void reload();
    /// Traces the open model again in another way; what is open stays until that has succeeded.
    void retrace(const sonde::document::OpenOptions& options);
    void showGraph(int graph);
    void close();
    void cancelLoading();

    /// Selects and remembers the place for going back. The canvas keeps its place; see reveal().
    void select(const sonde::context::Selection& selection);
    void select(sonde::context::NodeId node) { select(selectionOf(node)); }
    void select(sonde::context::ExprId expr) { select(selectionOf(expr)); }
    void select(sonde::context::ScopeId scope) { select(selectionOf(scope)); }
    void selectMany(const std::vector<sonde::context::NodeId>& nodes);
    void clearSelection() { select(Selection{}); }
    void hover(const sonde::context::Selection& selection);
    /// Opens everything that hides it and asks the canvas to show it.
    void reveal(const sonde::context::Selection& selection);
    /// select() and reveal(): what a link, a search hit or a tree row does.
    void navigateTo(const sonde::context::Selection& selection);
    void navigateTo(sonde::context::NodeId node) { navigateTo(selectionOf(node)); }
    void goBack();
    void goForward();
    /// Selects the module around the selection.
    void goToParent();
    void setSearchHits(std::vector<sonde::context::NodeId> hits, int current);

    void toggleWatch(sonde::context::NodeId node) { setWatched(node, !isWatched(node)); }
    void setWatched(sonde::context::NodeId node, bool watched) { m_session.setWatched(node, watched); }
    void toggleEnd(sonde::context::NodeId node) { setEnd(node, !isEnd(node)); }
    void setEnd(sonde::context::NodeId node, bool end) { m_session.setEnd(node, end); }
    void clearWatched() { m_session.clearWatched(); }
    void clearEnds() { m_session.clearEnds(); }

    /// Runs as far as watch and end points need; a run under way is superseded.
    void run();
    /// Runs until the node is computed, once, without setting an end point.
    void runTo(sonde::context::NodeId node);
    void cancel();
    void setLive(bool live);
    /// 0: one per processor. Counts from the next run on.
    void setThreads(int threads);
    /// Computes the value of a node that the last run passed but did not keep, with the same inputs, in the background.
    void requestValue(sonde::context::NodeId node) { m_session.values().request(node); }

    /// Empty spec: forgets what was given.
    /// An archive (.npz) fills every other input that it has an array for, too.
    void setInputSpec(const QString& name, const sonde::context::InputSpec& spec);
    /// A file for the model as a whole: an archive fills all inputs that it has arrays for, another one is of the first
    /// input.
    void giveFile(const QString& path);

    void setExpanded(sonde::context::ScopeId scope, bool expanded);
    void setExpanded(sonde::context::ExprId expr, bool expanded);
    /// Opens or closes a module and everything in it.
    void setExpandedRecursively(sonde::context::ScopeId scope, bool expanded);
    /// Opens exactly the modules less than `depth` levels below the top; 0 closes all.
    void expandToDepth(int depth);
    void setView(const sonde::layout::ViewState& view);
    void setDirection(sonde::layout::Direction direction);
    void setShowsConstants(bool shown);
    void setFoldsShapes(bool folded);
    void setShowsAttributes(bool shown);
    void setShowsNames(bool shown);
    void setLabelRules(const sonde::context::LabelRules& rules);
    void setActiveCanvas(int canvas);
    /// The other canvas begins with the view of the active one.
    void copyViewToOther();
    /// Tells where a canvas looks, to be remembered.
    void keepPlace(int canvas, const sonde::context::Place& place);

    /// Draws only what the selection needs, what needs it, or both; `depth` edges far, 0: however far.
    void focusCone(bool upstream, bool downstream, int depth);
    void focusConeOfSelection(bool upstream, bool downstream);
    /// Draws only the paths between the first selected node and the others; false if there are none.
    bool focusPaths();
    void isolateSelection();
    void hideSelection();
    /// Hides every operation like the selected one.
    void hideOperator();
    void showEverything();

    void setFolds(bool folds);
    void setRunFolded(std::uint32_t run, bool folded);
    void showInstance(std::uint32_t run, std::uint32_t instance);
    /// Shows the next (1) or previous (-1) instance of the run around the selection.
    void stepInstance(int step);

    void toggleBookmark(const sonde::context::Selection& selection);
    void goToBookmark(int index);
    void goToNextBookmark();

    void setColorBy(const QString& column);
    void setEdgeWidths(bool bySize);

    /// Looks at the model's files on the disk: whether they are what was opened. To be asked after reading a value and
    /// before showing it. The first time that they are not, every value goes and fileChanged() tells.
    bool checkFiles() { return m_session.runs().checkFiles(); }
    /// The same of the files that inputs were read from; inputsChanged() tells of a change.
    void checkInputFiles() { m_session.inputs().checkFiles(); }
    /// Remembers that the user agreed to run this library's code, and opens it.
    void agreeToNative(const sonde::document::NativeRequest& request);
    /// Libraries are loaded without asking (`sonde window --allow-native`).
    void setAllowsNative(bool allowed) { m_allowsNative = allowed; }

    void report(const sonde::context::Message& message);
    void report(const sonde::base::Error& error);
    void clearBanner();

  Q_SIGNALS:
    void loadStarted(const QString& location);
    void loadProgressed(const sonde::base::Progress& progress);
    void loadFailed(const sonde::base::Error& error);
    /// What is to be opened is a library whose code would run: the user is asked first. After loadFailed().
    void consentRequested(const sonde::document::NativeRequest& request);
    /// The document is about to go, for another one or for good. It is there for the last time: let go of what is kept
    /// of it.
    void documentLeft();
    /// A document is there: everything else (view, inputs, watches) is already that of the new one.
    void documentOpened();
    void documentClosed();

    void selectionChanged(const sonde::context::Selection& selection);
    void hoverChanged(const sonde::context::Selection& selection);
    void revealRequested(const sonde::context::Selection& selection);
    void historyChanged();
    void searchHitsChanged();

    void watchChanged();
    void endChanged();

    void runStarted();
    /// At most about 30 times a second.
    void runProgressed();
    /// However it ended: see runState() and recording().
    void runFinished();
    /// graph() has other types: those of the inputs that a run was given. Comes before runFinished().
    void typesChanged();
    /// requestValue() has brought it.
    void valueArrived(sonde::context::NodeId node);
    void liveChanged(bool live);

    void inputsChanged();
    /// What is to be drawn is other than before: a new layout is needed.
    void viewChanged();
    /// Verbs are about another canvas from now on.
    void activeCanvasChanged(int canvas);
    /// Only how nodes are labelled has changed.
    void labelsChanged();
    void focusChanged();
    void bookmarksChanged();
    void coloringChanged();
    /// The open file, or one that it takes its weights from, has another content than when it was read.
    void fileChanged();

    void messageReported(const sonde::context::Message& message);
    void bannerRequested(const sonde::context::Message& message);
    void bannerCleared();

  private:
    class Events;
    struct Loaded;

    void load();
    void failLoading(const base::Error& error);
    void leaveLoading();
    void askForConsent(const base::Error& error, const document::NativeRequest& request);
    void watchFiles();
    void adopt(Loaded loaded);
    void display(std::shared_ptr<const document::Document> document, std::shared_ptr<const layout::Outline> outline,
                 std::shared_ptr<const document::Document> whole);
    void recallState();
    void dropView();
    void setSelection(const Selection& selection);
    std::unique_ptr<session::Observer> makeEvents();
    void takeInputs();
    void watchInputFiles();
    void beginRun();
    void endRun();
    void reportRun(const session::Run& run);
    void reportOfRun(const base::Error& error);
    void reportProblems();
    void tellOfChangedFile(const base::Error& error, bool isNew);
    void pollRun();
    void changeView(layout::ViewState view);
    layout::ViewState firstView() const;
    void setFocus(Focus focus);
    std::vector<bool> focused();
    void applyFocus();

    JobExecutor m_executor;
    std::unique_ptr<session::Observer> m_events;
    session::Session m_session;
    Job m_load;
    QTimer m_runTimer;  ///< looks at the run that goes on, so that the worker need not post for each node

    LoadState m_loadState = LoadState::Empty;
    QString m_location;
    document::OpenOptions m_traceOptions;
    std::shared_ptr<const layout::Outline> m_outline;
    /// What follows the model's own graph: the parts that have graphs, by number; kBeforePasses.
    std::vector<int> m_graphs;
    static constexpr int kBeforePasses = -1;
    int m_shownGraph = 0;

    Selection m_selection, m_hovered;
    std::vector<NodeId> m_selectedNodes;
    std::vector<Selection> m_history;
    std::size_t m_historyAt = 0;
    std::vector<NodeId> m_searchHits;
    int m_currentHit = -1;

    RunProgress m_runProgress;
    std::vector<ModelInput> m_inputs;  ///< the session's, for views
    layout::ViewState m_view;
    Focus m_focus;
    std::vector<bool> m_hidden;  ///< by ExprId: hidden by hand; may be shorter
    /// The same of the canvas that is not active.
    struct CanvasView {
        layout::ViewState view;
        Focus focus;
        std::vector<bool> hidden;
    };
    CanvasView m_otherCanvas;
    int m_activeCanvas = 0;
    Place m_places[kCanvases];
    std::vector<Selection> m_bookmarks;
    QString m_colorBy = QStringLiteral("category");
    bool m_edgeWidths = false;
    FileWatch m_fileWatch;
    bool m_allowsNative = false;
    bool m_showAttributes = false;
    bool m_showNames = true;
    LabelRules m_labelRules;
    std::vector<Message> m_messages;
    std::unique_ptr<ValueMeasures> m_valueMeasures;
    std::unique_ptr<Comparison> m_comparison;
    std::unique_ptr<Problems> m_problems;
    FileWatch m_inputWatch;  ///< of the files that inputs were read from
};

}  // namespace sonde::context
