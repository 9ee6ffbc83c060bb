#include "ui/window/window_state.h"

#include <QAction>
#include <QMainWindow>
#include <QScreen>
#include <QSettings>

#include <algorithm>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/stored.h"
#include "ui/window/comparison_colors.h"
#include "ui/window/placement.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

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

WindowState::WindowState(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions,
                         WindowCanvases& canvases, WindowDocks& docks, const ComparisonColors& colors)
    : m_window(window), m_context(context), m_actions(actions), m_canvases(canvases), m_docks(docks), m_colors(colors) {
    m_timer.setSingleShot(true);
    m_timer.setInterval(kSaveMs);
    connect(&m_timer, &QTimer::timeout, this, &WindowState::save);
}

void WindowState::restoreGeometry(const QSettings& settings) {
    const QScreen* screen = m_window.screen();
    if (!m_window.restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray())) {
        const QSize room = screen ? screen->availableSize() : QSize(1280, 800);
        m_window.resize(QSize(1400, 900).boundedTo(room * 0.95));
        return;
    }
    screen = m_window.screen();
    if (!wasOnLargerScreen(screen, settings.value(kScreen).toSize()) || m_window.isMaximized() ||
        m_window.isFullScreen())
        return;
    const QRect inside = within(m_window.geometry(), screen->availableGeometry(), m_window.minimumSizeHint());
    if (inside != m_window.geometry()) m_window.setGeometry(inside);
}

void WindowState::restore() {
    context::waitUntilStored();  // what a window before this one has written is to be read
    QSettings settings;
    restoreGeometry(settings);
    m_docks.restore(settings.value(QStringLiteral("window/state")).toByteArray(),
                    settings.value(QStringLiteral("window/panels")).toStringList());
    m_context.runs().setThreads(settings.value(QStringLiteral("run/threads"), 0).toInt());
    session::debug::KeptLimits limits = m_context.session().debugger().limits();
    const int mib =
        settings.value(QStringLiteral("debug/memoryMib"), static_cast<int>(limits.memoryBytes >> 20)).toInt();
    limits.memoryBytes = static_cast<std::size_t>(std::clamp(mib, 0, 1 << 20)) << 20;
    m_context.session().debugger().setLimits(limits);
    m_context.runs().setLive(settings.value(QStringLiteral("run/live"), false).toBool());
    context::Settings& look = m_context.settings();
    look.setShowsAttributes(settings.value(QStringLiteral("view/attributes"), false).toBool());
    look.setShowsNames(settings.value(QStringLiteral("view/names"), true).toBool());
    look.setColorBy(settings.value(QStringLiteral("view/colorBy"), QStringLiteral("category")).toString());
    look.setLabelRules(context::readLabelRules(settings));
    look.setEdgeWidths(settings.value(QStringLiteral("view/edgeWidths"), false).toBool());
    canvas::GraphCanvas& first = *m_canvases.at(0);
    first.interaction().setWheelZooms(settings.value(QStringLiteral("view/wheelZooms"), true).toBool());
    first.overlays().setOverviewVisible(settings.value(QStringLiteral("view/overview"), true).toBool());
    m_actions.action(QStringLiteral("view.wheel_zooms"))->setChecked(first.interaction().wheelZooms());
    m_actions.action(QStringLiteral("view.minimap"))->setChecked(first.overlays().overviewVisible());
    if (const QString side = settings.value(kSplit).toString(); !side.isEmpty()) {
        m_canvases.split(side == QLatin1String("stacked") ? Qt::Vertical : Qt::Horizontal);
        m_canvases.restore(settings.value(kSplitSizes).toByteArray());
    }
}

void WindowState::follow() {
    connect(&m_docks, &WindowDocks::changed, this, &WindowState::saveSoon);
    connect(&m_canvases, &WindowCanvases::resized, this, &WindowState::saveSoon);
    for (const QString& id : m_actions.ids())
        connect(m_actions.action(id), &QAction::toggled, this, &WindowState::saveSoon);
    for (const auto signal : {&context::Settings::labelsChanged, &context::Settings::coloringChanged})
        connect(&m_context.settings(), signal, this, &WindowState::saveSoon);
    connect(&m_context.runs(), &context::Runs::liveChanged, this, &WindowState::saveSoon);
}

void WindowState::saveSoon() {
    if (m_window.isVisible() && !m_timer.isActive()) m_timer.start();
}

std::map<QString, QVariant> WindowState::now() const {
    const QScreen* screen = m_window.screen();
    const context::Settings& look = m_context.settings();
    const canvas::GraphCanvas& first = *m_canvases.at(0);
    const QString side =
        m_canvases.orientation() == Qt::Vertical ? QStringLiteral("stacked") : QStringLiteral("beside");
    return {{QStringLiteral("window/geometry"), m_window.saveGeometry()},
            {kScreen, screen ? screen->availableSize() : QSize()},
            {QStringLiteral("window/state"), m_docks.state()},
            {QStringLiteral("window/panels"), m_docks.wishes()},
            {QStringLiteral("run/live"), m_context.runs().isLiveWanted()},
            {QStringLiteral("view/attributes"), look.showsAttributes()},
            {QStringLiteral("view/names"), look.showsNames()},
            {QStringLiteral("view/colorBy"), m_colors.lastingColumn()},
            {QStringLiteral("view/edgeWidths"), look.edgeWidths()},
            {QStringLiteral("view/wheelZooms"), first.interaction().wheelZooms()},
            {QStringLiteral("view/overview"), first.overlays().overviewVisible()},
            {kSplit, m_canvases.isSplit() ? side : QString()},
            {kSplitSizes, m_canvases.state()}};
}

void WindowState::save() {
    if (!m_window.isVisible()) return;
    for (const auto& [key, value] : now()) {
        if (const auto saved = m_saved.find(key); saved != m_saved.end() && saved->second == value) continue;
        m_saved[key] = value;
        context::store(key, value);
    }
}

void WindowState::saveAll() {
    m_saved.clear();
    save();
    m_timer.stop();
}

}  // namespace sonde::window
