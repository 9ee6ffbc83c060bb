#include "ui/panels/tracing/tracing_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <map>

#include "core/document/tracers.h"
#include "core/graph/guard.h"
#include "core/graph/operation_count.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/text.h"
#include "ui/models/node_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"

namespace sonde::panels {

using context::InspectorContext;
namespace {

constexpr int kLeafRows = 7;

QLabel* heading(const QString& title) {
    auto* label = new QLabel(title);
    QFont bold = label->font();
    bold.setBold(true);
    label->setFont(bold);
    return label;
}

QLabel* note(const QString& words = {}) {
    auto* label = new QLabel(words);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

}  // namespace

TracingPanel::TracingPanel(context::OpenModel& opened, context::Loader& loader, context::Inputs& inputs,
                           QWidget* parent)
    : Panel(parent), m_opened(opened), m_loader(loader), m_inputs(inputs), m_pages(new QStackedWidget(this)),
      m_tracer(new QComboBox), m_description(note()), m_noLeaves(new QCheckBox(tr("Trace into every module"))),
      m_leaves(new QListWidget), m_register(new QCheckBox(tr("Use these leaf classes for every model"))),
      m_concrete(new QFormLayout), m_follow(new QCheckBox(tr("Follow the input values"))),
      m_flatten(new QCheckBox(tr("Flatten"))),
      m_retrace(new QPushButton(theme::icon(QStringLiteral("reload")), tr("Trace Again"))),
      m_defaults(new QPushButton(tr("Defaults"))), m_result(note()) {
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidget(buildForm());
    m_pages->addWidget(area);
    m_pages->addWidget(
        new widgets::EmptyState(QStringLiteral("graph"), tr("Nothing to trace"),
                                tr("Modules of a TorchScript archive, a built-in model or your own C++ model are "
                                   "traced. An ONNX file is already a graph.")));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_pages);

