#include "ui/window/window_status.h"

#include <QAction>
#include <QStatusBar>
#include <QToolButton>

#include <algorithm>
#include <utility>

#include "ui/context/count_text.h"
#include "ui/context/findings.h"
#include "ui/context/second_model.h"
#include "ui/models/node_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"
#include "ui/window/recent_files.h"

namespace sonde::window {

using context::RunState;

namespace {

constexpr int kMinProblemsWidth = 320, kStatusMargins = 120;  ///< pixels; the margins with icon and size grip

}  // namespace

WindowStatus::WindowStatus(QStatusBar& bar, context::InspectorContext& context, const actions::ActionRegistry& actions)
    : m_bar(bar), m_context(context), m_actions(actions), m_progress(new widgets::ProgressStrip),
      m_status(new widgets::ElidedLabel), m_findings(new QToolButton), m_problems(new QToolButton) {
    m_status->setColorRole(theme::ColorRole::MutedText);
    bar.setContentsMargins(theme::kSmall, 0, 0, 0);
    bar.addWidget(m_status, 1);
    bar.addWidget(m_progress, 1);
    m_problems->setObjectName(QStringLiteral("problems"));
    m_problems->setAutoRaise(true);
    m_problems->setIcon(theme::icon(QStringLiteral("warning")));
    m_problems->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_problems->hide();
    connect(m_problems, &QToolButton::clicked, this, &WindowStatus::problemsClicked);
    m_findings->setObjectName(QStringLiteral("findings"));
    m_findings->setAutoRaise(true);
    m_findings->setIcon(theme::icon(QStringLiteral("check")));
    m_findings->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_findings->hide();
    connect(m_findings, &QToolButton::clicked, this, &WindowStatus::findingsClicked);
    bar.addPermanentWidget(m_findings);
    bar.addPermanentWidget(m_problems);
    connectContext();
    connectProgress();
    connectFindings();
}

void WindowStatus::connectContext() {
    // Comes before what shows the status anew.
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&m_context.model(), signal, this, &WindowStatus::forgetSaid);
    connect(&m_context.runs(), &context::Runs::runStarted, this, &WindowStatus::forgetSaid);
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, &WindowStatus::forgetSaid);
    connect(&m_context.navigation(), &context::Navigation::hoverChanged, this, &WindowStatus::forgetSaid);
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this, &WindowStatus::forgetSaid);
    connect(&m_context.comparison(), &context::Comparison::changed, this, [this] {
        forgetSaid();
        refresh();
    });
    connect(&m_context.debugger(), &context::Debugger::changed, this, [this] {
        QString place = m_context.debugger().placeText();
        if (place != std::exchange(m_place, place)) forgetSaid();
        refresh();
    });
    connect(&m_context.debugger(), &context::Debugger::moduleRun, this, &WindowStatus::show);
    connect(&m_context.debugger(), &context::Debugger::refused, this, &WindowStatus::say);
    connect(&m_context.comparison(), &context::Comparison::runKept, this, &WindowStatus::show);
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this, [this] {
        // The status is about what was selected, until the mouse moves again.
        context::Navigation& navigation = m_context.navigation();
        if (navigation.hovered() != navigation.selection()) navigation.hover({});
        refresh();
    });
    connect(&m_context.navigation(), &context::Navigation::hoverChanged, this, &WindowStatus::refresh);
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, &WindowStatus::refresh);
    connect(&m_context.problems(), &context::Problems::changed, this, &WindowStatus::refresh);
}

