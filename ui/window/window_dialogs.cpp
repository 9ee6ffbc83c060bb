#include "ui/window/window_dialogs.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QSettings>

#include "ui/canvas/card_labels.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"
#include "ui/context/second_model.h"
#include "ui/context/stored.h"
#include "ui/context/sweeps.h"
#include "ui/context/text.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/builtin_dialog.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/dialogs/labels_dialog.h"
#include "ui/dialogs/report_dialog.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/dialogs/shortcuts_dialog.h"
#include "ui/dialogs/sweep_dialog.h"
#include "ui/window/last_folder.h"
#include "ui/window/recent_files.h"
#include "ui/window/report_writer.h"
#include "ui/window/window_canvases.h"

namespace sonde::window {

namespace {

/// Patterns of all formats for a file dialog: "*.onnx *.pt".
QString modelPatterns() {
    QStringList suffixes;
    for (const document::Format& format : document::formats())
        for (const std::string_view suffix : format.suffixes) {
            const QString text = context::text(suffix);
            suffixes << QStringLiteral("*") + (text.startsWith(QLatin1Char('.')) ? text : QLatin1Char('.') + text);
        }
    suffixes.removeDuplicates();
    return suffixes.join(QLatin1Char(' '));
}

template <typename Dialog>
void open(Dialog* dialog) {
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

/// The window's viewer, in front.
dialogs::HelpViewer* helpViewer(QWidget& window) {
    auto* viewer = window.findChild<dialogs::HelpViewer*>();
    if (!viewer) viewer = new dialogs::HelpViewer(&window);
    viewer->showPage(QStringLiteral("start"));
    viewer->show();
    viewer->raise();
    viewer->activateWindow();
    return viewer;
}

}  // namespace

WindowDialogs::WindowDialogs(QWidget& window, context::InspectorContext& context, actions::ActionRegistry& actions,
                             const WindowCanvases& canvases)
    : m_window(window), m_context(context), m_actions(actions), m_canvases(canvases) {}

QFileDialog* WindowDialogs::modelDialog(const QString& title) {
    auto* dialog = new QFileDialog(&m_window, title, lastFolder());
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Models (%1)").arg(modelPatterns()), tr("All files (*)")});
    return dialog;
}

void WindowDialogs::askForComparedModel() {
    QFileDialog* dialog = modelDialog(tr("Compare with Model"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        keepFolder(file);
        m_context.second().open(file);
    });
    open(dialog);
}

void WindowDialogs::chooseModel(void (WindowDialogs::*chosen)(const QString& location)) {
    QFileDialog* dialog = modelDialog(tr("Open a Model"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, chosen](const QString& file) {
        keepFolder(file);
        Q_EMIT(this->*chosen)(file);
    });
    open(dialog);
}

void WindowDialogs::askForModel() { chooseModel(&WindowDialogs::modelChosen); }
void WindowDialogs::askForModelBeside() { chooseModel(&WindowDialogs::modelBesideChosen); }

void WindowDialogs::askForBuiltIn() {
    auto* dialog = new dialogs::BuiltInDialog(&m_window);
    connect(dialog, &dialogs::BuiltInDialog::chosen, this, &WindowDialogs::modelChosen);
    open(dialog);
}

/// The desktop's own dialog would have no room for the two lines that say how a reference is made.
void WindowDialogs::saveSession() {
    context::SessionFiles& files = m_context.sessionFiles();
    files.path().isEmpty() ? saveSessionAs() : files.saveAs(files.path());
}

void WindowDialogs::saveSessionAs() {
    if (!m_context.model().isOpen()) return;
    auto* dialog = new QFileDialog(&m_window, tr("Save Session"), lastFolder());
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("sonde"));
    dialog->setNameFilters({tr("Sessions (*.sonde)"), tr("All files (*)")});
    dialog->selectFile(QFileInfo(m_context.loader().location()).completeBaseName() + QStringLiteral(".sonde"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        keepFolder(file);
        m_context.sessionFiles().saveAs(file);
    });
    open(dialog);
}

void WindowDialogs::askForSessionModel(const context::SessionQuestion& question) {
    auto* dialog = new QFileDialog(&m_window, tr("Find %1").arg(QFileInfo(question.model).fileName()), lastFolder());
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this, session = question.session](const QString& file) {
        keepFolder(file);
        m_context.loader().openSession(session, file);
    });
    open(dialog);
}

