#include "ui/window/main_window.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/comparison.h"
#include "ui/context/problems.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_columns.h"
#include "ui/models/node_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/progress_strip.h"
#include "ui/window/focus_bar.h"
#include "ui/window/recent_files.h"
#include "ui/window/samples.h"
#include "ui/window/search_bar.h"
#include "ui/window/session.h"
#include "ui/window/start_page.h"

namespace sonde::window {

using actions::Need;
using context::InspectorContext;
using context::Message;
using context::RunState;

namespace {

constexpr int kMinProblemsWidth = 320, kStatusMargins = 120;  ///< pixels; the margins with icon and size grip

bool isValueFile(const QString& path) {
    static const QStringList suffixes{"npy", "npz", "png", "jpg", "jpeg", "bmp",
                                      "gif", "tga", "psd", "ppm", "pgm",  "pnm"};
    return suffixes.contains(QFileInfo(path).suffix().toLower());
}

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(theme::applicationIcon());
    setAcceptDrops(true);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    if (theme::Theme::instance().reducedMotion()) setAnimated(false);
    buildCentre();
    buildDocks();
    bindFileActions();
    bindEditActions();
    bindViewActions();
    bindGoActions();
    bindRunActions();
    bindCompareActions();
    bindColourActions();
    bindCanvasActions();
    bindHelpActions();
    fillMenus();
    buildToolBar();
    buildStatusBar();
    connectContext();
    restore();
    setDocksShown(false);
    followState();
    refreshTitle();
    refreshActions();
    refreshStatus();
}

MainWindow::~MainWindow() {
    // What is torn down must not hear from the context, which is destroyed after the widgets' slots are gone; nor is it
    // what the window looked like.
    m_saveTimer.stop();
    for (const auto& [id, dock] : m_docks) dock->disconnect(this);
    for (QObject* part : m_context.parts()) part->disconnect(this);
}

void MainWindow::buildCentre() {
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_banner = new widgets::Banner(centre);
    m_pages = new QStackedWidget(centre);
    m_start = new StartPage;
    m_graphPage = new QWidget;
    auto* graphColumn = new QVBoxLayout(m_graphPage);
    graphColumn->setContentsMargins(0, 0, 0, 0);
    m_splitter = new QSplitter(m_graphPage);
    m_splitter->setObjectName(QStringLiteral("canvases"));
    m_splitter->setChildrenCollapsible(false);
    graphColumn->addWidget(m_splitter);
    m_canvas = new canvas::GraphCanvas(m_context);
    m_canvas->setObjectName(QStringLiteral("canvas"));
    m_splitter->addWidget(m_canvas);
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_graphPage);
    m_focusBar = new FocusBar(m_context.model(), m_context.canvases(), m_canvas);
    m_search =
        new SearchBar(m_context.model(), m_context.navigation(), m_context.points(), m_context.runs(), m_graphPage);
    column->addWidget(m_banner);
    column->addWidget(m_pages, 1);
    setCentralWidget(centre);
    connect(m_start, &StartPage::openRequested, this, [this] { askForModel(); });
    connect(m_start, &StartPage::builtInRequested, this, &MainWindow::askForBuiltIn);
    connect(m_start, &StartPage::modelChosen, this, &MainWindow::open);
    connect(m_start, &StartPage::sampleChosen, this, &MainWindow::openSample);
    connect(m_search, &SearchBar::dismissed, this, [this] { canvas()->setFocus(); });
    connect(m_banner, &widgets::Banner::dismissed, this, [this] {
        if (std::exchange(m_offersAgain, false)) Session::forgetLost();
    });
    connect(m_banner, &widgets::Banner::actionTriggered, this, [this] {
        if (const auto action = m_bannerAction) action();  // a copy: it may show another message
        else if (const graph::NodeId node = m_context.messages().nodeOf(m_bannerMessage); node.valid())
            m_context.navigation().navigateTo(node);
    });
}

