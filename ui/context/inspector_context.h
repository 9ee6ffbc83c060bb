#pragma once

#include <QObject>

#include <memory>
#include <vector>

#include "ui/context/breakpoints.h"
#include "ui/context/canvases.h"
#include "ui/context/comparison.h"
#include "ui/context/debugger.h"
#include "ui/context/difference_marks.h"
#include "ui/context/edits.h"
#include "ui/context/inputs.h"
#include "ui/context/job_executor.h"
#include "ui/context/loader.h"
#include "ui/context/messages.h"
#include "ui/context/model_memory.h"
#include "ui/context/navigation.h"
#include "ui/context/notes.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/problems.h"
#include "ui/context/runs.h"
#include "ui/context/session_files.h"
#include "ui/context/settings.h"
#include "ui/context/summary.h"
#include "ui/context/test_cases.h"
#include "ui/context/value_measures.h"
#include "ui/context/watches.h"

namespace sonde::context {

class Bisection;
class Engine;
class Findings;
class Gradients;
class Precision;
class SecondModel;
class Sweeps;
class Why;

/// The state of one window, for panels, canvases and the window to meet: it owns the parts below and wires them. Each
/// of them is a small object with getters for what is shown, slots for what a user does, and signals for what has
/// become of it; who shows something receives the parts that it needs. Inputs, points, runs, values and comparisons are
/// those of the session, whose work is done by Jobs. Belongs to the UI thread; no verb blocks.
class InspectorContext : public QObject {
    Q_OBJECT
  public:
    explicit InspectorContext(QObject* parent = nullptr);
    ~InspectorContext() override;

    /// What can be done without this window. Its verbs may be called; its events become the signals of the parts.
    session::Session& session() { return m_session; }
    const session::Session& session() const { return m_session; }

    OpenModel& model() { return m_model; }
    const OpenModel& model() const { return m_model; }
    Loader& loader() { return m_loader; }
    const Loader& loader() const { return m_loader; }
    Navigation& navigation() { return m_navigation; }
    const Navigation& navigation() const { return m_navigation; }
    Points& points() { return m_points; }
    const Points& points() const { return m_points; }
    Inputs& inputs() { return m_inputs; }
    const Inputs& inputs() const { return m_inputs; }
    Runs& runs() { return m_runs; }
    const Runs& runs() const { return m_runs; }
    /// A run that is gone through step by step, both ways; while there is one, runs() are about it.
    Debugger& debugger() { return m_debugger; }
    const Debugger& debugger() const { return m_debugger; }
    /// Where that run stops, and where something is written down.
    Breakpoints& breakpoints() { return m_breakpoints; }
    const Breakpoints& breakpoints() const { return m_breakpoints; }
    /// What if values were other ones.
    Edits& edits() { return m_edits; }
    const Edits& edits() const { return m_edits; }
    Canvases& canvases() { return m_canvases; }
    const Canvases& canvases() const { return m_canvases; }
    Settings& settings() { return m_settings; }
    const Settings& settings() const { return m_settings; }
    Messages& messages() { return m_messages; }
    const Messages& messages() const { return m_messages; }
    /// Mean, range, zeros … of every node's value in the last run; computed when asked for.
    ValueMeasures& valueMeasures() { return m_valueMeasures; }
    const ValueMeasures& valueMeasures() const { return m_valueMeasures; }
    /// Failures, NaN and infinity of the last run, and what of it was accepted.
    Problems& problems() { return m_problems; }
    const Problems& problems() const { return m_problems; }
    /// How far values are from those of another run, a reference file or another model.
    Comparison& comparison() { return m_comparison; }
    const Comparison& comparison() const { return m_comparison; }
    /// Those in the file of a dump.
    TestCases& testCases() { return m_testCases; }
    const TestCases& testCases() const { return m_testCases; }

    /// Expressions, groups of watch points, and what is kept of watched values.
    Watches& watches() { return m_watches; }
    const Watches& watches() const { return m_watches; }

    /// What the model is: file, parameters, cost, operators.
    Summary& summary() { return m_summary; }
    const Summary& summary() const { return m_summary; }

    /// What is written on nodes.
    Notes& notes() { return m_notes; }
    const Notes& notes() const { return m_notes; }

    /// What an element of a value is made of, and the way there.
    Why& why() { return *m_why; }
    const Why& why() const { return *m_why; }
    Gradients& gradients() { return *m_gradients; }

    /// What an audit finds in the model, once somebody asked.
    Findings& findings() { return *m_findings; }
    const Findings& findings() const { return *m_findings; }
    /// Another model beside this one, and how they differ.
    SecondModel& second() { return *m_second; }
    const SecondModel& second() const { return *m_second; }
    /// The model on many inputs.
    Sweeps& sweeps() { return *m_sweeps; }
    const Sweeps& sweeps() const { return *m_sweeps; }
    /// What is other here than in the model beside it.
    DifferenceMarks& differenceMarks() { return m_differenceMarks; }
    const DifferenceMarks& differenceMarks() const { return m_differenceMarks; }
    /// Where the model parts from another one.
    Bisection& bisection() { return *m_bisection; }
    const Bisection& bisection() const { return *m_bisection; }
    /// ONNX Runtime as the reference of the comparison.
    Engine& engine() { return *m_engine; }
    const Engine& engine() const { return *m_engine; }
    /// What a lower precision costs.
    Precision& precision() { return *m_precision; }
    const Precision& precision() const { return *m_precision; }

    /// The file that all of this is in, if it is in one.
    SessionFiles& sessionFiles() { return m_sessionFiles; }
    const SessionFiles& sessionFiles() const { return m_sessionFiles; }

    /// All of them, for who no longer wants to hear of anything.
    std::vector<QObject*> parts();

    /// True while something goes on in the background that these objects started (loading, reading, running).
    bool isBusy() const;

  private:
    class Events;

    void wireMemory();
    void followCurrent();

    JobExecutor m_executor;
    std::unique_ptr<session::Observer> m_events;
    session::Session m_session;
    Messages m_messages;
    OpenModel m_model;
    Summary m_summary;
    Navigation m_navigation;
    Points m_points;
    Notes m_notes;
    Inputs m_inputs;
    Problems m_problems;
    Debugger m_debugger;
    Breakpoints m_breakpoints;
    Edits m_edits;
    Runs m_runs;
    Canvases m_canvases;
    Settings m_settings;
    Comparison m_comparison;
    TestCases m_testCases;
    ValueMeasures m_valueMeasures;
    Watches m_watches;
    std::unique_ptr<Why> m_why;
    std::unique_ptr<Gradients> m_gradients;
    std::unique_ptr<Bisection> m_bisection;
    std::unique_ptr<Engine> m_engine;
    std::unique_ptr<Precision> m_precision;
    ModelMemory m_memory;
    SessionFiles m_sessionFiles;
    std::unique_ptr<Findings> m_findings;
    Loader m_loader;
    DifferenceMarks m_differenceMarks;
    std::unique_ptr<SecondModel> m_second;
    std::unique_ptr<Sweeps> m_sweeps;
    NodeId m_followed;  ///< where the debugged run was told to be last
};

}  // namespace sonde::context
