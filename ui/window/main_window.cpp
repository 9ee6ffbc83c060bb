#include "ui/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "core/io/inputs/data_files.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/panels/panel.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/window/comparison_colors.h"
#include "ui/window/graph_steps.h"
#include "ui/window/lesson_view.h"
#include "ui/window/placement.h"
#include "ui/window/presentation.h"
#include "ui/window/recent_files.h"
#include "ui/window/samples.h"
#include "ui/window/search_bar.h"
#include "ui/window/session.h"
#include "ui/window/start_page.h"
#include "ui/window/window_actions.h"
#include "ui/window/window_banner.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_dialogs.h"
#include "ui/window/window_docks.h"
#include "ui/window/window_links.h"
#include "ui/window/window_menus.h"
#include "ui/window/window_output.h"
#include "ui/window/window_state.h"
#include "ui/window/window_status.h"

namespace sonde::window {

namespace {

bool isValueFile(const QString& path) { return io::isNamedAsData(path.toStdString()); }

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(theme::applicationIcon());
    setAcceptDrops(true);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    if (theme::Theme::instance().reducedMotion()) setAnimated(false);
    buildCentre();
    buildParts();
    connectParts();
    connectContext();
    m_state->restore();
    keepOnScreen(*this);
    m_docks->setShown(false);
    m_state->follow();
    refreshTitle();
    m_menus->refresh();
    m_status->refresh();
}

MainWindow::~MainWindow() {
    // What is torn down must not hear from the context, which is destroyed after the widgets' slots are gone; nor is it
    // what the window looked like.
    m_state->stop();
    for (QObject* part : m_context.parts()) {
        part->disconnect(this);
        part->disconnect(m_links);
    }
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
    m_canvases = std::make_unique<WindowCanvases>(*m_graphPage, m_context, m_actions);
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_graphPage);
    m_search =
        new SearchBar(m_context.model(), m_context.navigation(), m_context.points(), m_context.runs(), m_graphPage);
    column->addWidget(m_banner);
    column->addWidget(m_pages, 1);
    setCentralWidget(centre);
}

void MainWindow::buildParts() {
    m_docks = std::make_unique<WindowDocks>(*this, m_context, m_actions);
    m_lessonView = std::make_unique<LessonView>(*this, m_context, *m_docks);
    m_output = std::make_unique<WindowOutput>(*this, m_context, *m_canvases);
    m_dialogs = std::make_unique<WindowDialogs>(*this, m_context, m_actions, *m_canvases);
    m_links = new WindowLinks(*this, m_context, *m_canvases);
    m_steps = std::make_unique<GraphSteps>(m_context, m_actions);
    m_presentation = std::make_unique<Presentation>(*this, m_context, m_actions, *m_canvases, *m_docks);
    const WindowParts parts{*this,     m_context, m_actions, *m_canvases, *m_docks,       *m_dialogs,
                            *m_output, *m_links,  *m_steps,  *m_search,   *m_presentation};
    m_bindings = std::make_unique<WindowActions>(parts);
    bindWindows();
    m_menus = std::make_unique<WindowMenus>(parts);
    m_status = std::make_unique<WindowStatus>(*statusBar(), m_context, m_actions);
    m_offers = std::make_unique<WindowBanner>(*m_banner, m_context, m_actions);
    m_colors = std::make_unique<ComparisonColors>(m_context);
    m_state = std::make_unique<WindowState>(*this, m_context, m_actions, *m_canvases, *m_docks, *m_colors);
}

/// The actions that make other windows.
void MainWindow::bindWindows() {
    m_actions.bind("file.new_window", this, [this] { newWindow(); });
    m_actions.bind("file.beside", this, [this] { openBeside(); });
}