void MainWindow::buildToolBar() {
    auto* bar = addToolBar(tr("Tool bar"));
    bar->setObjectName(QStringLiteral("toolBar"));
    bar->setIconSize({theme::kIconSize, theme::kIconSize});
    bar->setToolButtonStyle(Qt::ToolButtonIconOnly);
    // clang-format off
    const QStringList ids{"file.open", "",           "go.back",          "go.forward",   "",          "run.start",     "run.cancel",
                          "run.live",  "",           "run.watch",        "run.end",      "",          "view.depth_0",  "view.depth_1",
                          "view.expand_all", "view.collapse_all", "",    "view.fit",     "view.zoom_in", "view.zoom_out", "view.direction",
                          "",          "edit.find",  "view.theme"};
    for (const QString& id : ids) id.isEmpty() ? static_cast<void>(bar->addSeparator()) : bar->addAction(m_actions.action(id));
    // clang-format on
    for (const QString& id : {QStringLiteral("file.open"), QStringLiteral("run.start")})
        if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(m_actions.action(id))))
            button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_graphs = new QComboBox;
    m_graphs->setObjectName(QStringLiteral("graphs"));
    m_graphs->setAccessibleName(tr("Displayed graph"));
    m_graphs->setToolTip(tr("The whole model, or a module that was traced alone"));
    m_graphs->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_graphsAction = bar->addWidget(m_graphs);
    m_graphsAction->setVisible(false);
    connect(m_graphs, &QComboBox::activated, this, [this](int graph) { m_context.loader().showGraph(graph); });
}

void MainWindow::refreshGraphs() {
    const QStringList titles = m_context.model().graphTitles();
    m_graphs->clear();
    m_graphs->addItems(titles);
    m_graphs->setCurrentIndex(m_context.model().shownGraph());
    m_graphsAction->setVisible(titles.size() > 1);
}

void MainWindow::buildStatusBar() {
    m_progress = new widgets::ProgressStrip;
    m_status = new widgets::ElidedLabel;
    m_status->setColorRole(theme::ColorRole::MutedText);
    statusBar()->setContentsMargins(theme::kSmall, 0, 0, 0);
    statusBar()->addWidget(m_status, 1);
    statusBar()->addWidget(m_progress, 1);
    m_problems = new QToolButton;
    m_problems->setObjectName(QStringLiteral("problems"));
    m_problems->setAutoRaise(true);
    m_problems->setIcon(theme::icon(QStringLiteral("warning")));
    m_problems->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_problems->hide();
    connect(m_problems, &QToolButton::clicked, this, [this] { goToProblem(1); });
    statusBar()->addPermanentWidget(m_problems);
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, this,
            [this] { m_context.runs().isRunning() ? m_context.runs().cancel() : m_context.loader().cancel(); });
}

