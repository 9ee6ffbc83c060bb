#include "ui/panels/outputs/outputs_panel.h"

#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QScopedValueRollback>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include <algorithm>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/context/outputs.h"
#include "ui/context/window_hint.h"
#include "ui/models/short_text.h"
#include "ui/panels/outputs/box_options.h"
#include "ui/panels/outputs/output_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tall_area.h"
#include "ui/widgets/tool_button.h"
#include "ui/widgets/wrapped_label.h"

namespace sonde::panels {

namespace outputs = session::outputs;
using context::InspectorContext;
using outputs::Choice;
using outputs::ShownOutput;

namespace {

QString textOf(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

/// A control with its name before it.
QWidget* named(const QString& title, QWidget* control) {
    auto* pair = new QWidget;
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kTight);
    row->addWidget(new QLabel(title));
    row->addWidget(control);
    return pair;
}

QSpinBox* countBox(const QString& name, int low, int high, const QString& toolTip) {
    auto* box = new QSpinBox;
    box->setRange(low, high);
    box->setKeyboardTracking(false);
    box->setAccessibleName(name);
    box->setToolTip(toolTip);
    return box;
}

/// The same entries stay as they are: with each run they come again, and somebody may have opened the list.
void refill(QComboBox& box, const QList<QPair<QString, QString>>& titlesAndIds, const QStringList& toolTips = {}) {
    bool isSame = box.count() == titlesAndIds.size();
    for (int i = 0; isSame && i < box.count(); ++i)
        isSame = box.itemText(i) == titlesAndIds[i].first && box.itemData(i).toString() == titlesAndIds[i].second;
    if (isSame) return;
    box.clear();
    for (const auto& [title, id] : titlesAndIds) {
        box.addItem(title, id);
        box.setItemData(box.count() - 1, toolTips.value(box.count() - 1), Qt::ToolTipRole);
    }
}

}  // namespace

OutputsPanel::OutputsPanel(InspectorContext& context, QWidget* parent)
    : Panel(parent), m_outputs(context::outputsOf(context)), m_navigation(context.navigation()),
      m_edits(context.edits()), m_stack(new QStackedWidget(this)), m_output(new QComboBox), m_form(new QComboBox),
      m_sample(countBox(tr("Sample"), 0, 0, tr("Which sample of the batch is shown, from 0"))),
      m_top(countBox(tr("Count"), 1, outputs::kMaxTop, tr("How many classes or tokens are listed"))),
      m_labels(widgets::makeToolButton(QStringLiteral("note"), tr("Choose a labels file"), this)),
      m_vocabulary(widgets::makeToolButton(QStringLiteral("log"), tr("Choose a vocabulary file"), this)),
      m_noNames(widgets::makeToolButton(QStringLiteral("clear"), tr("Take away the file that was chosen"), this)),
      m_type(new widgets::LinkLabel), m_notes(new widgets::ElidedLabel), m_summary(new widgets::ElidedLabel),
      m_largeNotes(new widgets::WrappedLabel), m_boxes(new BoxOptions), m_view(new OutputView) {
    m_output->setObjectName(QStringLiteral("outputName"));
    m_output->setAccessibleName(tr("Output"));
    m_output->setToolTip(tr("Which output of the model is shown"));
    m_form->setObjectName(QStringLiteral("outputForm"));
    m_form->setAccessibleName(tr("Form"));
    m_form->setToolTip(tr("How the output is shown; kept for this model"));
    m_sample->setObjectName(QStringLiteral("outputSample"));
    m_top->setObjectName(QStringLiteral("outputTop"));
    m_noNames->setObjectName(QStringLiteral("outputNoNames"));
    for (QComboBox* box : {m_output, m_form}) box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_notes->setColorRole(theme::ColorRole::Warning);
    m_notes->setElideMode(Qt::ElideRight);
    m_notes->setObjectName(QStringLiteral("outputNotes"));
    m_largeNotes->setObjectName(QStringLiteral("outputLargeNotes"));
    m_summary->setColorRole(theme::ColorRole::MutedText);
    m_summary->setElideMode(Qt::ElideRight);

    auto* page = new QWidget;
    m_place = new widgets::TallArea(page);
    auto* controls = new QWidget;
    auto* flow = new widgets::FlowLayout(controls, theme::kSmall, theme::kTight);
    flow->setContentsMargins(0, 0, 0, 0);
    for (QWidget* control : {static_cast<QWidget*>(m_output), static_cast<QWidget*>(m_form)}) flow->addWidget(control);
    flow->addWidget(named(tr("Top"), m_top));
    flow->addWidget(named(tr("Sample"), m_sample));
    flow->addWidget(m_labels);
    flow->addWidget(m_vocabulary);
    flow->addWidget(m_noNames);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    top->setSpacing(theme::kTight);
    top->addWidget(m_type);
    top->addWidget(controls);
    top->addWidget(m_notes);
    top->addWidget(m_largeNotes);
    top->addWidget(m_summary);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kTight);
    column->addLayout(top);
    column->addWidget(m_view, 1);
    column->addWidget(m_boxes);
    m_stack->addWidget(new widgets::EmptyState(QStringLiteral("output"), tr("No outputs"),
                                               tr("Run the model (F5) to see what it gives"), {}, m_stack));
    m_stack->addWidget(m_place);
    // Below the inputs of a small window there is little room; what is lower is scrolled.
    constexpr int kMinHeight = 64;
    for (int i = 0; i < m_stack->count(); ++i) m_stack->widget(i)->setMinimumHeight(kMinHeight);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);

    connect(&m_outputs, &context::Outputs::changed, this, &OutputsPanel::refresh);
    connect(&context.inputs(), &context::Inputs::inputsChanged, this, &OutputsPanel::refresh);
    connect(&m_edits, &context::Edits::changed, this, &OutputsPanel::refresh);
    connect(&context.debugger(), &context::Debugger::changed, this, &OutputsPanel::refresh);
    connect(m_output, &QComboBox::activated, this,
            [this](int row) { showOutput(m_output->itemData(row).toString().toStdString()); });
    connect(m_form, &QComboBox::activated, this, [this](int row) {
        change([id = m_form->itemData(row).toString()](Choice& choice) { choice.form = id.toStdString(); });
    });
    connect(m_sample, &QSpinBox::valueChanged, this,
            [this](int sample) { change([sample](Choice& choice) { choice.sample = sample; }); });
    connect(m_top, &QSpinBox::valueChanged, this,
            [this](int count) { change([count](Choice& choice) { choice.top = count; }); });
    connect(m_boxes, &BoxOptions::changed, this,
            [this] { change([this](Choice& choice) { choice.boxes = m_boxes->layout(); }); });
    connect(m_type, &widgets::LinkLabel::activated, this, [this] {
        if (const ShownOutput* const shown = current(); shown && shown->node.valid())
            m_navigation.navigateTo(shown->node);
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] { showNotes(notes()); });
    setFocusProxy(m_view);
    refresh();
}

