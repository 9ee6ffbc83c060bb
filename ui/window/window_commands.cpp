// The part of MainWindow that asks for files and goes from node to node.

#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QScopedValueRollback>
#include <QScreen>

#include <set>

#include "core/analysis/match.h"
#include "core/io/npz/npz.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/context/problems.h"
#include "ui/context/stored.h"
#include "ui/context/text.h"
#include "ui/dialogs/builtin_dialog.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/models/node_text.h"
#include "ui/widgets/banner.h"
#include "ui/window/main_window.h"
#include "ui/window/placement.h"
#include "ui/window/recent_files.h"
#include "ui/window/samples.h"

namespace sonde::window {

using context::InspectorContext;
using context::Selection;

namespace {

QString lastFolder() { return context::stored(QStringLiteral("files/folder")).toString(); }
void keepFolder(const QString& file) { context::store(QStringLiteral("files/folder"), QFileInfo(file).absolutePath()); }

}  // namespace

void MainWindow::askForModel(bool beside) {
    QStringList suffixes;
    for (const document::Format& format : document::formats())
        for (const std::string_view suffix : format.suffixes) {
            const QString text = context::text(suffix);
            suffixes << QStringLiteral("*") + (text.startsWith(QLatin1Char('.')) ? text : QLatin1Char('.') + text);
        }
    suffixes.removeDuplicates();
    auto* dialog = new QFileDialog(this, tr("Open a Model"), lastFolder());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Models (%1)").arg(suffixes.join(QLatin1Char(' '))), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this, beside](const QString& file) {
        keepFolder(file);
        beside ? static_cast<void>(openBeside(file)) : open(file);
    });
    dialog->open();
}

void MainWindow::askForBuiltIn() {
    auto* dialog = new dialogs::BuiltInDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &dialogs::BuiltInDialog::chosen, this, &MainWindow::open);
    dialog->open();
}

MainWindow* MainWindow::newWindow() {
    auto* window = new MainWindow;
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->show();
    placeFrame(*window, frameGeometry().translated(32, 32), *this);
    return window;
}

void MainWindow::saveValues() {
    const auto recording = m_context.runs().recording();
    if (!recording) return;
    std::vector<io::NamedTensor> values;
    const auto add = [&](const char* prefix, graph::NodeId node, const std::string& name) {
        const tensor::Value* value = m_context.runs().value(node);
        if (value && value->isTensor()) values.emplace_back(prefix + name, value->tensor());
    };
    for (const document::NamedNode& input : m_context.model().document()->inputs) add("in.", input.node, input.name);
    for (const document::NamedNode& output : m_context.model().document()->outputs)
        add("out.", output.node, output.name);
    for (const graph::NodeId node : m_context.points().watched())
        add("node.", node, m_context.model().graph().node(node).name);
    for (const graph::NodeId node : m_context.points().ends())
        if (!m_context.points().isWatched(node)) add("node.", node, m_context.model().graph().node(node).name);
    auto* dialog = new QFileDialog(this, tr("Save Values"), lastFolder(), tr("NumPy archive (*.npz)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("npz"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, values](const QString& file) {
        keepFolder(file);
        // Written in the background: values may be hundreds of megabytes.
        auto* job = new context::Job(this);
        job->start([values, path = file.toStdString()](const base::WorkContext&) { return io::writeNpz(path, values); },
                   [this, job, file](const base::Result<void>& written) {
                       if (!written) m_context.messages().report(written.error());
                       else
                           m_context.messages().report(
                               context::Message{base::Severity::Info, tr("Values saved"), file, {}, {}});
                       job->deleteLater();
                   });
    });
    dialog->open();
}

void MainWindow::exportPicture(const QString& suffix) {
    auto* dialog =
        new QFileDialog(this, tr("Export Graph"), lastFolder(), tr("%1 file (*.%2)").arg(suffix.toUpper(), suffix));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->selectFile(QFileInfo(shortLocation(m_context.loader().location())).completeBaseName() + QLatin1Char('.') +
                       suffix);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        keepFolder(file);
        exportTo(file);
    });
    dialog->open();
}