void WindowDialogs::compareWithFile() {
    auto* dialog = new QFileDialog(&m_window, tr("Compare with Reference"), lastFolder());
    dialog->setOption(QFileDialog::DontUseNativeDialog);
    auto* how = new QLabel(
        tr("In PyTorch, with sonde_capture.py (in share/sonde/capture): "
           "<code>with sonde_capture.record(model, \"ref.npz\"): model(x)</code><br>"
           "With ONNX Runtime in Python: <code>sonde_capture.record_onnx(\"model.onnx\", {\"input\": x}, \"ref.npz\")</code>"),
        dialog);
    how->setObjectName(QStringLiteral("howToRecord"));
    how->setTextFormat(Qt::RichText);
    how->setTextInteractionFlags(Qt::TextSelectableByMouse);
    how->setWordWrap(true);
    if (auto* grid = qobject_cast<QGridLayout*>(dialog->layout()))
        grid->addWidget(how, grid->rowCount(), 0, 1, grid->columnCount());
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Reference values and models (*.npz *.onnx *.pt)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, &m_context.comparison(), &context::Comparison::withFile);
    open(dialog);
}

/// Begins with what was chosen last for this model, else with its watch points.
void WindowDialogs::askForSweep() {
    if (!m_context.model().isOpen()) return;
    const graph::InternalGraph& graph = m_context.model().graph();
    context::SweepChoice choice = m_context.sweeps().choice();
    if (choice.inputs.isEmpty())
        for (const graph::NodeId node : m_context.points().watched())
            choice.watched << QString::fromStdString(graph.node(node).name);
    QStringList nodes;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i)
        if (!graph.isErased(graph.node(graph::NodeId(i)).producer))
            nodes << QString::fromStdString(graph.node(graph::NodeId(i)).name);
    auto* dialog = new dialogs::SweepDialog(choice, nodes, lastFolder(), &m_window);
    connect(dialog, &dialogs::SweepDialog::chosen, &m_context.sweeps(), &context::Sweeps::start);
    open(dialog);
}

dialogs::ExportDialog* WindowDialogs::exportDialog() const {
    for (auto* dialog : m_window.findChildren<dialogs::ExportDialog*>(Qt::FindDirectChildrenOnly))
        if (dialog->isVisible()) return dialog;
    return nullptr;
}

bool WindowDialogs::isBusy() const {
    const dialogs::ExportDialog* dialog = exportDialog();
    const dialogs::ReportDialog* report = reportDialog();
    return (dialog && dialog->isBusy()) || (report && report->isBusy());
}

dialogs::ReportDialog* WindowDialogs::reportDialog() const {
    for (auto* dialog : m_window.findChildren<dialogs::ReportDialog*>(Qt::FindDirectChildrenOnly))
        if (dialog->isVisible()) return dialog;
    return nullptr;
}

void WindowDialogs::showReport() {
    if (reportDialog() || !m_context.model().isOpen()) return;
    const QString name = QFileInfo(shortLocation(m_context.loader().location())).completeBaseName();
    auto* dialog = new dialogs::ReportDialog(
        QDir(lastFolder()).filePath(name + QStringLiteral("-report.html")), reportModules(m_context.model()),
        reportInputs(m_context), [this](const dialogs::ReportChoice& choice) { return reportWork(m_context, choice); },
        &m_window);
    connect(dialog, &dialogs::ReportDialog::written, this, [this](const QString& file) {
        keepFolder(file);
        m_context.messages().reportSaving({}, {base::Severity::Info, tr("Audit report written"), file, {}, {}});
    });
    open(dialog);
}

void WindowDialogs::showExport() {
    if (exportDialog() || !m_context.model().isOpen()) return;
    auto* dialog = new dialogs::ExportDialog(m_context.session(), lastFolder(), &m_window);
    connect(dialog, &dialogs::ExportDialog::written, this, &keepFolder);
    connect(dialog, &dialogs::ExportDialog::besideRequested, this, &WindowDialogs::comparisonBesideChosen);
    open(dialog);
}

