#include "ui/window/lesson_view.h"

#include <QDockWidget>
#include <QMainWindow>
#include <QTimer>

#include <algorithm>
#include <utility>

#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

namespace {

constexpr double kLessonHeight = 0.5;  // of the window: the value below it keeps the rest
constexpr int kLessonWidth = 360;

}  // namespace

LessonView::LessonView(QMainWindow& window, context::InspectorContext& context, WindowDocks& docks)
    : m_window(window), m_lessons(context::lessonsOf(context)), m_docks(docks) {
    connect(&m_lessons, &context::Lessons::lessonChanged, this, [this] {
        if (!std::exchange(m_wasOpen, m_lessons.isOpen()) && m_wasOpen)
            QTimer::singleShot(0, this, &LessonView::giveRoom);
    });
    connect(&m_lessons, &context::Lessons::textChanged, this, &LessonView::chooseView);
    connect(&context.runs(), &context::Runs::valueArrived, this, &LessonView::chooseView);
    connect(&context.runs(), &context::Runs::runFinished, this, &LessonView::chooseView);
}

/// Where it is docked is the user's.
void LessonView::giveRoom() {
    QDockWidget* const dock = m_docks.dock(QStringLiteral("lesson"));
    if (!dock || dock->isHidden() || dock->isFloating()) return;
    const int height = static_cast<int>(m_window.height() * kLessonHeight);
    if (dock->height() < height) m_window.resizeDocks({dock}, {height}, Qt::Vertical);
    const int width = std::min(kLessonWidth, m_window.width() / 3);
    if (dock->width() < width) m_window.resizeDocks({dock}, {width}, Qt::Horizontal);
}

void LessonView::chooseView() {
    auto* const panel = qobject_cast<panels::TensorViewerPanel*>(m_docks.panel(QStringLiteral("tensor_viewer")));
    if (!panel || !panel->viewer()->hasValue()) return;
    if (const QString view = m_lessons.takeView(panel->node()); !view.isEmpty()) panel->viewer()->setCurrentView(view);
}

}  // namespace sonde::window