void MainWindow::showSettings() {
    dialogs::Settings now;
    now.wheelZooms = canvas()->interaction().wheelZooms();
    now.threads = m_context.runs().threads();
    now.findsGroups = context::Settings::findsGroups();
    auto* dialog = new dialogs::SettingsDialog(now, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &dialogs::SettingsDialog::changed, this, [this](const dialogs::Settings& settings) {
        m_actions.action(QStringLiteral("view.wheel_zooms"))->setChecked(settings.wheelZooms);
        for (const int number : {0, 1})
            if (canvas(number)) canvas(number)->interaction().setWheelZooms(settings.wheelZooms);
        if (settings.findsGroups != context::Settings::findsGroups()) {
            context::Settings::setFindsGroups(settings.findsGroups);
            // Only a file that names no modules looks different; reading the others again costs little.
            if (m_context.model().isOpen() && m_context.model().document()->format == "ONNX")
                m_context.loader().reload();
        }
        m_context.runs().setThreads(settings.threads);
        context::store(QStringLiteral("run/threads"), settings.threads);
    });
    connect(dialog, &dialogs::SettingsDialog::labelsRequested, this, &MainWindow::showLabels);
    connect(dialog, &dialogs::SettingsDialog::keysRequested, m_actions.action(QStringLiteral("help.shortcuts")),
            &QAction::trigger);
    dialog->open();
}

void MainWindow::showHelp(const QString& page) {
    auto* viewer = findChild<dialogs::HelpViewer*>();
    if (!viewer) viewer = new dialogs::HelpViewer(this);
    viewer->showPage(page);
    viewer->show();
    viewer->raise();
    viewer->activateWindow();
}

void MainWindow::showOperatorHelp() {
    const graph::ExprId expr = m_context.navigation().selection().expr;
    showHelp(QStringLiteral("start"));
    auto* viewer = findChild<dialogs::HelpViewer*>();
    expr.valid() && m_context.model().isOpen() ? viewer->showOperator(m_context.model().graph(), expr)
                                               : viewer->showOperators();
}

void MainWindow::offerReload() {
    m_bannerMessage = {};
    m_offersAgain = false;
    const QString key = m_actions.action(QStringLiteral("file.reload"))->shortcut().toString(QKeySequence::NativeText);
    m_banner->showMessage(widgets::Banner::Severity::Warning, tr("model file changed on disk; reload (%1)").arg(key),
                          tr("No values are shown until then. View, watch points and bookmarks are kept."),
                          tr("Reload"));
    m_bannerAction = [this] { m_context.loader().reload(); };
}

/// The question is above the graph; whoever does not answer it goes on working, and nothing has run.
void MainWindow::askForConsent(const document::NativeRequest& request) {
    m_bannerMessage = {};
    m_offersAgain = false;
    const QString file = QString::fromStdString(request.path.filename().string());
    m_banner->showMessage(
        widgets::Banner::Severity::Warning,
        tr("%1 is a shared library: opening it runs its code with your rights. It can read, change and send your files.")
            .arg(file),
        tr("Agree only if you know where it comes from. Sonde remembers this for exactly this content (SHA-256 %1…) and asks again if the file changes.")
            .arg(QString::fromStdString(request.hash.substr(0, 16))),
        tr("Run Its Code"));
    m_bannerAction = [this, request] { m_context.loader().agreeToNative(request); };
}

void MainWindow::refreshBookmarks() {
    const auto& bookmarks = m_context.navigation().bookmarks();
    for (std::size_t n = 1; n <= 9; ++n) {
        QAction* action = m_actions.action(QStringLiteral("go.bookmark_%1").arg(n));
        const bool there = n <= bookmarks.size();
        QString name;
        if (there && m_context.model().isOpen()) {
            const Selection& at = bookmarks[n - 1];
            name = at.node.valid() ? models::shown(m_context.model().graph().node(at.node).name)
                                   : models::qualnameText(at.qualname);
        }
        action->setText(there ? QStringLiteral("&%1  %2").arg(n).arg(name.left(60).replace(u'&', QStringLiteral("&&")))
                              : tr("Bookmark &%1").arg(n));
        action->setEnabled(there);
    }
}

// --- several windows ------------------------------------------------------------------------------------------------

void MainWindow::setLinked(bool linked) {
    m_linked = linked;
    m_actions.action(QStringLiteral("file.link"))->setChecked(linked);
}

MainWindow* MainWindow::openBeside() {
    MainWindow* other = placeBeside();
    if (m_context.model().isOpen()) other->context().loader().show(m_context.model().whole());
    return other;
}

MainWindow* MainWindow::openBeside(const QString& model) {
    MainWindow* other = placeBeside();
    other->open(model);
    return other;
}

MainWindow* MainWindow::placeBeside() {
    auto* other = new MainWindow;
    other->setAttribute(Qt::WA_DeleteOnClose);
    const QRect room = screen() ? screen()->availableGeometry() : geometry();
    if (isMaximized() || isFullScreen()) showNormal();
    const QRect left(room.x(), room.y(), room.width() / 2, room.height());
    placeFrame(*this, left, *this);
    other->show();
    placeFrame(*other, {left.right() + 1, room.y(), room.width() - left.width(), room.height()}, *this);
    setLinked(true);
    other->setLinked(true);
    return other;
}