void WindowDialogs::showSettings() {
    dialogs::Settings now;
    now.wheelZooms = m_canvases.active()->interaction().wheelZooms();
    now.threads = m_context.runs().threads();
    now.debugMemoryMib = static_cast<int>(m_context.session().debugger().limits().memoryBytes >> 20);
    now.watched = m_context.watches().policy();
    now.findsGroups = context::Settings::findsGroups();
    auto* dialog = new dialogs::SettingsDialog(now, &m_window);
    connect(dialog, &dialogs::SettingsDialog::changed, this, [this](const dialogs::Settings& settings) {
        m_actions.action(QStringLiteral("view.wheel_zooms"))->setChecked(settings.wheelZooms);
        for (canvas::GraphCanvas* canvas : m_canvases.all()) canvas->interaction().setWheelZooms(settings.wheelZooms);
        if (settings.findsGroups != context::Settings::findsGroups()) {
            context::Settings::setFindsGroups(settings.findsGroups);
            // Only a file that names no modules looks different; reading the others again costs little.
            if (m_context.model().isOpen() && m_context.model().document()->format == "ONNX")
                m_context.loader().reload();
        }
        session::debug::KeptLimits limits = m_context.session().debugger().limits();
        limits.memoryBytes = static_cast<std::size_t>(settings.debugMemoryMib) << 20;
        m_context.session().debugger().setLimits(limits);
        context::store(QStringLiteral("debug/memoryMib"), settings.debugMemoryMib);
        m_context.watches().setPolicy(settings.watched);
        m_context.runs().setThreads(settings.threads);
        context::store(QStringLiteral("run/threads"), settings.threads);
    });
    connect(dialog, &dialogs::SettingsDialog::labelsRequested, this, &WindowDialogs::showLabels);
    connect(dialog, &dialogs::SettingsDialog::keysRequested, this, &WindowDialogs::showShortcuts);
    open(dialog);
}

/// What the rules write on the selected operation; else on the first that does something.
QStringList WindowDialogs::labelExample(const context::LabelRules& rules) const {
    if (!m_context.model().isOpen()) return {};
    const graph::InternalGraph& graph = m_context.model().graph();
    graph::ExprId shown = m_context.navigation().selection().expr;
    for (const graph::ExprId id : graph.main().order) {
        if (shown.valid()) break;
        const graph::Expr& expr = graph.expr(id);
        if (!layout::Outline::isConstant(expr) && expr.kind != graph::ExprKind::Input &&
            expr.kind != graph::ExprKind::Output)
            shown = id;
    }
    if (!shown.valid()) return {};
    if (const auto labels = canvas::makeCardLabels(rules, &m_context)) {
        const QStringList lines = canvas::labelLines(*labels, graph, shown);
        if (!lines.isEmpty()) return lines;
    }
    layout::ItemDescription what;
    what.kind = layout::ItemKind::Expr;
    what.expr = shown;
    const canvas::ItemText text = canvas::itemText(graph, what);
    QStringList lines{text.title, text.qualname, text.name};
    lines.removeAll(QString());
    return lines;
}

void WindowDialogs::showLabels() {
    auto* dialog = new dialogs::LabelsDialog(
        m_context.settings().labelRules(), [this](const context::LabelRules& rules) { return labelExample(rules); },
        &m_window);
    connect(dialog, &dialogs::LabelsDialog::chosen, this, [this](const context::LabelRules& rules) {
        context::storeLater([rules](QSettings& settings) { context::writeLabelRules(settings, rules); });
        m_context.settings().setLabelRules(rules);
    });
    open(dialog);
}

void WindowDialogs::showShortcuts() { open(new dialogs::ShortcutsDialog(m_actions, &m_window)); }
void WindowDialogs::showAbout() { open(new dialogs::AboutDialog(&m_window)); }

void WindowDialogs::showHelp() {
    m_context.navigation().selection().expr.valid() ? showOperatorHelp() : static_cast<void>(helpViewer(m_window));
}

void WindowDialogs::showOperatorHelp() {
    const graph::ExprId expr = m_context.navigation().selection().expr;
    dialogs::HelpViewer* viewer = helpViewer(m_window);
    expr.valid() && m_context.model().isOpen() ? viewer->showOperator(m_context.model().graph(), expr)
                                               : viewer->showOperators();
}

bool WindowDialogs::showHelpPage(const QString& page, const QString& heading) {
    dialogs::HelpViewer* viewer = helpViewer(m_window);
    viewer->showPage(page);
    return heading.isEmpty() || viewer->showHeading(heading);
}

}  // namespace sonde::window
