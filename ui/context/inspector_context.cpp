#include "ui/context/inspector_context.h"

#include <utility>

#include "ui/context/bisection.h"
#include "ui/context/engine.h"
#include "ui/context/findings.h"
#include "ui/context/gradients.h"
#include "ui/context/lessons.h"
#include "ui/context/outputs.h"
#include "ui/context/precision.h"
#include "ui/context/profile.h"
#include "ui/context/second_model.h"
#include "ui/context/stored.h"
#include "ui/context/sweeps.h"
#include "ui/context/weights.h"
#include "ui/context/why.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

/// Makes signals of what the session tells. On the UI thread.
class InspectorContext::Events : public session::Observer {
  public:
    explicit Events(InspectorContext& context) : m_context(context) {}

    void documentLeft() override {
        m_context.m_edits.reset();
        m_context.m_debugger.reset();
        m_context.m_watches.reset();
        m_context.m_notes.reset();
        m_context.m_findings->reset();
        Q_EMIT m_context.m_model.documentLeft();
    }
    void fileChanged(const base::Error& error, bool isNew) override {
        if (isNew)
            m_context.m_messages.report(Message{base::Severity::Warning,
                                                QString::fromStdString(error.what),
                                                windowPlace(error.where),
                                                tr("Reload the model to see values again"),
                                                {}});
        m_context.m_debugger.reset();
        Q_EMIT m_context.m_model.fileChanged();
    }
    void watchChanged() override { Q_EMIT m_context.m_points.watchChanged(); }
    void endChanged() override { Q_EMIT m_context.m_points.endChanged(); }
    void inputsChanged() override {
        m_context.m_inputs.take();
        m_context.m_runs.followInputs();
        m_context.m_findings->noteInputs();
        m_hasOtherInputs = true;
        Q_EMIT m_context.m_inputs.inputsChanged();
    }
    void inputsRead() override { m_context.m_inputs.watchFiles(); }
    void runStarted() override {
        m_context.m_debugger.end();
        m_context.m_runs.begin();
    }
    void typesChanged() override { Q_EMIT m_context.m_model.typesChanged(); }
    /// Live, other inputs are looked at with the edits, as when a run is asked for: a plain run is theirs without.
    void runFinished() override {
        m_context.m_runs.end();
        const bool isOfOthers = std::exchange(m_hasOtherInputs, false);
        const session::Runs& runs = m_context.m_session.runs();
        if (isOfOthers && runs.isLive() && runs.state() == RunState::Finished && m_context.m_edits.areOn())
            m_context.m_edits.run();
    }
    void valueArrived(NodeId node) override { Q_EMIT m_context.m_runs.valueArrived(node); }
    void problemsChanged() override { Q_EMIT m_context.m_problems.changed(); }
    /// What was compared is what is looked at: a run with edits, if there are any.
    void comparisonMade() override {
        if (m_context.m_comparison.editCount() > 0 && !m_context.m_edits.isCounterfactual())
            m_context.m_debugger.restart();
    }
    void comparisonStarted() override { Q_EMIT m_context.m_comparison.started(); }
    void comparisonChanged() override {
        m_context.m_sessionFiles.saveSoon();
        m_context.m_comparison.follow();
    }
    void testCasesChanged() override { Q_EMIT m_context.m_testCases.changed(); }
    void statisticsChanged() override { Q_EMIT m_context.m_valueMeasures.changed(); }
    void expressionsChanged() override {
        m_context.m_sessionFiles.saveSoon();
        m_context.m_watches.follow();
    }
    void debuggerChanged() override {
        m_context.m_debugger.follow();
        m_context.m_edits.next();
    }
    void breakpointsChanged() override {
        m_context.m_sessionFiles.saveSoon();
        Q_EMIT m_context.m_debugger.breakpointsChanged();
    }
    void notesChanged() override {
        m_context.m_sessionFiles.saveSoon();
        Q_EMIT m_context.m_notes.changed();
    }
    void editsChanged() override {
        m_context.m_debugger.forgetValues();
        m_context.m_sessionFiles.saveSoon();
        m_context.m_edits.follow();
    }
    void told(const session::Notice& notice) override {
        Message message{notice.severity, QString::fromStdString(notice.what), windowPlace(notice.where),
                        windowHint(notice.hint), notice.node};
        message.isDifference = notice.isDifference;
        m_context.m_messages.report(message);
    }
    void failed(const base::Error& error) override { m_context.m_messages.report(error); }

    /// What there is from now on counts as given.
    void noteLive(bool isLive) { m_hasOtherInputs = m_hasOtherInputs || isLive; }