/// What is selected here is selected in every linked window: the counterpart in its graph (see analysis::matchNodes),
/// else the module of that name, so that two models can be compared. The second canvas of this window shows it as well.
void MainWindow::followSelection() {
    if (m_linked && isSplit())
        canvas(1 - m_context.canvases().activeNumber())->navigation().ensureVisible(m_context.navigation().selection());
    if (!m_linked || m_following || !m_context.model().isOpen()) return;
    const Selection& here = m_context.navigation().selection();
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        auto* other = qobject_cast<MainWindow*>(widget);
        if (!other || other == this || !other->m_linked || !other->m_context.model().isOpen()) continue;
        const QScopedValueRollback guard(other->m_following, true);
        context::InspectorContext& there = other->m_context;
        Selection same;
        if (here.node.valid()) same = there.navigation().selectionOf(counterpart(there.model()));
        if (same.isNone() && !here.qualname.isEmpty()) same = there.navigation().selectionOf(here.qualname);
        if (same.kind == Selection::Kind::Module) same = {};
        same.isNone() ? there.navigation().clearSelection() : there.navigation().navigateTo(same);
    }
}

/// What stands for the selected node in another window's graph. Pairs are found once for two graphs.
graph::NodeId MainWindow::counterpart(const context::OpenModel& there) {
    const auto& here = m_context.model().document()->graph;
    const auto& other = there.document()->graph;
    if (here == other) return m_context.navigation().selection().node;
    if (m_matched.first.lock() != here || m_matched.second.lock() != other) {
        m_matched = {here, other};
        m_match = analysis::matchNodes(*here, *other);
    }
    return m_match[m_context.navigation().selection().node.index()];
}

void MainWindow::goToProducer() {
    const Selection& selection = m_context.navigation().selection();
    if (!selection.expr.valid()) return;
    // The first input that is no weight: the way the data came.
    const graph::Expr& expr = m_context.model().graph().expr(selection.expr);
    for (const graph::NodeId input : expr.inputs) {
        const graph::ExprId producer = m_context.model().graph().node(input).producer;
        if (producer.valid() && layout::Outline::isConstant(m_context.model().graph().expr(producer))) continue;
        return m_context.navigation().navigateTo(input);
    }
    if (!expr.inputs.empty()) m_context.navigation().navigateTo(expr.inputs.front());
}

void MainWindow::goToConsumer() {
    const graph::NodeId node = actedOn();
    if (!node.valid()) return;
    const std::vector<graph::ExprId>& users = m_context.model().graph().node(node).users;
    if (!users.empty()) m_context.navigation().navigateTo(m_context.navigation().selectionOf(users.front()));
}

/// That no problem is known says something of a run that ended, and nothing where there is none.
QString MainWindow::noProblemText() const {
    const QKeySequence start = m_actions.action(QStringLiteral("run.start"))->shortcut();
    if (m_context.runs().isRunning()) return tr("The run has not ended yet");
    if (const auto& refusal = m_context.runs().refusal())
        return tr("The run was refused: %1").arg(QString::fromStdString(refusal->what));
    if (!m_context.runs().recording())
        return m_context.runs().state() == context::RunState::Failed
                   ? tr("The run failed before anything was computed")
                   : tr("Nothing was run yet: %1 runs the model").arg(start.toString(QKeySequence::NativeText));
    if (m_context.runs().state() == context::RunState::Cancelled)
        return tr("No node has a problem up to where the run was cancelled");
    if (const QString stale = m_context.runs().staleReason(); !stale.isEmpty())
        return tr("No node had a problem in the last run; since then %1").arg(stale);
    return tr("No node has a problem");
}

void MainWindow::say(const QString& text) {
    m_context.messages().report(context::Message{base::Severity::Info, text, {}, {}, {}});
    m_said = text;
    refreshStatus();
}

void MainWindow::goToProblem(int step) {
    // Of the last run first, with origins before carriers; then what was said of the model.
    std::vector<graph::NodeId> problems = m_context.problems().nodes();
    for (const context::Message& message : m_context.messages().all())
        if (const graph::NodeId node = m_context.messages().nodeOf(message);
            node.valid() && !message.isOfRun && message.severity != base::Severity::Info)
            problems.push_back(node);
    std::set<graph::NodeId> seen;
    std::erase_if(problems, [&seen](graph::NodeId node) { return !seen.insert(node).second; });
    if (problems.empty()) return say(noProblemText());
    const int count = static_cast<int>(problems.size());
    const auto found = std::find(problems.begin(), problems.end(), m_context.navigation().selection().node);
    const int at = found == problems.end() ? (step > 0 ? -1 : 0) : static_cast<int>(found - problems.begin());
    m_context.navigation().navigateTo(problems[static_cast<std::size_t>(((at + step) % count + count) % count)]);
}

}  // namespace sonde::window