void WindowStatus::connectProgress() {
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, this, [this] {
        if (m_context.findings().isActive() && !m_context.runs().isRunning()) return m_context.findings().cancel();
        if (m_context.second().isBusy()) m_context.second().cancel();
        else if (m_context.debugger().isRunning()) m_context.debugger().pause();
        else m_context.runs().isRunning() ? m_context.runs().cancel() : m_context.loader().cancel();
    });
    connect(&m_context.loader(), &context::Loader::loadStarted, this, [this](const QString& location) {
        m_progress->start(tr("Opening %1").arg(shortLocation(location)));
        refresh();
    });
    connect(&m_context.loader(), &context::Loader::loadProgressed, this, [this](const base::Progress& progress) {
        m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                static_cast<qint64>(progress.total));
    });
    connect(&m_context.loader(), &context::Loader::loadFailed, this, [this] { m_progress->finish(); });
    connect(&m_context.second(), &context::SecondModel::progressed, this, [this](const base::Progress& progress) {
        if (!m_progress->isActive()) m_progress->start(tr("Comparing models"));
        m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                static_cast<qint64>(progress.total));
    });
    connect(&m_context.second(), &context::SecondModel::changed, this, [this] {
        if (!m_context.second().isBusy() && !m_context.runs().isRunning() && !m_context.loader().isActive())
            m_progress->finish();
    });
    const auto finish = [this] {
        // Each place of a debugged run is told of; the run itself may go on.
        if (!m_context.debugger().isRunning()) m_progress->finish();
        refresh();
    };
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&m_context.model(), signal, this, finish);
    connect(&m_context.runs(), &context::Runs::runFinished, this, finish);
    connect(&m_context.debugger(), &context::Debugger::changed, this, [this] {
        if (m_context.debugger().isRunning() && !m_progress->isActive())
            m_progress->start(tr("Debugging"), widgets::ProgressStrip::kDelayMs,
                              tr("Pause before the next node (F12)"));
    });
    connect(&m_context.debugger(), &context::Debugger::progressed, this, [this](const base::Progress& progress) {
        if (!m_progress->isActive() || !m_context.debugger().isRunning()) return;
        const auto done = static_cast<qint64>(progress.done), total = static_cast<qint64>(progress.total);
        // A loop may be walked any number of times: then the count of steps is all that is known.
        if (total > 0 && done <= total) m_progress->setProgress(tr("Debugging"), done, total);
        else m_progress->setProgress(tr("Debugging, node %1").arg(context::countText(done)), 0, 0);
    });
    connect(&m_context.runs(), &context::Runs::runStarted, this, [this] {
        m_progress->start(tr("Running"));
        refresh();
    });
    connect(&m_context.runs(), &context::Runs::runProgressed, this, [this] {
        const context::RunProgress& progress = m_context.runs().progress();
        QString what = tr("Running");
        if (progress.current.valid() && m_context.model().isOpen())
            what = models::operatorText(m_context.model().graph().expr(progress.current)) + QStringLiteral("  ") +
                   models::moduleText(m_context.model().graph().expr(progress.current));
        m_progress->setProgress(what, static_cast<qint64>(progress.done), static_cast<qint64>(progress.total));
    });
}

/// The panel has a line of its own, but is not there before there is anything in it.
void WindowStatus::connectFindings() {
    context::Findings& findings = m_context.findings();
    connect(&findings, &context::Findings::started, this, [this] { m_progress->start(tr("Looking for findings")); });
    connect(&findings, &context::Findings::progressed, this, [this](const base::Progress& now) {
        if (m_context.runs().isRunning() || m_context.loader().isActive()) return;
        m_progress->setProgress(tr("Looking for findings: %1").arg(QString::fromStdString(now.what)),
                                static_cast<qint64>(now.done), static_cast<qint64>(now.total));
    });
    connect(&findings, &context::Findings::finished, this, [this] {
        if (!m_context.runs().isRunning() && !m_context.loader().isActive() && !m_context.debugger().isRunning())
            m_progress->finish();
        if (m_context.findings().isKnown() && m_context.findings().groups().empty()) show(tr("Nothing was found"));
    });
    connect(&findings, &context::Findings::changed, this, &WindowStatus::refreshFindings);
}

void WindowStatus::refreshFindings() {
    const QString text = m_context.findings().countText();
    m_findings->setText(text);
    m_findings->setToolTip(tr("Show what was found in the model"));
    m_findings->setAccessibleName(text);
    m_findings->setVisible(!text.isEmpty());
}

void WindowStatus::say(const QString& text) {
    m_context.messages().report(context::Message{base::Severity::Info, text, {}, {}, {}});
    show(text);
}

void WindowStatus::show(const QString& text) {
    m_said = text;
    refresh();
}

/// " (F5)"; empty if the action has no key, or is not there yet.
QString WindowStatus::keyOf(const char* action) const {
    const QAction* const found = m_actions.action(QLatin1String(action));
    const QString key = found ? found->shortcut().toString(QKeySequence::NativeText) : QString();
    return key.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(key);
}

