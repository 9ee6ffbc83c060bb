// The part of MainWindow that remembers how the window looks: written while it changes, so that nothing is lost with a
// process that is killed.

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QScreen>
#include <QSettings>
#include <QSplitter>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/stored.h"
#include "ui/models/node_columns.h"
#include "ui/widgets/banner.h"
#include "ui/window/main_window.h"
#include "ui/window/placement.h"
#include "ui/window/recent_files.h"
#include "ui/window/session.h"

namespace sonde::window {

using context::InspectorContext;

namespace {

/// Changes come in swarms, as while an edge is dragged: all of so long are one write.
constexpr int kSaveMs = 250;

const QString kScreen = QStringLiteral("window/screen");
const QString kSplit = QStringLiteral("window/split"), kSplitSizes = QStringLiteral("window/splitSizes");

/// Whether a window was stored on a screen that is larger than the one it is on, in one direction at least.
bool wasOnLargerScreen(const QScreen* screen, QSize before) {
    return screen && before.isValid() && before.boundedTo(screen->availableSize()) != before;
}

}  // namespace

void MainWindow::restore() {
    context::waitUntilStored();  // what a window before this one has written is to be read
    const QSettings settings;
    if (!restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray())) {
        const QSize room = screen() ? screen()->availableSize() : QSize(1280, 800);
        resize(QSize(1400, 900).boundedTo(room * 0.95));
    } else if (wasOnLargerScreen(screen(), settings.value(kScreen).toSize()) && !isMaximized() && !isFullScreen()) {
        const QRect inside = within(geometry(), screen()->availableGeometry(), minimumSizeHint());
        if (inside != geometry()) setGeometry(inside);
    }
    restoreDocks(settings.value(QStringLiteral("window/state")).toByteArray());
    m_context.runs().setThreads(settings.value(QStringLiteral("run/threads"), 0).toInt());
    m_context.runs().setLive(settings.value(QStringLiteral("run/live"), false).toBool());
    m_context.settings().setShowsAttributes(settings.value(QStringLiteral("view/attributes"), false).toBool());
    m_context.settings().setShowsNames(settings.value(QStringLiteral("view/names"), true).toBool());
    m_context.settings().setColorBy(
        settings.value(QStringLiteral("view/colorBy"), QStringLiteral("category")).toString());
    {
        QSettings stored;
        m_context.settings().setLabelRules(context::readLabelRules(stored));
    }
    m_context.settings().setEdgeWidths(settings.value(QStringLiteral("view/edgeWidths"), false).toBool());
    m_canvas->interaction().setWheelZooms(settings.value(QStringLiteral("view/wheelZooms"), true).toBool());
    m_canvas->overlays().setOverviewVisible(settings.value(QStringLiteral("view/overview"), true).toBool());
    m_actions.action(QStringLiteral("view.wheel_zooms"))->setChecked(m_canvas->interaction().wheelZooms());
    m_actions.action(QStringLiteral("view.minimap"))->setChecked(m_canvas->overlays().overviewVisible());
    if (const QString side = settings.value(kSplit).toString(); !side.isEmpty()) {
        split(side == QLatin1String("stacked") ? Qt::Vertical : Qt::Horizontal);
        m_splitter->restoreState(settings.value(kSplitSizes).toByteArray());
    }
}

/// Hears of everything that state() holds.
void MainWindow::followState() {
    m_saveTimer.setSingleShot(true);
    m_saveTimer.setInterval(kSaveMs);
    connect(&m_saveTimer, &QTimer::timeout, this, &MainWindow::save);
    for (const auto& [id, dock] : m_docks) {
        dock->installEventFilter(this);
        connect(dock, &QDockWidget::visibilityChanged, this, &MainWindow::saveSoon);
        connect(dock, &QDockWidget::topLevelChanged, this, &MainWindow::saveSoon);
        connect(dock, &QDockWidget::dockLocationChanged, this, &MainWindow::saveSoon);
    }
    connect(m_splitter, &QSplitter::splitterMoved, this, &MainWindow::saveSoon);
    for (const QString& id : m_actions.ids())
        connect(m_actions.action(id), &QAction::toggled, this, &MainWindow::saveSoon);
    for (const auto signal : {&context::Settings::labelsChanged, &context::Settings::coloringChanged})
        connect(&m_context.settings(), signal, this, &MainWindow::saveSoon);
    connect(&m_context.runs(), &context::Runs::liveChanged, this, &MainWindow::saveSoon);
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&m_context.model(), signal, this, [this] { noteSession(); });
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Move) saveSoon();
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::moveEvent(QMoveEvent* event) {
    QMainWindow::moveEvent(event);
    saveSoon();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::WindowStateChange) saveSoon();
}