  private:
    InspectorContext& m_context;
    bool m_hasOtherInputs = false;  ///< than the last run
};

namespace {

ModelSide sideOf(InspectorContext& context) {
    return {context.session(),
            context.model(),
            context.loader(),
            context.navigation(),
            context.inputs(),
            context.runs(),
            context.comparison(),
            context.settings(),
            context.sessionFiles(),
            context.messages(),
            context.differenceMarks(),
            [&context] { return context.isBusy(); },
            [&context] { return context.parts(); }};
}

SecondModel::Other makeOther() {
    auto context = std::make_shared<InspectorContext>();
    const ModelSide side = sideOf(*context);
    return {std::move(context), side};
}

}  // namespace

InspectorContext::InspectorContext(QObject* parent)
    : QObject(parent), m_events(std::make_unique<Events>(*this)), m_session(m_executor, m_events.get()),
      m_messages(m_session), m_model(m_session), m_summary(m_session, m_model), m_navigation(m_session, m_model),
      m_points(m_session), m_notes(m_session), m_inputs(m_session, m_messages), m_problems(m_session),
      m_debugger(m_session, m_messages), m_breakpoints(m_session, m_debugger, m_messages),
      m_edits(m_session, m_debugger, m_messages), m_runs(m_session, m_debugger, m_problems, m_messages),
      m_canvases(m_model, m_navigation, m_messages), m_comparison(m_session.comparison()),
      m_testCases(m_session.testCases(), m_session.comparison()), m_valueMeasures(m_session.statistics()),
      m_watches(m_session, m_debugger, m_messages),
      m_why(std::make_unique<Why>(m_session, m_debugger, m_runs, m_navigation, m_model)),
      m_gradients(std::make_unique<Gradients>(m_session, m_debugger, m_runs, m_model)),
      m_bisection(std::make_unique<Bisection>(m_session, m_model)),
      m_engine(std::make_unique<Engine>(m_session, m_model, m_comparison, m_messages)),
      m_precision(std::make_unique<Precision>(m_session, m_model)),
      m_memory({m_session, m_model, m_navigation, m_canvases, m_inputs, m_runs, m_comparison}),
      m_sessionFiles(m_session, m_model, m_canvases, m_messages),
      m_findings(std::make_unique<Findings>(m_session, m_sessionFiles, m_messages)),
      m_loader(m_session, m_model, m_navigation, m_memory, m_sessionFiles, m_messages),
      m_second(std::make_unique<SecondModel>(sideOf(*this), makeOther)),
      m_sweeps(std::make_unique<Sweeps>(m_session, m_messages)) {
    qRegisterMetaType<Selection>();
    new Weights(m_model, m_messages, this);
    new Profile(m_model, this);
    new Outputs(m_session, m_model, m_runs, m_sessionFiles, m_messages, this);
    new Lessons({m_model, m_navigation, m_points, m_runs, m_edits, m_debugger, m_canvases, m_problems}, this);
    wireMemory();
    connect(&m_runs, &Runs::liveChanged, this,
            [this](bool isLive) { static_cast<Events&>(*m_events).noteLive(isLive); });
    // What is known of another run is not shown beside a debugged one.
    connect(&m_debugger, &Debugger::changed, this, [this] {
        m_valueMeasures.setHidden(m_debugger.isShown());
        m_comparison.setShownRun({m_debugger.isShown() && !m_session.debugger().isComplete(),
                                  m_edits.isCounterfactual() && m_debugger.shown() != ShownValues::Baseline});
    });
    connect(&m_debugger, &Debugger::changed, this, &InspectorContext::followCurrent);
    connect(&m_model, &OpenModel::documentOpened, &m_edits, &Edits::takeDocument);
    // What was computed says whether it was with these edits.
    connect(&m_edits, &Edits::changed, m_bisection.get(), &Bisection::followEdits);
    connect(&m_edits, &Edits::changed, m_precision.get(), &Precision::followEdits);
    connect(&m_edits, &Edits::changed, m_sweeps.get(), &Sweeps::followEdits);
    connect(&m_edits, &Edits::changed, m_second.get(), [this] {
        if (m_second->isOpen()) Q_EMIT m_second->changed();
    });
    connect(&m_inputs, &Inputs::inputsChanged, m_bisection.get(), &Bisection::followEdits);
    connect(&m_model, &OpenModel::documentLeft, m_second.get(), [this] { m_second->documentLeft(); });
    connect(&m_model, &OpenModel::documentLeft, m_sweeps.get(), &Sweeps::clear);
    connect(&m_model, &OpenModel::documentOpened, m_second.get(), [this] { m_second->documentOpened(); });
    connect(&m_model, &OpenModel::documentClosed, m_second.get(), [this] { m_second->documentClosed(); });
    connect(&m_executor.job(session::Activity::Debug), &Job::progressed, &m_debugger, &Debugger::progressed);
    connect(&m_navigation, &Navigation::selectionChanged, &m_comparison, &Comparison::checkFiles);
    connect(&m_navigation, &Navigation::selectionChanged, &m_debugger,
            [this] { m_debugger.setLookedAt(m_navigation.selectedNodes()); });
    connect(&m_comparison, &Comparison::nothingToRepeat, this, [this] {
        m_messages.report(Message{
            base::Severity::Info, tr("Nothing was compared yet"), {}, tr("Run \u203a Compare says with what"), {}});
    });
}