    connect(m_tracer, &QComboBox::currentIndexChanged, this, &TracingPanel::showDescription);
    connect(m_noLeaves, &QCheckBox::toggled, m_leaves, &QWidget::setDisabled);
    connect(m_retrace, &QPushButton::clicked, this, &TracingPanel::retrace);
    connect(m_defaults, &QPushButton::clicked, this, &TracingPanel::setToDefaults);
    connect(&opened, &context::OpenModel::documentOpened, this, &TracingPanel::rebuild);
    connect(&opened, &context::OpenModel::documentClosed, this, &TracingPanel::rebuild);
    setFocusProxy(m_tracer);
    rebuild();
}

QWidget* TracingPanel::buildForm() {
    for (const document::TracerInfo& tracer : document::tracers())
        m_tracer->addItem(context::text(tracer.name), context::text(tracer.id));
    m_tracer->setAccessibleName(tr("Tracer"));
    m_tracer->setToolTip(tr("The tracer that records the graph"));
    m_noLeaves->setToolTip(tr("Keep no module as a single node: the graph consists of operators"));
    m_leaves->setAccessibleName(tr("Leaf classes"));
    m_leaves->setToolTip(tr("Modules of a ticked class stay single nodes and are not traced into"));
    m_leaves->setFixedHeight(kLeafRows * (fontMetrics().height() + theme::kTight));
    m_register->setToolTip(tr("Use the ticked classes for every model opened from now on"));
    m_follow->setToolTip(tr(
        "Follow the branches and loops that the values in the Inputs panel take. Each decision becomes a guard node; "
        "a run that takes another branch stops there"));
    m_flatten->setToolTip(tr("Replace every module call by its operations; nodes keep the names of their modules"));
    m_retrace->setToolTip(tr("Trace again with these options; watch points, inputs and view are kept by name"));
    m_defaults->setToolTip(tr("Restore the options used when a model is opened"));

    auto* form = new QWidget;
    auto* column = new QVBoxLayout(form);
    column->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    column->setSpacing(theme::kTight);
    auto* buttons = new widgets::FlowLayout(nullptr, theme::kTight, theme::kTight);
    buttons->addWidget(m_retrace);
    buttons->addWidget(m_defaults);
    m_concrete->setHorizontalSpacing(theme::kSmall);
    m_concrete->setVerticalSpacing(theme::kTight);
    column->addLayout(buttons);
    column->addWidget(m_result);
    column->addSpacing(theme::kSmall);
    column->addWidget(heading(tr("Tracer")));
    column->addWidget(m_tracer);
    column->addWidget(m_description);
    column->addWidget(m_follow);
    column->addWidget(m_flatten);
    column->addSpacing(theme::kSmall);
    column->addWidget(heading(tr("Leaf classes")));
    column->addWidget(m_noLeaves);
    column->addWidget(m_leaves);
    column->addWidget(m_register);
    column->addSpacing(theme::kSmall);
    column->addWidget(heading(tr("Fixed parameter values")));
    column->addLayout(m_concrete);
    column->addStretch(1);
    return form;
}

void TracingPanel::rebuild() {
    const auto& whole = m_opened.whole();
    const bool traced = whole && whole->traced;
    setHasContent(traced);
    m_pages->setCurrentIndex(traced ? 0 : 1);
    if (!traced) return;
    const document::OpenOptions& options = whole->options;
    m_tracer->setCurrentIndex(std::max(0, m_tracer->findData(QString::fromStdString(options.tracer))));
    m_follow->setChecked(!options.inputData.empty());
    m_flatten->setChecked(options.flatten);
    m_noLeaves->setChecked(std::find(options.leaves.begin(), options.leaves.end(), "none") != options.leaves.end());
    m_register->setChecked(!options.registeredLeaves.empty());
    fillLeaves();
    fillConcrete();
    showDescription();
    showResult();
}

void TracingPanel::fillLeaves() {
    const document::Document& whole = *m_opened.whole();
    std::map<std::string, int> classes;
    for (const graph::ModuleInfo& module : whole.modules->modules())
        if (!module.moduleClass.empty() && !module.qualname.empty()) ++classes[module.moduleClass];
    m_leaves->clear();
    for (const auto& [name, count] : classes) {
        const auto holds = [&name = name](const std::vector<std::string>& list) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        auto* item =
            new QListWidgetItem(tr("%1  ×%2").arg(models::shortClass(name), context::countText(count)), m_leaves);
        item->setToolTip(QString::fromStdString(name));
        item->setData(Qt::UserRole, QString::fromStdString(name));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(holds(whole.options.leaves) || holds(whole.options.registeredLeaves) ? Qt::Checked
                                                                                                 : Qt::Unchecked);
    }
}

void TracingPanel::fillConcrete() {
    while (m_concrete->rowCount() > 0) m_concrete->removeRow(0);
    const document::Document& whole = *m_opened.whole();
    for (const graph::NodeId node : whole.graph->inputs()) {
        const std::string& name = whole.graph->expr(whole.graph->node(node).producer).target;
        if (name.empty()) continue;
        auto* edit = new QLineEdit;
        edit->setObjectName(QStringLiteral("concrete.") + QString::fromStdString(name));
        edit->setPlaceholderText(tr("symbolic"));
        edit->setToolTip(tr(
            "true, None, 3, 0.5 or text: the trace is specialised for this value, and a run with another value fails. "
            "Empty: any value"));
        edit->setAccessibleName(tr("Fixed value of %1").arg(QString::fromStdString(name)));
        for (const auto& [parameter, value] : whole.options.concrete)
            if (parameter == name) edit->setText(QString::fromStdString(value));
        m_concrete->addRow(QString::fromStdString(name), edit);
    }
    if (m_concrete->rowCount() == 0) m_concrete->addRow(note(tr("forward has no parameters")));
}

void TracingPanel::showDescription() {
    for (const document::TracerInfo& tracer : document::tracers())
        if (context::text(tracer.id) == m_tracer->currentData().toString())
            m_description->setText(context::text(tracer.description));
}

void TracingPanel::showResult() {
    const document::Document& whole = *m_opened.whole();
    int failed = 0, unvisited = 0, guards = 0;
    for (const graph::ModuleInfo& module : whole.modules->modules()) {
        failed += module.failure.empty() ? 0 : 1;
        unvisited += module.visited ? 0 : 1;
    }
    for (const graph::ExprId id : whole.graph->main().order) guards += graph::isGuard(whole.graph->expr(id)) ? 1 : 0;
    QStringList words{
        context::countedText(graph::operationCount(*whole.graph), tr("1 operation"), tr("%1 operations"))};
    if (failed) words << tr("modules that could not be traced: %1").arg(context::countText(failed));
    if (unvisited) words << tr("modules never called: %1").arg(context::countText(unvisited));
    if (guards) words << tr("guards: %1").arg(context::countText(guards));
    m_result->setText(words.join(QStringLiteral(", ")));
}

void TracingPanel::setToDefaults() {
    m_tracer->setCurrentIndex(0);
    m_follow->setChecked(false);
    m_flatten->setChecked(false);
    m_noLeaves->setChecked(false);
    const QStringList registered = context::Settings::registeredLeaves();
    for (int i = 0; i < m_leaves->count(); ++i)
        m_leaves->item(i)->setCheckState(
            registered.contains(m_leaves->item(i)->data(Qt::UserRole).toString()) ? Qt::Checked : Qt::Unchecked);
    for (QLineEdit* edit : findChildren<QLineEdit*>(QRegularExpression(QStringLiteral("^concrete\\.")))) edit->clear();
}

document::OpenOptions TracingPanel::chosen() const {
    document::OpenOptions options = m_opened.whole()->options;
    options.tracer = m_tracer->currentData().toString().toStdString();
    options.flatten = m_flatten->isChecked();
    options.inputData = m_follow->isChecked() ? m_inputs.inputData().toStdString() : std::string();
    options.leaves.clear();
    if (m_noLeaves->isChecked()) options.leaves.push_back("none");
    for (int i = 0; i < m_leaves->count() && !m_noLeaves->isChecked(); ++i)
        if (m_leaves->item(i)->checkState() == Qt::Checked)
            options.leaves.push_back(m_leaves->item(i)->data(Qt::UserRole).toString().toStdString());
    options.concrete.clear();
    for (const QLineEdit* edit : findChildren<QLineEdit*>(QRegularExpression(QStringLiteral("^concrete\\."))))
        if (!edit->text().isEmpty())
            options.concrete.emplace_back(edit->objectName().section(QLatin1Char('.'), 1).toStdString(),
                                          edit->text().toStdString());
    return options;
}

void TracingPanel::retrace() {
    const document::OpenOptions options = chosen();
    QStringList registered = context::Settings::registeredLeaves();
    for (int i = 0; i < m_leaves->count(); ++i) {
        const QString name = m_leaves->item(i)->data(Qt::UserRole).toString();
        registered.removeAll(name);
        if (m_register->isChecked() && m_leaves->item(i)->checkState() == Qt::Checked) registered << name;
    }
    context::Settings::setRegisteredLeaves(registered);
    m_loader.retrace(options);
}

PanelInfo tracingPanel() {
    PanelInfo info{QStringLiteral("tracing"),
                   QObject::tr("Tracing"),
                   QStringLiteral("graph"),
                   PanelArea::Left,
                   QStringLiteral("Alt+8"),
                   [](InspectorContext& context) -> Panel* {
                       return new TracingPanel(context.model(), context.loader(), context.inputs());
                   }};
    info.coming = PanelComing::OnDemand;
    info.advice = {
        {QStringLiteral("--leaf"), QObject::tr("make the module's class a leaf in the Tracing panel")},
        {QStringLiteral("--tracer traced-module"),
         QObject::tr("choose the tracer \"Traced module\" in the Tracing panel and trace again")},
        {QStringLiteral("--tracer"), QObject::tr("choose another tracer in the Tracing panel")},
        {QStringLiteral("--concrete"), QObject::tr("fix the parameter's value in the Tracing panel")},
        {QStringLiteral("--example"),
         QObject::tr("set the inputs and tick \"Follow the input values\" in the Tracing panel")},
    };
    return info;
}

}  // namespace sonde::panels
