#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <string>
#include <utility>

#include "core/analysis/quantization.h"
#include "core/io/inputs/recording.h"
#include "core/session/output_check.h"
#include "ui/actions/action_registry.h"
#include "ui/context/comparison.h"
#include "ui/context/inspector_context.h"
#include "ui/context/selection.h"
#include "ui/models/module_result.h"
#include "ui/models/node_text.h"
#include "ui/models/short_text.h"
#include "ui/panels/tensor_viewer/gradient_bar.h"
#include "ui/panels/tensor_viewer/paired_value.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/value_pair.h"
#include "ui/theme/theme.h"
#include "ui/widgets/colored_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/tall_area.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;

TensorViewerPanel::TensorViewerPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                                     context::Inputs& inputs, context::Messages& messages,
                                     context::Comparison& comparison, context::Why& why, context::Gradients& gradients,
                                     context::Edits& edits, context::Debugger& debugger, context::SecondModel& second,
                                     context::Bisection& bisection, context::Engine& engine, context::Outputs& outputs,
                                     session::Session& session)
    : m_opened(opened), m_navigation(navigation), m_runs(runs), m_messages(messages), m_comparison(comparison),
      m_why(why), m_gradients(gradients), m_edits(edits), m_debugger(debugger), m_bisection(bisection),
      m_session(session), m_stack(new QStackedWidget(this)), m_page(new QWidget(m_stack)),
      m_title(new widgets::ElidedLabel({}, m_page)), m_change(new widgets::ElidedLabel({}, m_page)),
      m_iterations(new QWidget(m_page)), m_iteration(new QSpinBox(m_iterations)),
      m_iterationCount(new QLabel(m_iterations)), m_shown(new QComboBox(m_page)),
      m_error(new widgets::ColoredLabel(theme::ColorRole::Error, m_page)),
      m_gradient(new GradientBar(gradients, m_page)), m_beside(new QComboBox(m_page)),
      m_twoPanes(widgets::makeToolButton(QStringLiteral("compare"), tr("Two panes (Alt+Shift+I)"), m_page)),
      m_pair(new ValuePair(m_page)),
      m_paired(new PairedValue(session, opened, runs, edits, debugger, comparison, second, bisection, engine, this)),
      m_viewer(m_pair->first()), m_empty(new widgets::EmptyState(QStringLiteral("tensor"), {}, {}, {}, m_stack)) {
    buildHeader();
    connectEdits();
    connectPair();
    connectGradients();
    connectTokens(outputs);
    connect(&navigation, &context::Navigation::selectionChanged, this, &TensorViewerPanel::follow);
    connect(&opened, &context::OpenModel::documentOpened, this, [this] {
        const QString location = QString::fromStdString(m_opened.document()->location);
        if (std::exchange(m_location, location) != location)
            for (TensorViewer* viewer : {m_pair->first(), m_pair->second()}) viewer->forgetLooks();
        follow();
    });
    connect(&opened, &context::OpenModel::documentClosed, this, &TensorViewerPanel::follow);
    connect(&runs, &context::Runs::runStarted, this, [this] {
        m_asked = {};
        if (!m_viewer->hasValue()) explain();
    });
    connect(&runs, &context::Runs::runFinished, this, [this] {
        m_asked = {};
        m_iterationOf = {};
        refresh();
    });
    connect(&inputs, &context::Inputs::inputsChanged, this, &TensorViewerPanel::refresh);
    connect(&comparison, &context::Comparison::changed, this, &TensorViewerPanel::refresh);
    connect(&runs, &context::Runs::valueArrived, this, [this](graph::NodeId node) {
        if (node == m_node) refresh();
    });
    connect(m_empty, &widgets::EmptyState::actionTriggered, this, [this] {
        if (m_node.valid()) m_runs.runTo(m_node);
    });
    connect(m_viewer, &TensorViewer::saved, this, [this](const QString& path) {
        m_messages.reportSaving({}, {base::Severity::Info, tr("Saved %1").arg(path), {}, {}, m_node});
    });
    connect(m_viewer, &TensorViewer::saveFailed, this, [this](const QString& what, const QString& hint) {
        context::Message failed{base::Severity::Error, what, {}, hint, m_node};
        failed.isOfSaving = true;
        m_messages.report(failed);
    });
    connectWhy();
    setFocusProxy(m_viewer);
    follow();
}