/// A window that is hidden says nothing of how it looks.
void MainWindow::saveSoon() {
    if (isVisible() && !m_saveTimer.isActive()) m_saveTimer.start();
}

std::map<QString, QVariant> MainWindow::state() const {
    // Differences colour as long as there is a comparison, which ends with the process.
    const int column = models::nodeColumnIndex(m_context.settings().colorBy());
    const bool compared = column >= 0 && models::nodeColumns()[static_cast<std::size_t>(column)].source ==
                                             models::NodeColumn::Source::Comparison;
    const QString side =
        m_splitter->orientation() == Qt::Vertical ? QStringLiteral("stacked") : QStringLiteral("beside");
    return {{QStringLiteral("window/geometry"), saveGeometry()},
            {kScreen, screen() ? screen()->availableSize() : QSize()},
            {QStringLiteral("window/state"), docksState()},
            {QStringLiteral("run/live"), m_context.runs().isLive()},
            {QStringLiteral("view/attributes"), m_context.settings().showsAttributes()},
            {QStringLiteral("view/names"), m_context.settings().showsNames()},
            {QStringLiteral("view/colorBy"), compared ? m_colorBefore : m_context.settings().colorBy()},
            {QStringLiteral("view/edgeWidths"), m_context.settings().edgeWidths()},
            {QStringLiteral("view/wheelZooms"), m_canvas->interaction().wheelZooms()},
            {QStringLiteral("view/overview"), m_canvas->overlays().overviewVisible()},
            {kSplit, isSplit() ? side : QString()},
            {kSplitSizes, m_splitter->saveState()}};
}

void MainWindow::save() {
    if (!isVisible()) return;
    for (const auto& [key, value] : state()) {
        if (const auto saved = m_saved.find(key); saved != m_saved.end() && saved->second == value) continue;
        m_saved[key] = value;
        context::store(key, value);
    }
}

/// What all windows have open; one that leaves has nothing any more.
void MainWindow::noteSession(const MainWindow* leaving) const {
    QStringList locations;
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        const auto* window = qobject_cast<const MainWindow*>(widget);
        if (window && window != leaving && window->m_context.model().isOpen())
            locations << window->m_context.loader().location();
    }
    Session::note(locations);
}

void MainWindow::offerAgain(const QStringList& locations) {
    if (locations.isEmpty()) return;
    m_bannerMessage = {};
    m_offersAgain = true;
    m_bannerAction = [this, locations] { openAgain(locations); };
    QStringList names;
    for (const QString& location : locations) names << shortLocation(location);
    m_banner->showMessage(widgets::Banner::Severity::Info,
                          tr("Sonde ended unexpectedly with %1 open").arg(names.join(QStringLiteral(", "))),
                          tr("Watch points, open modules, inputs and panels are as they were."), tr("Open Again"));
}

void MainWindow::openAgain(const QStringList& locations) {
    m_banner->dismiss();
    open(locations.front());
    for (const QString& location : locations.mid(1)) newWindow()->open(location);
}

/// Of several windows the one that was closed last is remembered.
void MainWindow::closeEvent(QCloseEvent* event) {
    m_saved.clear();
    save();
    m_saveTimer.stop();
    noteSession(this);
    m_context.runs().cancel();
    m_context.loader().cancel();
    event->accept();
}

}  // namespace sonde::window
