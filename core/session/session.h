#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/document/document.h"
#include "core/document/reference.h"
#include "core/io/session_file/session_file.h"
#include "core/session/comparison.h"
#include "core/session/debugger.h"
#include "core/session/edits/edits.h"
#include "core/session/expression_watches.h"
#include "core/session/node_statistics.h"
#include "core/session/notes.h"
#include "core/session/test_cases.h"
#include "core/session/values.h"

namespace sonde::session {

/// The debugger without a window: an opened model with what it is given, what is looked at, what runs left and how far
/// that is from other runs.
///
///     Session session;
///     SONDE_TRY(session.open("model.onnx"));
///     session.setWatched(*session.document()->findNode("conv1"), true);
///     SONDE_TRY(session.runs().give("input", {"photo.png"}));
///     session.runs().run();                                      // returns when the run is done
///     const tensor::Value* value = session.values().of(node);
///
/// Threads: a session and all its parts belong to one thread, on which every function is called and on which the
/// observer is told of events. The exception is stop(), which may come from any thread. Work (reading inputs, running,
/// computing again, comparing) is handed to an executor. With the InlineExecutor, which is there by default, each verb
/// blocks until its work and what follows from it is done; with one that has threads, verbs return at once and results
/// arrive later on the session's thread. The work itself touches nothing of the session but the atomics behind
/// Runs::progress(). open(), readCases() and check() block in any case.
class Session : private Observer {
  public:
    /// Everything is done on the calling thread; `work` stops all of it and is told of its progress.
    explicit Session(base::WorkContext work = {});
    /// Both outlive the session.
    explicit Session(Executor& executor, Observer* observer = nullptr);
    ~Session() override;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Null: nobody is told.
    void setObserver(Observer* observer);

    // --- the document ------------------------------------------------------------------------------------------------
    /// Opens a model (document::open) and shows it. The points of the document before are found again by name, module
    /// or structure (see IdentityIndex::find), and the observer is told how, if not all were by name. Blocks. Errors
    /// leave what was open.
    base::Result<void> open(const std::string& model, const document::OpenOptions& options = {});
    /// A document that was opened elsewhere. `whole`: the one of the file, where `document` is a part of it.
    void show(std::shared_ptr<const document::Document> document,
              std::shared_ptr<const document::Document> whole = nullptr);
    void close();
    /// Null if there is none.
    const std::shared_ptr<const document::Document>& document() const { return m_document; }
    const std::shared_ptr<const document::Document>& whole() const { return m_whole; }

    // --- watch and end points ----------------------------------------------------------------------------------------
    const Points& points() const { return m_points; }
    void setWatched(graph::NodeId node, bool watched);
    void setEnd(graph::NodeId node, bool end);
    void clearWatched();
    void clearEnds();
    /// Watches many nodes at once: a module, a call, a query, everything. Errors: see WatchGroups::add().
    base::Result<void> addWatchGroup(WatchGroup group);
    /// In place of the group at `index`. Errors: as addWatchGroup(); there is no such group.
    base::Result<void> changeWatchGroup(std::size_t index, WatchGroup group);
    void removeWatchGroup(std::size_t index);
    /// A watch or end point that the model has no node for is not kept any longer.
    void forgetMissing(const NodeIdentity& missing);
    /// In place of those there are; tells nobody. So are all that follow.
    void restorePoints(const std::vector<graph::NodeId>& watched, const std::vector<graph::NodeId>& ends);
    /// The same by what PointSet::identities() gave, perhaps of another export of the model.
    void restorePoints(const std::vector<NodeIdentity>& watched, const std::vector<NodeIdentity>& ends);
    void restorePoints(PointSet watched, PointSet ends);
    void restoreWatchGroups(std::vector<WatchGroup> groups);

    // --- its parts ---------------------------------------------------------------------------------------------------
    Inputs& inputs() { return m_inputs; }
    const Inputs& inputs() const { return m_inputs; }
    Runs& runs() { return m_runs; }
    const Runs& runs() const { return m_runs; }
    Values& values() { return m_values; }
    const Values& values() const { return m_values; }
    Problems& problems() { return m_problems; }
    const Problems& problems() const { return m_problems; }
    Comparison& comparison() { return m_comparison; }
    const Comparison& comparison() const { return m_comparison; }
    /// Of a dump.
    TestCases& testCases() { return m_testCases; }
    const TestCases& testCases() const { return m_testCases; }
    /// Mean, range, zeros … of every node's value in the last run; computed when asked for.
    NodeStatistics& statistics() { return m_statistics; }
    const NodeStatistics& statistics() const { return m_statistics; }

    /// Expressions that are computed after each run, and the history of watched nodes and expressions.
    ExpressionWatches& expressionWatches() { return m_expressions; }
    const ExpressionWatches& expressionWatches() const { return m_expressions; }
    const History& history() const { return m_expressions.history(); }

