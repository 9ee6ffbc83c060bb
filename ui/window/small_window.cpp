// How panels give way in a window that is small: the part of WindowDocks that knows how much room there is.

#include <QDockWidget>
#include <QMainWindow>

#include <algorithm>

#include "ui/window/panel_table.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

namespace {

/// What panels may have of a window that is small in that direction.
struct Room {
    Qt::DockWidgetArea area;
    double maxShare;  ///< of the window
    int minimum;      ///< pixels
    int smallBelow;   ///< a window smaller than that is small, pixels
};
constexpr int kSmallHeight = 800;  ///< a window lower than that is small, pixels
constexpr Room kRooms[] = {{Qt::BottomDockWidgetArea, 0.25, 96, kSmallHeight},
                           {Qt::LeftDockWidgetArea, 0.22, 160, 1200},
                           {Qt::RightDockWidgetArea, 0.28, 200, 1200}};
/// The left column if it was lent, which is for reading.
constexpr double kLentShare = 0.34;
constexpr int kMaxLent = 360;

constexpr double kMaxAskedFor = 0.44;  ///< of the height of a small window

/// The height that a panel at the bottom has in a small window if it is what the user has asked for, as a table of
/// which a few rows are no use; 0: that of all.
int heightAskedFor(const panels::PanelInfo& info, const QMainWindow& window) {
    if (window.height() >= kSmallHeight) return 0;
    if (info.area != panels::PanelArea::Bottom || info.coming == panels::PanelComing::WithContent) return 0;
    return std::min(info.size.height(), static_cast<int>(window.height() * kMaxAskedFor));
}

}  // namespace

const panels::PanelInfo& WindowDocks::infoOf(const QString& panel) {
    return *std::ranges::find(panelTable(), panel, &panels::PanelInfo::id);
}

/// A low window has no room for three panels one above the other: those below the first share the place of the last.
void WindowDocks::shareLowColumn() {
    if (m_isRestored || m_window.height() >= kLowHeight) return;
    std::vector<QDockWidget*> rows;
    for (const panels::PanelInfo& info : panelTable())
        if (info.area == panels::PanelArea::Left && info.coming != panels::PanelComing::OnDemand)
            rows.push_back(m_docks[info.id]);
    if (rows.size() < 3) return;
    for (std::size_t i = 1; i + 1 < rows.size(); ++i) m_window.tabifyDockWidget(rows.back(), rows[i]);
    // What a freshly opened model is comes before what it may be given; Run is in the tool bar.
    rows[1]->raise();
}

void WindowDocks::giveHeightAskedFor(const QString& panel) {
    QDockWidget& dock = *m_docks[panel];
    const int height = heightAskedFor(infoOf(panel), m_window);
    if (dock.isFloating() || m_window.dockWidgetArea(&dock) != Qt::BottomDockWidgetArea || dock.height() >= height)
        return;
    m_window.resizeDocks({&dock}, {height}, Qt::Vertical);
}

/// Null: none is seen there. One behind another tab need not have the size that it would have, but Qt may not tell yet
/// which one is in front.
QDockWidget* WindowDocks::firstSeenIn(Qt::DockWidgetArea area) const {
    if (const std::vector<QString> seen = seenIn(area); !seen.empty()) return m_docks.at(seen.front());
    for (const auto& [id, dock] : m_docks)
        if (!dock->isFloating() && dock->isVisible() && m_window.dockWidgetArea(dock) == area) return dock;
    return nullptr;
}

int WindowDocks::lentWidth() const { return std::min(kMaxLent, static_cast<int>(m_window.width() * kLentShare)); }

/// How wide it is, or would be if the window were not small.
int WindowDocks::widthInRoom(QDockWidget& dock) const {
    const auto before = m_narrowed.find(m_window.dockWidgetArea(&dock));
    return before == m_narrowed.end() ? dock.width() : before->second;
}

void WindowDocks::leaveRoomForGraph(const QString& asked) {
    if (!m_isShown) return;
    for (const Room& room : kRooms) {
        const bool isWidth = room.area != Qt::BottomDockWidgetArea;
        const int whole = isWidth ? m_window.width() : m_window.height();
        if (whole >= room.smallBelow) {
            widenAgain(room.area, whole);
            continue;
        }
        int most = std::max(room.minimum, static_cast<int>(whole * room.maxShare));
        if (room.area == Qt::LeftDockWidgetArea && areColumnsLent()) most = lentWidth();
        if (!isWidth) {
            std::vector<QString> seen = seenIn(room.area);
            if (!asked.isEmpty()) seen.push_back(asked);
            for (const QString& id : seen) most = std::max(most, heightAskedFor(infoOf(id), m_window));
        }
        QDockWidget* const dock = firstSeenIn(room.area);
        if (!dock) continue;
        const int depth = isWidth ? dock->width() : dock->height();
        if (depth > most && isWidth && !areColumnsLent()) m_narrowed.try_emplace(room.area, depth);
        if (depth > most) m_window.resizeDocks({dock}, {most}, isWidth ? Qt::Horizontal : Qt::Vertical);
        else widenAgain(room.area, most);
    }
}

void WindowDocks::giveWidthsBack() {
    if (!m_isShown) return;
    const int whole = m_window.width();
    for (const Room& room : kRooms)
        if (room.area != Qt::BottomDockWidgetArea)
            widenAgain(room.area, whole >= room.smallBelow
                                      ? whole
                                      : std::max(room.minimum, static_cast<int>(whole * room.maxShare)));
}

/// A column that was made narrow for a smaller window, up to how wide it was.
void WindowDocks::widenAgain(Qt::DockWidgetArea area, int most) {
    const auto before = m_narrowed.find(area);
    QDockWidget* const dock = firstSeenIn(area);
    if (before == m_narrowed.end() || !dock || areColumnsLent()) return;
    const int width = std::min(before->second, most);
    if (dock->width() < width) m_window.resizeDocks({dock}, {width}, Qt::Horizontal);
    if (width == before->second) m_narrowed.erase(before);
}

/// A width that the user has dragged is theirs: it is not to be made another one when the window grows.
void WindowDocks::noteDragged(bool isBegin) {
    for (const Qt::DockWidgetArea area : {Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea}) {
        const QDockWidget* const dock = firstSeenIn(area);
        const int width = dock ? dock->width() : 0;
        if (isBegin) m_gripped[area] = width;
        else if (m_gripped[area] != width) m_narrowed.erase(area);
    }
}

}  // namespace sonde::window
