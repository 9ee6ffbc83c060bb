#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/document/document.h"
#include "core/exec/run.h"
#include "core/layout/outline.h"
#include "core/layout/view_state.h"
#include "ui/context/input_spec.h"
#include "ui/context/job.h"
#include "ui/context/selection.h"

namespace sonde::context {

/// Something to tell the user: a line of the log and, if it matters now, the banner.
struct Message {
    base::Severity severity = base::Severity::Info;
    QString text;
    QString where;
    QString hint;
    NodeId node;  ///< what it is about, if it can be shown
};

enum class LoadState { Empty, Loading, Loaded, Failed };
enum class RunState { NotRun, Running, Finished, Failed, Cancelled };

/// How far a run is.
struct RunProgress {
    ExprId current;         ///< computed now
    std::size_t done = 0;
    std::size_t total = 0;
};

/// The one place where panels, canvas and window meet: what is open, selected, watched, run, seen. Everything that a
/// panel shows is read from here, everything that a user does ends in one of the verbs below, and the signals tell what
/// has become of it. Belongs to the UI thread; no verb blocks: loading, reading inputs and running are Jobs.
class InspectorContext : public QObject {
    Q_OBJECT
  public:
    explicit InspectorContext(QObject* parent = nullptr);
    ~InspectorContext() override;

    // --- the model -----------------------------------------------------------------------------------------------
    LoadState loadState() const { return m_loadState; }
    /// The open document; null if there is none.
    const std::shared_ptr<const document::Document>& document() const { return m_document; }
    bool hasModel() const { return m_document != nullptr; }
    /// Only with a model.
    const graph::InternalGraph& graph() const { return *m_document->graph; }
    /// Boxes in boxes of the graph; null if there is no model.
    const std::shared_ptr<const layout::Outline>& outline() const { return m_outline; }
    /// What is being opened or was opened last: path or "zoo:NAME".
    QString location() const { return m_location; }

    // --- tracing -------------------------------------------------------------------------------------------------
    /// How the model was or is being traced. Kept for reloading; another model begins with the usual way.
    const document::OpenOptions& traceOptions() const { return m_traceOptions; }
    /// Classes that this user keeps as single nodes in every model (QSettings "tracing/leaves").
    static QStringList registeredLeaves();
    static void setRegisteredLeaves(const QStringList& classes);
    /// The document of the file itself, whichever of its graphs is shown.
    const std::shared_ptr<const document::Document>& wholeDocument() const { return m_whole; }
    /// Names of the graphs that can be shown: the model's, then those of modules that were traced apart.
    QStringList graphTitles() const;
    /// Which of them is shown.
    int shownGraph() const { return m_shownGraph; }
    /// The number of a module's own graph, or of the first of its children's if it could not be traced; -1: none.
    int graphOfModule(const QString& qualname) const;
    /// What passes did to the nodes of the graph that is shown: the model's own, or the one before them.
    enum class PassMark { Went, Came, Changed };
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
    Selection selectionOf(ExprId expr) const;   ///< of its first output, if it has one
    Selection selectionOf(ScopeId scope) const;
    Selection selectionOf(const QString& qualname) const;  ///< of the module's first call, or the module
    bool canGoBack() const { return m_historyAt > 0; }
    bool canGoForward() const { return m_historyAt + 1 < m_history.size(); }
    /// Hits of the last search, in graph order, and which of them is current (-1: none).
    const std::vector<NodeId>& searchHits() const { return m_searchHits; }
    int currentHit() const { return m_currentHit; }

    // --- watch and end points ------------------------------------------------------------------------------------
    /// In the order in which they were set.
    const std::vector<NodeId>& watched() const { return m_watched; }
    const std::vector<NodeId>& ends() const { return m_ends; }
    bool isWatched(NodeId node) const;
    bool isEnd(NodeId node) const;

    // --- running -------------------------------------------------------------------------------------------------
    RunState runState() const { return m_runState; }
    bool isRunning() const { return m_runState == RunState::Running; }
    const RunProgress& runProgress() const { return m_runProgress; }
    /// What the last run left; null before the first. Kept while a new run goes on.
    const std::shared_ptr<const exec::Recording>& recording() const { return m_recording; }
    /// The node's value: of the last run, looked up afterwards (see requestValue), a weight, or a given input; else null.
    /// Valid until the next signal.
    const tensor::Value* value(NodeId node) const;
    /// Whether the node was computed in the last run. True for everything before the first run.
    bool wasReached(NodeId node) const;
    /// Of the run that goes on, else of the last one.
    exec::ExprState exprState(ExprId expr) const;
    bool isLive() const { return m_live; }
    int threads() const { return m_threads; }

    // --- inputs --------------------------------------------------------------------------------------------------
    const std::vector<ModelInput>& inputs() const { return m_inputs; }
    const ModelInput* input(const QString& name) const;