void TensorViewerPanel::buildHeader() {
    auto* header = new QHBoxLayout;
    header->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    header->setSpacing(theme::kSmall);
    header->addWidget(m_title, 1);
    auto* chooser = new QHBoxLayout(m_iterations);
    chooser->setContentsMargins(0, 0, 0, 0);
    chooser->addWidget(new QLabel(tr("Iteration"), m_iterations));
    chooser->addWidget(m_iteration);
    chooser->addWidget(m_iterationCount);
    m_iteration->setObjectName(QStringLiteral("iteration"));
    m_iteration->setAccessibleName(tr("Iteration of the loop"));
    m_iteration->setToolTip(tr("The iteration whose value is shown, counted from 0"));
    m_iteration->setMinimum(0);
    m_iteration->setWrapping(true);
    header->addWidget(m_iterations);
    m_iterations->hide();
    connect(m_iteration, &QSpinBox::valueChanged, this, &TensorViewerPanel::chooseIteration);
    m_shown->setObjectName(QStringLiteral("shownValues"));
    m_shown->addItems({tr("Value"), tr("Baseline"), tr("Difference")});
    m_shown->setAccessibleName(tr("Which values are shown"));
    m_shown->setToolTip(
        tr("The values with the edits (Alt+Shift+V), without them (Alt+Shift+B), or the first less the "
           "second (Alt+Shift+D)"));
    m_shown->hide();
    header->addWidget(m_shown);
    m_beside->setObjectName(QStringLiteral("beside"));
    m_beside->setAccessibleName(tr("What is in the second pane"));
    m_beside->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_beside->setMinimumContentsLength(7);                                // and an icon that is not there: "Reference"
    m_beside->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);  // "Bisection: other.onnx" has no such length
    m_beside->hide();
    header->addWidget(m_beside);
    m_twoPanes->setObjectName(QStringLiteral("twoPanes"));
    m_twoPanes->setCheckable(true);
    header->addWidget(m_twoPanes);
    // In a line of its own: beside boxes nothing of it could be read.
    m_change->setObjectName(QStringLiteral("changeText"));
    m_change->setElideMode(Qt::ElideRight);
    m_change->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_change->setContentsMargins(theme::kSmall, 0, theme::kSmall, 0);
    m_change->hide();
    m_error->setObjectName(QStringLiteral("editError"));
    m_error->setWordWrap(true);
    m_error->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    m_error->hide();
    auto* column = new QVBoxLayout(m_page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(header);
    column->addWidget(m_change);
    column->addWidget(m_error);
    column->addWidget(m_gradient);
    column->addWidget(m_pair, 1);
    m_stack->addWidget(m_empty);
    m_place = new widgets::TallArea(m_page, m_stack);
    m_place->setFocusPolicy(Qt::NoFocus);  // what is in it has it
    m_stack->addWidget(m_place);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);
}

void TensorViewerPanel::connectEdits() {
    connect(m_shown, &QComboBox::activated, this,
            [this](int index) { m_debugger.setShown(static_cast<context::ShownValues>(index)); });
    connect(m_viewer, &TensorViewer::edited, this, [this](const QString& slice, const QString& text) {
        session::Edit edit;
        edit.slice = slice.toStdString();
        edit.kind = session::Edit::Kind::Expression;
        edit.text = text.toStdString();
        m_error->hide();
        m_edits.add(m_viewed, edit, this);
    });
    connect(m_viewer, &TensorViewer::editRequested, this, [this] { m_edits.begin(m_node, m_viewer->sliceText()); });
    connect(&m_edits, &context::Edits::changed, this, &TensorViewerPanel::refreshShown);
    connect(&m_edits, &context::Edits::accepted, m_error, &QWidget::hide);
    connect(&m_edits, &context::Edits::refused, this, [this](QObject* asker, const base::Error& error) {
        if (asker != this) return;
        m_error->setText(tr("Not changed: %1").arg(QString::fromStdString(error.what)));
        m_error->show();
    });
}