void MainWindow::connectContext() {
    // Comes before what shows the status anew.
    const auto forgetSaid = [this] { m_said.clear(); };
    connect(&m_context.model(), &context::OpenModel::documentOpened, this, forgetSaid);
    connect(&m_context.model(), &context::OpenModel::documentClosed, this, forgetSaid);
    connect(&m_context.runs(), &context::Runs::runStarted, this, forgetSaid);
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, forgetSaid);
    connect(&m_context.navigation(), &context::Navigation::hoverChanged, this, forgetSaid);
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this, [this] {
        m_said.clear();
        m_worst = {};
    });
    connect(&m_context.loader(), &context::Loader::loadStarted, this, [this](const QString& location) {
        m_progress->start(tr("Opening %1").arg(shortLocation(location)));
        refreshStatus();
    });
    connect(&m_context.loader(), &context::Loader::loadProgressed, this, [this](const base::Progress& progress) {
        m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                static_cast<qint64>(progress.total));
    });
    connect(&m_context.loader(), &context::Loader::loadFailed, this, [this] {
        m_progress->finish();
        m_sampleLocation.clear();
        refreshActions();
    });
    connect(&m_context.model(), &context::OpenModel::documentOpened, this, [this] {
        m_progress->finish();
        RecentFiles::add(m_context.loader().location());
        m_pages->setCurrentWidget(m_graphPage);
        setDocksShown(true);
        canvas()->setFocus();
        giveSamplePicture();
        refreshGraphs();
        refreshTitle();
        refreshActions();
        refreshStatus();
    });
    connect(&m_context.model(), &context::OpenModel::documentClosed, this, [this] {
        m_progress->finish();
        m_pages->setCurrentWidget(m_start);
        setDocksShown(false);
        refreshGraphs();
        refreshTitle();
        refreshActions();
        refreshStatus();
    });
    connect(&m_context.runs(), &context::Runs::runStarted, this, [this] {
        m_progress->start(tr("Running"));
        refreshActions();
        refreshStatus();
    });
    connect(&m_context.runs(), &context::Runs::runProgressed, this, [this] {
        const context::RunProgress& progress = m_context.runs().progress();
        QString what = tr("Running");
        if (progress.current.valid() && m_context.model().isOpen())
            what = models::operatorText(m_context.model().graph().expr(progress.current)) + QStringLiteral("  ") +
                   models::moduleText(m_context.model().graph().expr(progress.current));
        m_progress->setProgress(what, static_cast<qint64>(progress.done), static_cast<qint64>(progress.total));
    });
    connect(&m_context.runs(), &context::Runs::runFinished, this, [this] {
        m_progress->finish();
        refreshActions();
        refreshStatus();
    });
    for (const auto signal : {&context::Points::watchChanged, &context::Points::endChanged})
        connect(&m_context.points(), signal, this, &MainWindow::refreshActions);
    for (const auto signal : {&context::Navigation::historyChanged, &context::Navigation::searchHitsChanged,
                              &context::Navigation::bookmarksChanged})
        connect(&m_context.navigation(), signal, this, &MainWindow::refreshActions);
    for (const auto signal : {&context::Canvases::viewChanged, &context::Canvases::focusChanged})
        connect(&m_context.canvases(), signal, this, &MainWindow::refreshActions);
    for (const auto signal : {&context::Settings::labelsChanged, &context::Settings::coloringChanged})
        connect(&m_context.settings(), signal, this, &MainWindow::refreshActions);
    connect(&m_context.model(), &context::OpenModel::fileChanged, this, &MainWindow::offerReload);
    connect(&m_context.loader(), &context::Loader::consentRequested, this, &MainWindow::askForConsent);
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this, &MainWindow::followSelection);
    connect(&m_context.runs(), &context::Runs::liveChanged, this, &MainWindow::refreshActions);
    connect(&m_context.runs(), &context::Runs::valueArrived, this, &MainWindow::refreshActions);
    connect(&m_context.navigation(), &context::Navigation::selectionChanged, this, [this] {
        // The status is about what was selected, until the mouse moves again.
        if (m_context.navigation().hovered() != m_context.navigation().selection()) m_context.navigation().hover({});
        refreshActions();
        refreshStatus();
    });
    connect(&m_context.navigation(), &context::Navigation::hoverChanged, this, &MainWindow::refreshStatus);
    connect(&m_context.inputs(), &context::Inputs::inputsChanged, this, &MainWindow::refreshStatus);
    connect(&m_context.messages(), &context::Messages::bannerRequested, this, &MainWindow::showBanner);
    connect(&m_context.messages(), &context::Messages::bannerCleared, m_banner, &widgets::Banner::dismiss);
    connect(&m_context.canvases(), &context::Canvases::activeCanvasChanged, this, &MainWindow::useCanvas);
    connect(&m_context.problems(), &context::Problems::changed, this, &MainWindow::refreshStatus);
    for (QObject* source :
         std::initializer_list<QObject*>{&m_context.comparison(), &m_context.valueMeasures(), &m_context.problems()})
        connect(source, SIGNAL(changed()), this, SLOT(refreshActions()));
    connect(&m_context.runs(), &context::Runs::runFinished, this, &MainWindow::measureIfNeeded);
    connect(&m_context.settings(), &context::Settings::coloringChanged, this, &MainWindow::measureIfNeeded);
    connect(&m_context.settings(), &context::Settings::labelsChanged, this, &MainWindow::measureIfNeeded);
    connectCanvas(m_canvas);
}

void MainWindow::showBanner(const Message& message) {
    using Severity = widgets::Banner::Severity;
    const Severity severity = message.severity == base::Severity::Error     ? Severity::Error
                              : message.severity == base::Severity::Warning ? Severity::Warning
                                                                            : Severity::Info;
    m_bannerAction = nullptr;
    m_offersAgain = false;  // unanswered, it is offered at the next start
    m_bannerMessage = message;
    QString text = message.text;
    // A run's error and the operation with its types have lines of their own: in a small window neither cuts off the
    // other.
    QString hint = message.hint;
    if (message.isOfRun && !message.where.isEmpty())
        hint.prepend(message.where + (hint.isEmpty() ? QString() : QStringLiteral("\n")));
    else if (!message.where.isEmpty()) text += QStringLiteral(" (%1)").arg(message.where);
    m_banner->showMessage(severity, text, hint,
                          m_context.messages().nodeOf(message).valid() ? tr("Show Node") : QString());
}

void MainWindow::refreshTitle() {
    if (!m_context.model().isOpen()) return setWindowTitle(QStringLiteral("Sonde"));
    setWindowTitle(QStringLiteral("%1 — Sonde").arg(QString::fromStdString(m_context.model().document()->title)));
    setWindowFilePath(m_context.loader().location());
}