QString OutputsPanel::notes() const { return m_notes->text(); }

void OutputsPanel::setLarge(bool large) {
    m_view->setLarge(large);
    m_isLarge = large;
    showNotes(notes());
}

void OutputsPanel::showNotes(const QString& notes) {
    m_notes->setText(notes);
    m_notes->setVisible(!notes.isEmpty() && !m_isLarge);
    QPalette palette = m_largeNotes->palette();
    palette.setColor(QPalette::WindowText, theme::color(theme::ColorRole::Warning));
    m_largeNotes->setPalette(palette);
    m_largeNotes->setWholeText(notes);
    m_largeNotes->setVisible(!notes.isEmpty() && m_isLarge);
}

const ShownOutput* OutputsPanel::current() const {
    const auto& all = m_outputs.all();
    const auto found = std::ranges::find(all, m_name, &ShownOutput::name);
    return found != all.end() ? &*found : all.empty() ? nullptr : &all.front();
}

void OutputsPanel::refresh() {
    const auto& all = m_outputs.all();
    setHasContent(!all.empty());
    m_stack->setCurrentIndex(all.empty() ? 0 : 1);
    if (all.empty()) return;
    const QScopedValueRollback guard(m_isShowing, true);
    QList<QPair<QString, QString>> names;
    for (const ShownOutput& output : all)
        names << qMakePair(models::brief(output.name), QString::fromStdString(output.name));
    refill(*m_output, names);
    m_output->setVisible(all.size() > 1);
    showCurrent();
}