QString TensorViewerPanel::errorText() const { return m_error->isHidden() ? QString() : m_error->text(); }

void TensorViewerPanel::refreshShown() {
    m_shown->setVisible(m_edits.isCounterfactual());
    m_shown->setCurrentIndex(static_cast<int>(m_debugger.shown()));
    arrangePair();
}

/// "Changed by up to 0.5 in 3 of 64 elements": of a value that the edits may have changed.
QString TensorViewerPanel::changeText() const {
    if (!m_edits.isRecomputed(m_node)) return {};
    const session::debug::ValueChange* const change = m_debugger.change(m_node);
    if (!change) return tr("Counterfactual");
    if (change->changed == 0) return tr("Unchanged by the edits");
    return tr("Changed by up to %1 in %2 of %3 elements")
        .arg(QString::number(change->maxAbsolute, 'g', 3), widgets::countText(change->changed),
             widgets::countText(change->elements));
}

/// The change by edits; of a comparison "Differs by up to 94, first in iteration 1  ·  compared with right.npz".
QString TensorViewerPanel::distanceText() const {
    QStringList parts{changeText()};
    if (const QString run = m_comparison.runText(); !run.isEmpty()) {
        if (const analysis::NodeDifference* const found = m_comparison.of(m_node)) parts << differenceText(*found);
        parts << run;
    }
    parts.removeAll(QString());
    QString text = parts.join(QStringLiteral("  \u00b7  "));
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    return text;
}

void TensorViewerPanel::follow() {
    m_error->hide();
    m_node = models::resultOf(m_opened, m_navigation.selection());
    m_asked = {};
    m_gradient->setNode(m_node);
    m_gradients.lookAt(m_node);
    refreshOverlay();
    refresh();
}