void MainWindow::connectParts() {
    connect(m_start, &StartPage::openRequested, m_dialogs.get(), &WindowDialogs::askForModel);
    connect(m_start, &StartPage::builtInRequested, m_dialogs.get(), &WindowDialogs::askForBuiltIn);
    connect(m_start, &StartPage::modelChosen, this, &MainWindow::open);
    connect(m_start, &StartPage::sampleChosen, this, &MainWindow::openSample);
    connect(m_search, &SearchBar::dismissed, this, [this] { m_canvases->active()->setFocus(); });
    connect(m_dialogs.get(), &WindowDialogs::modelChosen, this, &MainWindow::open);
    connect(m_dialogs.get(), &WindowDialogs::modelBesideChosen, this,
            [this](const QString& location) { openBeside(location); });
    connect(m_dialogs.get(), &WindowDialogs::comparisonBesideChosen, this, [this](const QString& location) {
        openBeside(location);
        m_context.comparison().withFile(location);
    });
    connect(m_menus.get(), &WindowMenus::modelChosen, this, &MainWindow::open);
    connect(m_offers.get(), &WindowBanner::modelRequested, m_dialogs.get(), &WindowDialogs::askForSessionModel);
    connect(m_steps.get(), &GraphSteps::said, m_status.get(), &WindowStatus::say);
    connect(m_status.get(), &WindowStatus::problemsClicked, m_steps.get(), [this] { m_steps->goToProblem(1); });
    connect(m_status.get(), &WindowStatus::findingsClicked, m_docks.get(),
            [this] { m_docks->show(QStringLiteral("findings")); });
    connect(m_canvases.get(), &WindowCanvases::pressed, m_docks.get(), &WindowDocks::holdStill);
    connect(m_docks.get(), &WindowDocks::focusFreed, this, [this] { m_canvases->active()->setFocus(); });
    connect(m_canvases.get(), &WindowCanvases::layoutFinished, m_status.get(), &WindowStatus::refresh);
    connect(m_colors.get(), &ComparisonColors::differenceWanted,
            m_actions.action(QStringLiteral("view.color_difference")), &QAction::trigger);
    connect(m_colors.get(), &ComparisonColors::precisionWanted,
            m_actions.action(QStringLiteral("view.color_precision")), &QAction::trigger);
    QAction* link = m_actions.action(QStringLiteral("file.link"));
    connect(m_links, &WindowLinks::linkedChanged, link, &QAction::setChecked);
}

void MainWindow::connectContext() {
    connect(&m_context.loader(), &context::Loader::loadFailed, this, [this] { m_sampleLocation.clear(); });
    connect(&m_context.model(), &context::OpenModel::documentOpened, this, &MainWindow::showModel);
    connect(&m_context.model(), &context::OpenModel::documentClosed, this, &MainWindow::showStart);
    connect(&m_context.sessionFiles(), &context::SessionFiles::pathChanged, this, [this] {
        const QString path = m_context.sessionFiles().path();
        if (!path.isEmpty() && m_context.model().isOpen()) RecentFiles::add(path);
        refreshTitle();
    });
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&m_context.model(), signal, this, [this] { noteSession(); });
}

void MainWindow::showModel() {
    RecentFiles::add(m_context.loader().location());
    m_pages->setCurrentWidget(m_graphPage);
    m_docks->setShown(true);
    m_canvases->active()->setFocus();
    m_context.runs().setLive(m_context.runs().isLiveWanted());
    giveSampleInputs();
    refreshTitle();
}

void MainWindow::showStart() {
    m_pages->setCurrentWidget(m_start);
    m_docks->setShown(false);
    refreshTitle();
}

void MainWindow::refreshTitle() {
    if (!m_context.model().isOpen()) return setWindowTitle(QStringLiteral("Sonde"));
    const QString model = QString::fromStdString(m_context.model().document()->title);
    const QString session = m_context.sessionFiles().path();
    setWindowTitle(session.isEmpty() ? QStringLiteral("%1 — Sonde").arg(model)
                                     : QStringLiteral("%1 (%2) — Sonde").arg(QFileInfo(session).fileName(), model));
    setWindowFilePath(session.isEmpty() ? m_context.loader().location() : session);
}