void OutputsPanel::showOutput(const std::string& name) {
    if (std::ranges::find(m_outputs.all(), name, &ShownOutput::name) == m_outputs.all().end()) return;
    m_name = name;
    showCurrent();
}

void OutputsPanel::showCurrent() {
    const ShownOutput* const shown = current();
    if (!shown) return;
    const QScopedValueRollback guard(m_isShowing, true);
    m_name = shown->name;
    m_output->setCurrentIndex(m_output->findData(QString::fromStdString(m_name)));
    m_type->setText(models::brief(shown->name) + QStringLiteral("  \u00b7  ") +
                    models::oneLine(QString::fromStdString(shown->type)));
    showControls(*shown);
    QStringList notes;
    if (const QString stale = m_outputs.staleReason(); !stale.isEmpty()) notes << tr("Stale: %1").arg(stale);
    if (const QString edits = m_edits.shownText(); !edits.isEmpty()) notes << tr("Shown: %1").arg(edits);
    if (shown->error) notes << context::windowText(*shown->error);
    for (const std::string& note : shown->notes) notes << models::paragraph(note);
    showNotes(notes.join(QStringLiteral("; ")));
    const std::string summary = outputs::summaryText(shown->content);
    m_summary->setText(QString::fromStdString(summary));
    m_summary->setVisible(!summary.empty());
    m_view->show(*shown);
    const std::string what = shown->name + ' ' + (shown->form ? std::string(shown->form->id) : std::string());
    // Where there is little room the first rows are in view rather than the controls above them.
    if (std::exchange(m_scrolledTo, what) != what) m_place->keepInView(m_view->list());
}

void OutputsPanel::showControls(const ShownOutput& shown) {
    const QString best = shown.forms.empty() ? QString() : textOf(shown.forms.front()->title);
    QList<QPair<QString, QString>> entries{{tr("Auto: %1").arg(best), QString()}};
    QStringList toolTips{tr("The form that suits the output best")};
    for (const outputs::Form* form : shown.forms) {
        entries << qMakePair(textOf(form->title), textOf(form->id));
        toolTips << textOf(form->description);
    }
    // What was chosen stays chosen though it does not fit: another run may give another value.
    const outputs::Form* const chosen = outputs::findForm(shown.choice.form);
    if (chosen && std::ranges::find(shown.forms, chosen) == shown.forms.end()) {
        entries << qMakePair(tr("%1 (does not fit)").arg(textOf(chosen->title)), textOf(chosen->id));
        toolTips << textOf(chosen->description);
    }
    refill(*m_form, entries, toolTips);
    m_form->setCurrentIndex(std::max(0, m_form->findData(QString::fromStdString(shown.choice.form))));
    const outputs::Form* const form = shown.form;
    m_sample->setMaximum(static_cast<int>(std::min<std::int64_t>(shown.samples - 1, 1'000'000)));
    m_sample->setValue(shown.choice.sample);
    m_sample->parentWidget()->setVisible(form && form->usesSample && shown.samples > 1);
    m_top->setValue(shown.choice.top);
    m_top->parentWidget()->setVisible(form && form->usesTop);
    m_labels->setVisible(form && form->usesLabels && !shown.isRandom);
    m_labels->setToolTip(shown.choice.labels.empty()
                             ? tr("Choose a labels file: the name of each class, a line each")
                             : tr("Labels: %1").arg(QString::fromStdString(shown.choice.labels)));
    m_vocabulary->setVisible(form && form->usesVocabulary);
    m_vocabulary->setToolTip(shown.choice.vocabulary.empty()
                                 ? tr("Choose a vocabulary file: the tokens, a line each")
                                 : tr("Vocabulary: %1").arg(QString::fromStdString(shown.choice.vocabulary)));
    const Choice asked = m_outputs.choiceOf(shown.name);  // a file beside the model is nobody's choice
    m_noNames->setVisible((!m_labels->isHidden() && !asked.labels.empty()) ||
                          (!m_vocabulary->isHidden() && !asked.vocabulary.empty()));
    m_boxes->setVisible(form && form->usesBoxes);
    QStringList others;
    for (const ShownOutput& other : m_outputs.all())
        if (other.name != shown.name) others << QString::fromStdString(other.name);
    m_boxes->show(shown.choice.boxes, others);
}

