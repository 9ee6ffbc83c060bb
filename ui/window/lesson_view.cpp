#include "ui/window/lesson_view.h"

#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QTabBar>
#include <QTimer>

#include <algorithm>
#include <utility>

#include "ui/panels/lesson/lesson_panel.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

namespace {

// Parts of the window's height, and of that of the panels at the side: a step has what it needs up to them, and the
// value below it at least its own. Text that has no room scrolls; a value that is a strip shows nothing.
constexpr double kMinHeight = 0.36, kMaxHeight = 0.6, kMinValueShare = 0.52;
constexpr int kMinValueHeight = 300, kLessonWidth = 360;

}  // namespace

LessonView::LessonView(QMainWindow& window, context::InspectorContext& context, WindowDocks& docks)
    : m_window(window), m_lessons(context::lessonsOf(context)), m_docks(docks) {
    connect(&m_lessons, &context::Lessons::lessonChanged, this, [this] {
        if (!m_lessons.isOpen()) m_docks.giveColumnsBack();
        if (std::exchange(m_wasOpen, m_lessons.isOpen()) || !m_wasOpen) return;
        m_isDragged = false;
        giveRoomSoon();
    });
    for (const auto signal : {&context::Lessons::textChanged, &context::Lessons::stepChanged})
        connect(&m_lessons, signal, this, &LessonView::giveRoomSoon);
    connect(&m_lessons, &context::Lessons::answered, this, &LessonView::giveRoomSoon);
    connect(&m_lessons, &context::Lessons::textChanged, this, &LessonView::chooseView);
    connect(&context.runs(), &context::Runs::valueArrived, this, &LessonView::chooseView);
    connect(&context.runs(), &context::Runs::runFinished, this, &LessonView::chooseView);
    window.installEventFilter(this);
    if (const QDockWidget* const dock = docks.dock(QStringLiteral("lesson")))
        connect(dock, &QDockWidget::visibilityChanged, this, [this, dock] {
            // For a talk all panels are out of the way: then the lesson has not gone.
            if (dock->isHidden() && m_docks.isShown()) m_docks.giveColumnsBack();
        });
}

/// Once text and panels are laid out.
void LessonView::giveRoomSoon() { QTimer::singleShot(0, this, &LessonView::giveRoom); }

/// Mouse events between panels are the window's own: these are drags of the borders.
bool LessonView::eventFilter(QObject* watched, QEvent* event) {
    const QDockWidget* const dock = m_docks.dock(QStringLiteral("lesson"));
    if (watched != &m_window || !dock || !m_lessons.isOpen()) return false;
    if (event->type() == QEvent::MouseButtonPress) m_pressedHeight = dock->height();
    else if (event->type() == QEvent::MouseButtonRelease && m_pressedHeight > 0)
        m_isDragged = m_isDragged || std::exchange(m_pressedHeight, 0) != dock->height();
    else if (event->type() == QEvent::Resize) giveRoomSoon();
    return false;
}

bool LessonView::isValueBelow(const QDockWidget& lesson, const QDockWidget* value) const {
    return value && value->isVisible() && !value->isFloating() && value->geometry().left() == lesson.geometry().left();
}

/// Of the tabs below panels that share a place, which have their part of its height.
int LessonView::tabsHeight(QDockWidget& dock) const {
    if (m_window.tabifiedDockWidgets(&dock).isEmpty()) return 0;
    for (const QTabBar* const bar : m_window.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly))
        for (int tab = 0; tab < bar->count(); ++tab)
            if (bar->isVisible() && bar->tabText(tab) == dock.windowTitle()) return bar->height();
    return 0;
}

/// Where it is docked is the user's, and so is its height once it was dragged.
void LessonView::giveRoom() {
    QDockWidget* const dock = m_docks.dock(QStringLiteral("lesson"));
    const QDockWidget* const value = m_docks.dock(QStringLiteral("tensor_viewer"));
    const auto* const panel = qobject_cast<panels::LessonPanel*>(m_docks.panel(QStringLiteral("lesson")));
    if (!dock || !panel || !m_lessons.isOpen() || dock->isHidden() || dock->isFloating() || m_isDragged) return;
    const int whole = m_window.height();
    // One above the other neither text nor value has room.
    if (whole < WindowDocks::kLowHeight) m_docks.lendColumns(QStringLiteral("lesson"), QStringLiteral("tensor_viewer"));
    if (m_docks.areColumnsLent()) return;
    int max = static_cast<int>(whole * kMaxHeight);
    if (isValueBelow(*dock, value)) {
        const int both = dock->height() + value->height();
        max = std::min(max, both - std::min(kMinValueHeight, static_cast<int>(both * kMinValueShare)));
    }
    const int min = std::min(static_cast<int>(whole * kMinHeight), max);
    const int height = std::clamp(panel->neededHeight() + dock->height() - panel->height(), min, max);
    if (dock->height() != height) m_window.resizeDocks({dock}, {height + tabsHeight(*dock)}, Qt::Vertical);
    const int width = std::min(kLessonWidth, m_window.width() / 3);
    if (dock->width() < width) m_window.resizeDocks({dock}, {width}, Qt::Horizontal);
}

void LessonView::chooseView() {
    giveRoomSoon();  // the panel of the value may have come with it
    auto* const panel = qobject_cast<panels::TensorViewerPanel*>(m_docks.panel(QStringLiteral("tensor_viewer")));
    if (!panel || !panel->viewer()->hasValue()) return;
    if (const panels::TensorViewInfo* const view = panels::viewOfWord(m_lessons.takeView(panel->node())))
        panel->viewer()->suggestView(view->id);
}

}  // namespace sonde::window