    // --- what is seen --------------------------------------------------------------------------------------------
    const layout::ViewState& view() const { return m_view; }
    bool isExpanded(ScopeId scope) const;
    /// Whether attributes and generated names are to be written on nodes.
    bool showsAttributes() const { return m_showAttributes; }
    bool showsNames() const { return m_showNames; }

    // --- messages ------------------------------------------------------------------------------------------------
    const std::vector<Message>& messages() const { return m_messages; }

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
    void setWatched(sonde::context::NodeId node, bool watched);
    void toggleEnd(sonde::context::NodeId node) { setEnd(node, !isEnd(node)); }
    void setEnd(sonde::context::NodeId node, bool end);
    void clearWatched();
    void clearEnds();

    /// Runs as far as watch and end points need; a run under way is superseded.
    void run();
    /// Runs until the node is computed, once, without setting an end point.
    void runTo(sonde::context::NodeId node);
    void cancel();
    void setLive(bool live);
    /// 0: one per processor. Counts from the next run on.
    void setThreads(int threads);
    /// Computes the value of a node that the last run passed but did not keep, with the same inputs, in the background.
    void requestValue(sonde::context::NodeId node);

    /// Empty spec: forgets what was given.
    void setInputSpec(const QString& name, const sonde::context::InputSpec& spec);

    void setExpanded(sonde::context::ScopeId scope, bool expanded);
    void setExpanded(sonde::context::ExprId expr, bool expanded);
    /// Opens or closes a module and everything in it.
    void setExpandedRecursively(sonde::context::ScopeId scope, bool expanded);
    /// Opens exactly the modules less than `depth` levels below the top; 0 closes all.
    void expandToDepth(int depth);
    void setView(const sonde::layout::ViewState& view);
    void setDirection(sonde::layout::Direction direction);
    void setShowsConstants(bool shown);
    void setShowsAttributes(bool shown);
    void setShowsNames(bool shown);

    void report(const sonde::context::Message& message);
    void report(const sonde::base::Error& error);
    void clearBanner();

  Q_SIGNALS:
    void loadStarted(const QString& location);
    void loadProgressed(const sonde::base::Progress& progress);
    void loadFailed(const sonde::base::Error& error);
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
    /// requestValue() has brought it.
    void valueArrived(sonde::context::NodeId node);
    void liveChanged(bool live);

    void inputsChanged();
    /// What is to be drawn is other than before: a new layout is needed.
    void viewChanged();
    /// Only how nodes are labelled has changed.
    void labelsChanged();

    void messageReported(const sonde::context::Message& message);
    void bannerRequested(const sonde::context::Message& message);
    void bannerCleared();

  private:
    struct LiveRun;
    struct RunResult;
    struct Loaded;
    struct ReadInputs;

    void load();
    void adopt(Loaded loaded);
    void display(std::shared_ptr<const document::Document> document, std::shared_ptr<const layout::Outline> outline);
    void dropDocument();
    void setSelection(const Selection& selection);
    void startReading();
    void finishReading(ReadInputs read);
    void startRun();
    void finishRun(RunResult result);
    void failRun(const base::Error& error);
    void pollRun();
    void startPeek();
    bool inputsAreRead() const;
    std::vector<tensor::Value> inputValues() const;
    void changeView(layout::ViewState view);
    layout::ViewState firstView() const;
    void watchesChanged();
    void endsChanged();
    void keep() const;  ///< remembers what belongs to the model for the next time

    Job m_load;
    Job m_readJob;
    Job m_runJob;
    Job m_peekJob;
    QTimer m_runTimer;  ///< looks at the run that goes on, so that the worker need not post for each node

    LoadState m_loadState = LoadState::Empty;
    QString m_location;
    document::OpenOptions m_traceOptions;
    std::shared_ptr<const document::Document> m_whole;     ///< of the file
    std::shared_ptr<const document::Document> m_document;  ///< what is shown: the whole, or one of its further graphs
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

    std::vector<NodeId> m_watched, m_ends;

    RunState m_runState = RunState::NotRun;
    RunProgress m_runProgress;
    std::shared_ptr<LiveRun> m_liveRun;
    std::shared_ptr<const exec::Recording> m_recording;
    std::vector<NodeId> m_outputNodes;           ///< which nodes the recording's outputs are of
    std::map<NodeId, tensor::Value> m_peeked;    ///< looked up after the last run
    std::vector<NodeId> m_peekWanted;
    exec::PlanOptions m_wantedRun;               ///< what to run once the inputs are read
    bool m_runWanted = false;
    std::shared_ptr<exec::Runner> m_runner, m_peekRunner;  ///< used by their jobs alone
    bool m_live = false;
    int m_threads = 0;

    std::vector<ModelInput> m_inputs;
    layout::ViewState m_view;
    bool m_showAttributes = false;
    bool m_showNames = true;
    std::vector<Message> m_messages;
};

}  // namespace sonde::context