void OutputsPanel::change(const std::function<void(Choice&)>& how) {
    if (m_isShowing || !current()) return;
    Choice choice = m_outputs.choiceOf(current()->name);
    how(choice);
    m_outputs.choose(choice);
}

/// Cancelling leaves what there is.
void OutputsPanel::askForFile(const QString& title, std::string Choice::*file) {
    if (!current()) return;
    auto* dialog = new QFileDialog(this, title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Text files (*.txt *.json *.names *.labels *.csv *.vocab)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this, file](const QString& path) {
        change([file, &path](Choice& choice) { choice.*file = path.toStdString(); });
    });
    dialog->open();
}

base::Result<void> OutputsPanel::choose(const QString& text) {
    SONDE_ASSIGN(Choice choice, outputs::parseChoice(text.toStdString()));
    const auto& all = m_outputs.all();
    if (all.empty()) return base::usageError("there are no outputs: the model was not run");
    if (choice.output.empty()) choice.output = current()->name;
    if (std::ranges::find(all, choice.output, &ShownOutput::name) == all.end())
        return base::usageError("there is no output '" + choice.output + "'");
    const Choice before = m_outputs.choiceOf(choice.output);
    choice.labels = before.labels;
    choice.vocabulary = before.vocabulary;
    m_name = choice.output;
    m_outputs.choose(choice);
    showCurrent();
    return {};
}

void OutputsPanel::join(const PanelHost& host) {
    const auto bind = [&](const QString& id, QToolButton* button, const QString& title, std::string Choice::*file) {
        host.actions.bind(id, this, [this, show = host.show, title, file] {
            show();
            askForFile(title, file);
        });
        connect(button, &QToolButton::clicked, host.actions.action(id), &QAction::trigger);
    };
    bind(QStringLiteral("outputs.labels"), m_labels, tr("Labels File"), &Choice::labels);
    bind(QStringLiteral("outputs.vocabulary"), m_vocabulary, tr("Vocabulary File"), &Choice::vocabulary);
    QAction* const noNames = host.actions.action(QStringLiteral("outputs.no_names"));
    host.actions.bind(QStringLiteral("outputs.no_names"), this,
                      [this] { change([](Choice& choice) { choice.labels.clear(), choice.vocabulary.clear(); }); });
    connect(m_noNames, &QToolButton::clicked, noNames, &QAction::trigger);
}

PanelInfo outputsPanel() {
    PanelInfo info{
        QStringLiteral("outputs"), QObject::tr("Outputs"),
        QStringLiteral("output"),  PanelArea::Left,
        QStringLiteral("Alt+O"),   [](InspectorContext& context) -> Panel* { return new OutputsPanel(context); }};
    info.size = {330, 460};  // what is above the list has its room, too
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<OutputsPanel&>(panel).join(host); };
    info.commands = {{"output", "[OUTPUT=]FORM[:OPTION,...]",
                      "show an output as auto, classes, text, image, boxes, masks, waveform, scalar or table",
                      [](QWidget& panel, const PanelHost& host, const QString& text) {
                          host.show();
                          return static_cast<OutputsPanel&>(panel).choose(text);
                      }}};
    info.advice = {{QStringLiteral("--show"), QObject::tr("choose another form in the Outputs panel")}};
    return info;
}

}  // namespace sonde::panels