/// Of the selection, else of the last run. Without either: what can be done next.
QString WindowStatus::text(const context::Selection& shown) const {
    const context::OpenModel& model = m_context.model();
    const context::Runs& runs = m_context.runs();
    if (!model.isOpen())
        return tr("No model is open: open one%1, or drop a file on the window").arg(keyOf("file.open"));
    if (shown.node.valid()) {
        const graph::Node& node = model.graph().node(shown.node);
        return QStringLiteral("%1   %2   %3   %4")
            .arg(models::shown(node.name), models::operatorText(model.graph().expr(node.producer)),
                 models::moduleText(model.graph().expr(node.producer)), models::typeText(node, runs.value(shown.node)));
    }
    if (!shown.isNone()) return models::qualnameText(shown.qualname);
    if (runs.recording() && runs.state() == RunState::Finished) {
        const QString time =
            tr("Run finished in %1 ms").arg(static_cast<double>(runs.recording()->totalNs) / 1e6, 0, 'f', 1);
        // What is wrong has a button of its own, which needs the room.
        const bool isAsExpected = m_context.problems().summary().isEmpty() && !runs.isDebugged();
        return isAsExpected ? tr("%1 \u00b7 see Outputs%2, or click a node").arg(time, keyOf("panel.outputs")) : time;
    }
    if (runs.refusal()) return tr("Not run: %1").arg(QString::fromStdString(runs.refusal()->what));
    if (model.fileHasChanged()) return tr("The %1").arg(model.fileProblem());
    if (runs.state() == RunState::Failed) return tr("The run failed: go to where%1").arg(keyOf("go.next_problem"));
    if (runs.isRunning()) return {};
    const bool areGiven = std::ranges::none_of(m_context.session().inputs().all(), [](const session::Input& input) {
        return input.spec.source.empty() && !input.value;
    });
    return areGiven ? tr("Run the model%1, or click a node to see what it is").arg(keyOf("run.start"))
                    : tr("Choose the inputs%1, then run the model%2").arg(keyOf("panel.inputs"), keyOf("run.start"));
}

void WindowStatus::refresh() {
    const context::Selection& hovered = m_context.navigation().hovered();
    const context::Selection& shown = hovered.isNone() ? m_context.navigation().selection() : hovered;
    const bool isOpen = m_context.model().isOpen();
    QString text = this->text(shown);
    if (const QString stale = isOpen ? m_context.runs().staleReason() : QString(); !stale.isEmpty()) {
        const bool isStale = shown.node.valid() ? m_context.runs().isStale(shown.node) : true;
        if (isStale) text = tr("Stale, %1").arg(stale) + QStringLiteral("   ") + text;
    }
    // All panels show one run: where it is, if it is debugged.
    const QString place = m_context.debugger().placeText();
    if (!place.isEmpty()) {
        const bool isOfNode = shown.node.valid() && shown.node != m_context.debugger().current();
        text = isOfNode || (!shown.isNone() && !shown.node.valid()) ? place + QStringLiteral("   ") + text : place;
    }
    // Which, if it is that of a comparison. A remark on that counts for more than the time.
    const QString run = isOpen ? m_context.comparison().runText() : QString();
    const QString remarks = run.isEmpty() ? QString() : m_context.comparison().remarks();
    if (!remarks.isEmpty() && shown.isNone()) text.clear();
    if (!run.isEmpty()) text += (text.isEmpty() ? QString() : QStringLiteral("   ")) + run;
    if (!remarks.isEmpty()) text += QStringLiteral("; ") + remarks;
    m_status->setElideMode(remarks.isEmpty() ? Qt::ElideMiddle : Qt::ElideRight);
    if (!m_said.isEmpty()) text = m_said;
    m_status->setText(text);
    refreshProblems(text);
}

void WindowStatus::refreshProblems(const QString& text) {
    const bool isOfOther = m_context.runs().isRunning() || m_context.debugger().isShown();
    const QString problems = isOfOther ? QString() : m_context.problems().summary();
    // The window may be narrower than the summary; what is about the selection needs less.
    const int width = m_bar.window()->width();
    const int room =
        std::max(kMinProblemsWidth, width - m_status->fontMetrics().horizontalAdvance(text) - kStatusMargins);
    m_problems->setText(m_problems->fontMetrics().elidedText(problems, Qt::ElideRight, std::min(room, width * 3 / 4)));
    m_problems->setToolTip(
        tr("%1. Go to the next node with a problem (%2)")
            .arg(problems,
                 m_actions.action(QStringLiteral("go.next_problem"))->shortcut().toString(QKeySequence::NativeText)));
    m_problems->setAccessibleName(problems);
    m_problems->setVisible(!problems.isEmpty());
}

}  // namespace sonde::window