/// The parts are destroyed before the session, which has nobody to tell then.
InspectorContext::~InspectorContext() {
    m_session.setObserver(nullptr);
    waitUntilStored();
}

/// Before anybody else hears of a change, it is kept.
void InspectorContext::wireMemory() {
    connect(&m_points, &Points::watchChanged, &m_memory, &ModelMemory::keep);
    connect(&m_points, &Points::watchChanged, &m_sessionFiles, &SessionFiles::saveSoon);
    connect(&m_points, &Points::endChanged, &m_memory, &ModelMemory::keep);
    connect(&m_points, &Points::endChanged, &m_sessionFiles, &SessionFiles::saveSoon);
    connect(&m_watches, &Watches::changed, &m_memory, &ModelMemory::keepExpressions);
    connect(&m_debugger, &Debugger::breakpointsChanged, &m_memory, &ModelMemory::keep);
    connect(&m_notes, &Notes::changed, &m_memory, &ModelMemory::keep);
    connect(&m_inputs, &Inputs::specsChanged, &m_memory, &ModelMemory::keep);
    connect(&m_inputs, &Inputs::specsChanged, &m_sessionFiles, &SessionFiles::saveSoon);
    connect(&m_navigation, &Navigation::bookmarksChanged, &m_memory, &ModelMemory::keep);
    connect(&m_canvases, &Canvases::viewsChanged, &m_memory, &ModelMemory::keep);
    connect(&m_canvases, &Canvases::viewsChanged, &m_sessionFiles, &SessionFiles::saveSoon);
    connect(&m_comparison, &Comparison::tolerancesChanged, &m_memory, &ModelMemory::keep);
    connect(&m_comparison, &Comparison::tolerancesChanged, &m_sessionFiles, &SessionFiles::saveSoon);
    connect(&m_problems, &Problems::acceptedChanged, &m_memory, &ModelMemory::keep);
    connect(&m_problems, &Problems::acceptedChanged, &m_sessionFiles, &SessionFiles::saveSoon);
}

/// Who selected nothing, or what the run came from, sees what it comes to. What else is selected stays.
void InspectorContext::followCurrent() {
    const NodeId current = m_debugger.current();
    const Selection& selection = m_navigation.selection();
    const bool follows = selection.isNone() || (m_followed.valid() && selection.node == m_followed);
    m_followed = current;
    if (current.valid() && follows) m_navigation.follow(current);
}

std::vector<QObject*> InspectorContext::parts() {
    return {&m_summary,     &m_messages,       &m_model,         &m_navigation,    &m_points,          &m_notes,
            &m_inputs,      &m_problems,       &m_debugger,      &m_breakpoints,   &m_edits,           &m_runs,
            &m_canvases,    &m_settings,       &m_comparison,    &m_testCases,     &m_valueMeasures,   &m_watches,
            m_why.get(),    m_gradients.get(), m_findings.get(), &m_loader,        &m_differenceMarks, m_second.get(),
            m_sweeps.get(), m_bisection.get(), m_engine.get(),   m_precision.get()};
}

bool InspectorContext::isBusy() const {
    return m_loader.isActive() || m_executor.isBusy() || m_comparison.isActive() || m_debugger.isBusy() ||
           m_edits.isBusy() || m_sessionFiles.isActive() || m_summary.isBusy() || m_why->isBusy() ||
           m_gradients->isBusy() || m_findings->isActive() || weightsOf(*this).isActive() ||
           outputsOf(*this).isActive() || lessonsOf(*this).isBusy() || m_second->isBusy() || m_sweeps->isActive() ||
           m_bisection->isBusy() || m_precision->isActive() || m_engine->isActive();
}

}  // namespace sonde::context