/// Panels with work of their own say so by a property.
bool MainWindow::isIdle() const {
    for (const panels::Panel* const panel : findChildren<panels::Panel*>())
        if (panel->property("busy").toBool()) return false;
    return !m_output->isBusy() && !m_dialogs->isBusy() && m_presentation->isIdle() && !m_context.isBusy() &&
           m_docks->isIdle() && (!m_context.model().isOpen() || m_canvases->isIdle());
}

// --- models ----------------------------------------------------------------------------------------------------------

/// A sample has inputs of its own, also when it was opened by name; what the user chose before stays then.
void MainWindow::giveSampleInputs() {
    const QString location = m_context.loader().location();
    const bool asked = std::exchange(m_sampleLocation, {}) == location;
    const auto& inputs = m_context.inputs().all();
    if (inputs.empty() || (!asked && !inputs.front().isDefault)) return;
    const std::vector<Sample> all = samples();
    const auto sample = std::ranges::find(all, location, &Sample::model);
    if (sample == all.end()) return;
    const QString first = inputs.front().name;
    for (const SampleInput& input : sample->inputs)
        m_context.inputs().setSpec(input.name.isEmpty() ? first : input.name, {input.source, {true, input.preset}});
    if (asked) beginSample(*sample);
}

/// Once all parts of the window know the model: runs it, now and when its input changes, and says what to do next.
void MainWindow::beginSample(const Sample& sample) {
    const auto isOpen = [this, location = sample.model] { return m_context.loader().location() == location; };
    const auto say = [this, isOpen, next = sample.next] {
        if (isOpen()) m_status->say(next);
    };
    if (!sample.runs) return say();
    const auto showOutputs = [this, isOpen, say] {
        if (isOpen()) m_docks->show(QStringLiteral("outputs"));
        say();
    };
    connect(&m_context.runs(), &context::Runs::runFinished, this, showOutputs, Qt::SingleShotConnection);
    QTimer::singleShot(0, this, [this, isOpen] {
        if (isOpen() && m_context.model().isOpen()) m_context.runs().setLiveForNow();
    });
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

// --- several windows -------------------------------------------------------------------------------------------------

MainWindow* MainWindow::newWindow() {
    auto* window = new MainWindow;
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->show();
    placeFrame(*window, frameGeometry().translated(32, 32), *this);
    return window;
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
    m_links->setLinked(true);
    other->m_links->setLinked(true);
    return other;
}

void MainWindow::offerAgain(const QStringList& locations) {
    m_offers->offerAgain(locations, [this, locations] {
        open(locations.front());
        for (const QString& location : locations.mid(1)) newWindow()->open(location);
    });
}

/// What all windows have open; one that leaves has nothing any more.
void MainWindow::noteSession(const MainWindow* leaving) const {
    QStringList locations;
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        const auto* window = qobject_cast<const MainWindow*>(widget);
        if (window && window != leaving && window->m_context.model().isOpen())
            locations << (window->m_context.sessionFiles().path().isEmpty() ? window->m_context.loader().location()
                                                                            : window->m_context.sessionFiles().path());
    }
    Session::note(locations);
}

// --- events ----------------------------------------------------------------------------------------------------------

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (!m_state) return;
    m_state->saveSoon();
    const QSize now = event->size(), before = event->oldSize();
    const bool isSmaller = now.height() < before.height() || now.width() < before.width();
    if (now != before)
        QTimer::singleShot(0, m_docks.get(), [docks = m_docks.get(), isSmaller] {
            isSmaller ? docks->leaveRoomForGraph() : docks->giveWidthsBack();
        });
}

void MainWindow::moveEvent(QMoveEvent* event) {
    QMainWindow::moveEvent(event);
    if (m_state) m_state->saveSoon();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (m_state && event->type() == QEvent::WindowStateChange) m_state->saveSoon();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    m_presentation->end();  // remembered is what it looks like otherwise
    m_state->saveAll();
    noteSession(this);
    m_context.notes().flush();
    m_context.sessionFiles().flush();
    m_context.runs().cancel();
    m_context.loader().cancel();
    event->accept();
}

}  // namespace sonde::window