void MainWindow::refreshStatus() {
    QString text;
    const context::Selection& hovered = m_context.navigation().hovered();
    const context::Selection& shown = hovered.isNone() ? m_context.navigation().selection() : hovered;
    if (!m_context.model().isOpen()) {
        text = tr("No model is open");
    } else if (shown.node.valid()) {
        const graph::Node& node = m_context.model().graph().node(shown.node);
        text = QStringLiteral("%1   %2   %3   %4")
                   .arg(models::shown(node.name), models::operatorText(m_context.model().graph().expr(node.producer)),
                        models::moduleText(m_context.model().graph().expr(node.producer)),
                        models::typeText(node, m_context.runs().value(shown.node)));
    } else if (!shown.isNone()) {
        text = models::qualnameText(shown.qualname);
    } else if (m_context.runs().recording() && m_context.runs().state() == RunState::Finished) {
        text = tr("Run finished in %1 ms")
                   .arg(static_cast<double>(m_context.runs().recording()->totalNs) / 1e6, 0, 'f', 1);
    } else if (m_context.runs().refusal()) {
        text = tr("Not run: %1").arg(QString::fromStdString(m_context.runs().refusal()->what));
    } else if (m_context.model().fileHasChanged()) {
        text = tr("The model file changed on disk");
    } else if (m_context.runs().state() == RunState::Failed) {
        text = tr("The run failed");
    }
    if (const QString stale = m_context.model().isOpen() ? m_context.runs().staleReason() : QString();
        !stale.isEmpty()) {
        const bool isStale = shown.node.valid() ? m_context.runs().isStale(shown.node) : true;
        if (isStale) text = tr("Stale, %1").arg(stale) + QStringLiteral("   ") + text;
    }
    // All panels show one run: which, if it is that of a comparison. A remark on that counts for more than the time.
    const QString run = m_context.model().isOpen() ? m_context.comparison().runText() : QString();
    const QString remarks = run.isEmpty() ? QString() : m_context.comparison().remarks();
    if (!remarks.isEmpty() && shown.isNone()) text.clear();
    if (!run.isEmpty()) text += (text.isEmpty() ? QString() : QStringLiteral("   ")) + run;
    if (!remarks.isEmpty()) text += QStringLiteral("; ") + remarks;
    m_status->setElideMode(remarks.isEmpty() ? Qt::ElideMiddle : Qt::ElideRight);
    if (!m_said.isEmpty()) text = m_said;
    m_status->setText(text);
    const QString problems = m_context.runs().isRunning() ? QString() : m_context.problems().summary();
    // The window may be narrower than the sentence; what is about the selection needs less.
    const int room =
        std::max(kMinProblemsWidth, width() - m_status->fontMetrics().horizontalAdvance(text) - kStatusMargins);
    m_problems->setText(
        m_problems->fontMetrics().elidedText(problems, Qt::ElideRight, std::min(room, width() * 3 / 4)));
    m_problems->setToolTip(
        tr("%1. Go to the next node with a problem (%2)")
            .arg(problems,
                 m_actions.action(QStringLiteral("go.next_problem"))->shortcut().toString(QKeySequence::NativeText)));
    m_problems->setAccessibleName(problems);
    m_problems->setVisible(!problems.isEmpty());
}