    /// A run that is gone through step by step, both ways.
    Debugger& debugger() { return m_debugger; }
    const Debugger& debugger() const { return m_debugger; }

    /// What if values were other ones. A run of the debugger follows them.
    Edits& edits() { return m_edits; }
    const Edits& edits() const { return m_edits; }
    /// The same with the values that the debugger's run has now. Usage error: it goes on.
    base::Result<void> addEdit(graph::NodeId target, Edit edit, EditPlace& place, const base::WorkContext& work = {});
    /// A change of a copy of the edits, given the values that there are.
    using EditChange = std::function<base::Result<void>(Edits& edits, const Edits::Present& present, EditPlace& place,
                                                        const base::WorkContext& work)>;
    using EditChanged = std::function<void(base::Result<void> changed, const EditPlace& place)>;
    /// Changes edits by work of the executor. A run of the debugger stands still meanwhile (DebugState::Running), and
    /// then follows. `changed` is told on the session's thread how that went: not if the run or the model is gone
    /// before. Errors: those of `change`, of which nothing remains; Usage: the run goes on.
    void changeEdits(EditChange change, EditChanged changed);

    /// What is written on nodes.
    const Notes& notes() const { return m_notes; }
    /// An empty text removes the note.
    void setNote(graph::NodeId node, std::string text);
    /// In place of those there are; tells nobody.
    void restoreNotes(const std::vector<Notes::Kept>& notes);

    // --- its file: see session_state.h -------------------------------------------------------------------------------
    /// What a session file has that a session does not know itself: input data of the command line, the window's view.
    const io::SessionFile& fileBase() const { return m_fileBase; }
    /// The folder that file names in it are relative to; none: they are as the command line has them.
    const std::optional<std::filesystem::path>& fileFolder() const { return m_fileFolder; }
    void setFileBase(io::SessionFile base, std::optional<std::filesystem::path> folder = {});

    /// Marks bad values of a node as intended, or not any more, and finds the last run's problems again.
    void setAccepted(graph::NodeId node, bool accepted);

    // --- for scripts -------------------------------------------------------------------------------------------------
    /// The inputs that a text of the command line gives, a case for each run: see session::readCases(). Blocks. Only
    /// with a document.
    base::Result<std::vector<io::InputCase>> readCases(const InputData& data) const;
    /// Runs every case of a reference file and compares all that it holds, within the comparison's tolerances. Blocks;
    /// the session's own run and inputs stay. Only with a document. See document::compareWithReference().
    base::Result<document::ReferenceComparison> check(const std::string& reference,
                                                      const std::map<std::string, tensor::Tensor>& given = {}) const;
    /// Where its cases depart from the reference; see document::findDivergence(). Blocks.
    base::Result<std::vector<analysis::Problem>> findDivergence(const document::ReferenceComparison& compared) const;

    /// From any thread: what goes on (a run, reading, computing again, a comparison) ends as soon as possible, as
    /// cancelled. What begins later goes on.
    void stop();

  private:
    void leave();
    WatchGroups::Facts facts();
    void tellFound(const PointSet& points, const std::string& what);

    // The parts tell the session, which tells the other parts and then the observer.
    void documentLeft() override;
    void documentOpened() override;
    void fileChanged(const base::Error& error, bool isNew) override;
    void watchChanged() override;
    void endChanged() override;
    void inputsChanged() override;
    void inputsRead() override;
    void runStarted() override;
    void typesChanged() override;
    void runFinished() override;
    void valueArrived(graph::NodeId node) override;
    void problemsChanged() override;
    void comparisonStarted() override;
    void comparisonMade() override;
    void comparisonChanged() override;
    void testCasesChanged() override;
    void statisticsChanged() override;
    void expressionsChanged() override;
    void debuggerChanged() override;
    void breakpointsChanged() override;
    void notesChanged() override;
    void editsChanged() override;
    void told(const Notice& notice) override;
    void failed(const base::Error& error) override;

    base::WorkContext m_work;
    std::unique_ptr<InlineExecutor> m_inline;
    Executor& m_executor;
    Observer m_nobody;
    Observer* m_observer;
    std::shared_ptr<const document::Document> m_document, m_whole;
    Points m_points;
    Inputs m_inputs;
    Problems m_problems;
    Runs m_runs;
    Values m_values;
    Comparison m_comparison;
    TestCases m_testCases;
    NodeStatistics m_statistics;
    Edits m_edits;
    StopSwitch m_editStop;  ///< of changing them without a run
    Debugger m_debugger;
    ExpressionWatches m_expressions;
    Notes m_notes;
    io::SessionFile m_fileBase;
    std::optional<std::filesystem::path> m_fileFolder;
};

}  // namespace sonde::session