void TensorViewerPanel::refresh() {
    const tensor::Value* value = m_node.valid() && m_opened.isOpen() ? m_runs.value(m_node) : nullptr;
    if (!value) return explain();
    const std::size_t passes = m_runs.iterations(m_node);
    if (m_runs.isDebugged()) offerIterations();
    else m_iterations->setVisible(passes > 1);
    if (passes > 1) {
        const QSignalBlocker quiet(m_iteration);
        const int count = static_cast<int>(std::min<std::size_t>(passes, 1'000'000'000));
        // Another node of the loop shows the same iteration, unless only others of it are bad; without one before, the
        // first bad one, or the last. A comparison goes to where it found the first difference.
        const int last = count - 1;
        const auto differing = differingIteration();
        const bool isNew = std::exchange(m_differing, differing) != differing && differing;
        const bool chosen =
            m_iterationOf.valid() && m_iteration->value() <= last && m_iteration->maximum() == last && !isNew;
        m_iteration->setMaximum(last);
        if (!chosen || (m_iterationOf != m_node && (differing || !isBadIteration(m_iteration->value()))))
            m_iteration->setValue(worthSeeing(count).value_or(chosen ? m_iteration->value() : last));
        m_iterationOf = m_node;
        m_iterationCount->setText(rangeText(last));
        if (const tensor::Value* one = m_runs.value(m_node, static_cast<std::size_t>(m_iteration->value())))
            value = one;
    }
    const graph::InternalGraph& graph = m_opened.graph();
    const QString name = models::shown(graph.node(m_node).name);
    const QString qualname = models::oneLine(m_navigation.selection().qualname);
    QString title = qualname.isEmpty() || qualname == name ? name : qualname + QStringLiteral("  ·  ") + name;
    const context::ShownValues shown = m_debugger.shown();
    if (shown == context::ShownValues::Baseline) title.prepend(tr("Baseline  \u00b7  "));
    if (shown == context::ShownValues::Difference) title.prepend(tr("Difference  \u00b7  "));
    const bool isStale = m_runs.isStale(m_node);
    if (isStale) title.prepend(tr("Stale, %1  \u00b7  ").arg(m_runs.staleReason()));
    m_title->setText(title);
    m_change->setText(distanceText());
    m_title->setColorRole(isStale ? theme::ColorRole::Warning : theme::ColorRole::Text);
    refreshShown();
    const session::Input* const input = isStale ? nullptr : m_session.inputs().of(m_node);
    m_viewer->setRecording(input && io::isRecordingItem(input->spec.source) ? input->spec.source : std::string());
    // A difference has a range of its own; what can be typed is a value.
    m_viewsGradient = showsGradient();
    if (m_viewsGradient) {
        m_title->setText(tr("Gradient  \u00b7  ") + title);
        m_viewer->setValue(name + QStringLiteral(" \u2202"), tensor::Value(m_gradients.by(m_node)->tensor), false,
                           name);
        return showPage();
    }
    const bool isDifference = shown == context::ShownValues::Difference;
    m_viewer->setQuantization(
        value->isTensor() && !isDifference && analysis::isQuantizedType(value->tensor().dtype())
            ? analysis::quantizationOf(graph, m_node, [this](graph::NodeId of) { return m_runs.value(of); })
            : std::nullopt);
    m_viewer->setValue(isDifference ? name + QStringLiteral(" \u0394") : name, *value,
                       shown == context::ShownValues::Counterfactual, isDifference ? name : QString());
    showPage();
}

/// The value is in the viewer.
void TensorViewerPanel::showPage() {
    m_viewed = m_node;
    m_paired->follow(m_node, shownIteration());
    if (!m_opened.checkFiles()) return explain();  // numbers of another file are not shown
    setHasContent(true);
    m_stack->setCurrentIndex(m_stack->count() - 1);  // where the page is scrolled
    followHop();
}

/// "agrees", "differs by up to 94, first in iteration 1", "differs: computed in the reference only".
QString TensorViewerPanel::differenceText(const analysis::NodeDifference& found) const {
    if (found.ok) return tr("agrees");
    const QString remarks = models::shown(found.remarks());
    if (!found.isMeasured || found.maxAbsolute == 0) return tr("differs: %1").arg(remarks);
    const QString number = tr("differs by up to %1").arg(QString::number(found.maxAbsolute, 'g', 3));
    return remarks.isEmpty() ? number : number + QStringLiteral(", ") + remarks;
}

void TensorViewerPanel::explain() {
    m_viewer->clear();
    m_pair->clearSecond();
    m_beside->hide();
    arrangePair();
    m_stack->setCurrentWidget(m_empty);
    // Of a run it tells why there is no value; before one there is nothing to tell.
    setHasContent(m_opened.isOpen() && m_node.valid() && (m_runs.isRunning() || m_runs.recording()));
    const auto say = [this](const QString& title, const QString& text, const QString& action = {}) {
        m_empty->setContent(QStringLiteral("tensor"), title, text, action);
    };
    if (!m_opened.isOpen()) return say(tr("No model"), tr("Open a model to see its values"));
    if (!m_node.valid()) return say(tr("Nothing selected"), tr("Click a node to see its value"));
    const QString name = models::brief(m_opened.graph().node(m_node).name);
    if (m_runs.isRunning()) return say(tr("Running"), tr("The value of %1 is shown after the run").arg(name));
    if (m_opened.fileHasChanged())
        return say(tr("The model file changed"), tr("Its values are shown again once it is reloaded"));
    const auto& recording = m_runs.recording();
    if (m_runs.isDebugged() && recording && !recording->computed(m_node) &&
        !m_runs.failure(m_opened.graph().node(m_node).producer))
        return say(tr("Not computed yet"), tr("The debugged run has not come to %1").arg(name), tr("Run to here"));
    if (recording && recording->computed(m_node)) {
        // Asked for once; should it not come, the button remains.
        if (m_asked != m_node) {
            m_asked = m_node;
            m_runs.requestValue(m_node);
        }
        return say(tr("Computing"), tr("%1 was computed but not kept; computing it again").arg(name),
                   tr("Run to here"));
    }
    if (!recording)
        return say(tr("No value yet"), tr("Run the model to see the value of %1").arg(name), tr("Run to here"));
    const graph::InternalGraph& graph = m_opened.graph();
    if (const exec::Failure* failure = m_runs.failure(graph.node(m_node).producer))
        return say(tr("Failed"), models::failureText(graph, graph.node(m_node).producer, *failure));
    if (m_runs.isInOtherBranch(m_node))
        return say(tr("Not reached"), tr("The last run did not take the branch that %1 is in").arg(name));
    if (m_runs.state() != context::RunState::Failed || recording->failures.empty())
        return say(tr("Not reached"), tr("The last run stopped before %1").arg(name), tr("Run to here"));
    const graph::Expr& failed = graph.expr(recording->failures.front().expr);
    const QString at =
        failed.outputs.empty() ? models::operatorText(failed) : models::brief(graph.node(failed.outputs.front()).name);
    say(tr("Not reached"), tr("The last run failed at %1, before %2").arg(at, name), tr("Run to here"));
}

void TensorViewerPanel::join(const PanelHost& host) {
    actions::ActionRegistry& actions = host.actions;
    actions.bind(QStringLiteral("values.copy"), this, [this] { m_viewer->copy(); });
    actions.bindToggle(QStringLiteral("values.two_panes"), this, [this](bool on) { setTwoPanes(on); });
    actions.bind(QStringLiteral("values.pane_mode"), this,
                 [this] { m_pair->setMode(static_cast<ValuePair::Mode>((static_cast<int>(m_pair->mode()) + 1) % 3)); });
    actions.bind(QStringLiteral("values.pin"), this, [this] { pinNode(); });
    connect(&m_bisection, &context::Bisection::valuesRequested, this, [this, raise = host.raise](graph::NodeId node) {
        showBisected(node);
        raise();
    });
    connect(m_paired, &PairedValue::changed, this,
            [this, &actions] { actions.action(QStringLiteral("values.two_panes"))->setChecked(m_paired->isChosen()); });
    actions.bind(QStringLiteral("values.saliency"), this, [this, show = host.show] {
        show();
        askGradient();
    });
    actions.bindToggle(QStringLiteral("values.gradient"), this, [this](bool on) { setGradientShown(on); });
    actions.bind(QStringLiteral("values.edit"), this, [this] { m_edits.begin(m_node, m_viewer->sliceText()); });
    actions.bind(QStringLiteral("values.save"), this, [this] { m_viewer->save(); });
    widgets::RangeControl* range = m_viewer->rangeControl();
    actions.bind(QStringLiteral("values.autofit"), range, [range] { range->fitOnce(); });
    actions.bindToggle(QStringLiteral("values.lock"), range, [range](bool on) { range->setLocked(on); });
    actions.bindToggle(QStringLiteral("values.log"), range, [range](bool on) { range->setLogarithmic(on); });
    actions.bindToggle(QStringLiteral("values.diverging"), range, [range](bool on) { range->setDiverging(on); });
    connect(m_viewer, &TensorViewer::shownChanged, this, [&actions, range] {
        actions.action(QStringLiteral("values.lock"))->setChecked(range->state().locked);
        actions.action(QStringLiteral("values.log"))->setChecked(range->state().logarithmic);
        actions.action(QStringLiteral("values.diverging"))->setChecked(range->state().diverging);
    });
    actions.addTo(this, actions::Scope::Values);
    m_actions = &actions;
    m_whyAction = actions.action(QStringLiteral("values.why"));
    m_viewer->addTool(m_whyAction);
    m_viewer->addTool(actions.action(QStringLiteral("values.saliency")));
}

namespace {

/// "heatmap|image|…": the words of command `view`.
const char* viewWords() {
    static const std::string words = [] {
        QStringList all;
        for (const TensorViewInfo& view : tensorViews()) all << viewWord(view);
        return all.join(QLatin1Char('|')).toStdString();
    }();
    return words.c_str();
}

/// Command `view`.
base::Result<void> showView(QWidget& panel, const PanelHost& host, const QString& word) {
    const TensorViewInfo* const wanted = viewOfWord(word);
    if (!wanted)
        return base::usageError("no such view", word.toStdString(),
                                QString(QLatin1String(viewWords())).replace(u'|', QStringLiteral(", ")).toStdString());
    host.show();
    TensorViewer& viewer = *static_cast<TensorViewerPanel&>(panel).viewer();
    viewer.setCurrentView(wanted->id);
    if (viewer.isVisibleTo(&panel) && viewer.currentView() != wanted->id)
        return base::usageError("the selected value cannot be shown like that", word.toStdString(),
                                "another view, or another value");
    return {};
}

base::Result<void> showIteration(QWidget& panel, const PanelHost&, const QString& number) {
    QSpinBox& box = *static_cast<TensorViewerPanel&>(panel).iterationBox();
    if (!box.parentWidget()->isVisibleTo(&panel))
        return base::usageError("the selected value is not of a loop that ran twice or more", number.toStdString());
    bool ok = false;
    const int iteration = number.toInt(&ok);
    if (!ok || iteration < 0 || iteration > box.maximum())
        return base::usageError("no such iteration", number.toStdString(), "0 to " + std::to_string(box.maximum()));
    box.setValue(iteration);
    return {};
}

}  // namespace

PanelInfo tensorViewerPanel() {
    PanelInfo info;
    info.id = QStringLiteral("tensor_viewer");
    info.title = QStringLiteral("Tensor");
    info.icon = QStringLiteral("tensor");
    info.area = PanelArea::Right;
    info.shortcut = QStringLiteral("Alt+4");
    info.factory = [](InspectorContext& inspector) -> Panel* {
        auto* panel =
            new TensorViewerPanel(inspector.model(), inspector.navigation(), inspector.runs(), inspector.inputs(),
                                  inspector.messages(), inspector.comparison(), inspector.why(), inspector.gradients(),
                                  inspector.edits(), inspector.debugger(), inspector.second(), inspector.bisection(),
                                  inspector.engine(), context::outputsOf(inspector), inspector.session());
        panel->viewer()->setOutputCheck([&inspector](const std::filesystem::path& file) {
            return session::checkOutput(inspector.session(), file);
        });
        return panel;
    };
    info.size = {330, 420};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<TensorViewerPanel&>(panel).join(host); };
    info.commands = {
        {"view", viewWords(), "show the selected tensor like that", showView},
        {"beside", "off|baseline|reference|second|NODE", "what is in the second pane of the tensor panel",
         [](QWidget& panel, const PanelHost&, const QString& what) {
             return static_cast<TensorViewerPanel&>(panel).showBeside(what);
         }},
        {"panes", "side|blink|difference", "how two panes of the tensor panel are shown",
         [](QWidget& panel, const PanelHost&, const QString& how) {
             return static_cast<TensorViewerPanel&>(panel).showPanes(how);
         }},
        {"gradient", "[NODE[INDEX]|show|hide|off]",
         "how much an element changes with those of the inputs, without one the element that is chosen; show the "
         "gradient in place of the value",
         [](QWidget& panel, const PanelHost& host, const QString& what) {
             host.show();
             return static_cast<TensorViewerPanel&>(panel).showGradientOf(what);
         }},
        {"iteration", "N", "show the value of iteration N of a loop", showIteration}};
    return info;
}

}  // namespace sonde::panels