void MainWindow::refreshActions() {
    actions::Needs state = Need::Nothing;
    const context::Selection& selection = m_context.navigation().selection();
    state.setFlag(Need::Model, m_context.model().isOpen());
    state.setFlag(Need::Selection, !selection.isNone());
    state.setFlag(Need::Module, selection.scope.valid());
    state.setFlag(Need::Idle, !m_context.runs().isRunning());
    state.setFlag(Need::Running, m_context.runs().isRunning() || !m_writers.empty());
    state.setFlag(Need::Values, m_context.runs().recording() != nullptr);
    state.setFlag(Need::Value, selection.node.valid() && m_context.runs().value(selection.node));
    state.setFlag(Need::CanGoBack, m_context.navigation().canGoBack());
    state.setFlag(Need::CanGoForward, m_context.navigation().canGoForward());
    state.setFlag(Need::SearchHits, !m_context.navigation().searchHits().empty());
    state.setFlag(Need::Watches, !m_context.points().watched().empty());
    state.setFlag(Need::Ends, !m_context.points().ends().empty());
    const int own = selection.isNone() ? -1 : m_context.model().graphOfModule(selection.qualname);
    state.setFlag(Need::OwnGraph, own >= 0 && own != m_context.model().shownGraph());
    state.setFlag(Need::Part, m_context.model().shownGraph() > 0);
    state.setFlag(Need::Run, m_context.canvases().active().runOf(selection) != layout::Outline::kNoRun);
    state.setFlag(Need::Several, m_context.navigation().selectedNodes().size() > 1);
    state.setFlag(Need::LeftOut, m_context.canvases().active().focus().kind != context::Focus::Kind::None ||
                                     m_context.canvases().active().hidesAny());
    state.setFlag(Need::KeptRun, m_context.comparison().hasKeptRun());
    state.setFlag(Need::Passes, m_context.model().whole() && m_context.model().whole()->original);
    state.setFlag(Need::Compared, m_context.comparison().isKnown());
    state.setFlag(Need::TwoCanvases, isSplit());
    state.setFlag(Need::Bookmarks, !m_context.navigation().bookmarks().empty());
    m_actions.setState(state);
    refreshBookmarks();
    m_actions.action(QStringLiteral("go.accept_bad"))->setChecked(m_context.problems().isAccepted(actedOn()));
    m_actions.action(QStringLiteral("view.fold"))->setChecked(m_context.canvases().active().folds());
    m_actions.action(QStringLiteral("view.edge_widths"))->setChecked(m_context.settings().edgeWidths());
    for (const models::NodeColumn& column : models::nodeColumns())
        if (const QString id = QStringLiteral("view.color_") + column.id; m_actions.contains(id))
            m_actions.action(id)->setChecked(m_context.settings().colorBy() == column.id);
    m_actions.action(QStringLiteral("view.split"))
        ->setChecked(isSplit() && m_splitter->orientation() == Qt::Horizontal);
    m_actions.action(QStringLiteral("view.split_stacked"))
        ->setChecked(isSplit() && m_splitter->orientation() == Qt::Vertical);
    const graph::NodeId node = actedOn();
    m_actions.action(QStringLiteral("run.watch"))->setChecked(node.valid() && m_context.points().isWatched(node));
    m_actions.action(QStringLiteral("run.end"))->setChecked(node.valid() && m_context.points().isEnd(node));
    m_actions.action(QStringLiteral("run.live"))->setChecked(m_context.runs().isLive());
    m_actions.action(QStringLiteral("view.direction"))
        ->setChecked(m_context.canvases().active().view().direction == layout::Direction::LeftRight);
    m_actions.action(QStringLiteral("view.weights"))->setChecked(!m_context.canvases().active().view().hideConstants);
    m_actions.action(QStringLiteral("view.fold_shapes"))->setChecked(m_context.canvases().active().view().foldShapes);
    m_actions.action(QStringLiteral("view.attributes"))->setChecked(m_context.settings().showsAttributes());
    m_actions.action(QStringLiteral("view.names"))->setChecked(m_context.settings().showsNames());
}

// --- files ----------------------------------------------------------------------------------------------------------

bool MainWindow::isIdle() const {
    return m_writers.empty() && !m_context.isBusy() &&
           (!m_context.model().isOpen() || (m_canvas->isIdle() && (!m_second || m_second->isIdle())));
}

/// A sample has its own picture as input, also when it was opened by name; a file that the user chose before stays.
void MainWindow::giveSamplePicture() {
    const bool asked = std::exchange(m_sampleLocation, {}) == m_context.loader().location();
    if (m_context.inputs().all().empty() || (!asked && m_context.inputs().all().front().spec.isFile())) return;
    for (const Sample& sample : samples()) {
        if (sample.model == m_context.loader().location())
            m_context.inputs().setSpec(m_context.inputs().all().front().name, {sample.picture, {true, sample.preset}});
    }
}

void MainWindow::openSample(int index) {
    const std::vector<Sample> all = samples();
    if (index < 0 || index >= static_cast<int>(all.size())) return;
    const Sample& sample = all[static_cast<std::size_t>(index)];
    m_sampleLocation = sample.model;
    open(sample.model);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();  // a list of addresses may have none in it
    if (!urls.isEmpty() && urls.first().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.first().isLocalFile()) return;
    event->acceptProposedAction();
    dropFile(urls.first().toLocalFile());
}

/// An image or an array is an input if a model is open that has one; everything else is a model.
void MainWindow::dropFile(const QString& path) {
    if (m_context.model().isOpen() && isValueFile(path) && !m_context.inputs().all().empty()) {
        m_context.inputs().giveFile(path);
        return;
    }
    open(path);
}

}  // namespace sonde::window
