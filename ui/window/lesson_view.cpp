#include "ui/window/lesson_view.h"

#include <QDockWidget>
#include <QMainWindow>
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

// Parts of the window's height. A step has what it needs, and the value below it the rest.
constexpr double kMinHeight = 0.36, kMaxHeight = 0.6;
constexpr int kValueHeight = 300, kLessonWidth = 360;

}  // namespace

LessonView::LessonView(QMainWindow& window, context::InspectorContext& context, WindowDocks& docks)
    : m_window(window), m_lessons(context::lessonsOf(context)), m_docks(docks) {
    connect(&m_lessons, &context::Lessons::lessonChanged, this, [this] {
        if (std::exchange(m_wasOpen, m_lessons.isOpen()) || !m_wasOpen) return;
        m_height = 0;
        QTimer::singleShot(0, this, &LessonView::giveRoom);
    });
    // Once their text is laid out.
    for (const auto signal : {&context::Lessons::textChanged, &context::Lessons::stepChanged})
        connect(&m_lessons, signal, this, [this] { QTimer::singleShot(0, this, &LessonView::giveRoom); });
    connect(&m_lessons, &context::Lessons::answered, this,
            [this] { QTimer::singleShot(0, this, &LessonView::giveRoom); });
    connect(&m_lessons, &context::Lessons::textChanged, this, &LessonView::chooseView);
    connect(&context.runs(), &context::Runs::valueArrived, this, &LessonView::chooseView);
    connect(&context.runs(), &context::Runs::runFinished, this, &LessonView::chooseView);
}

/// Where it is docked is the user's, and so is its height once it was dragged.
void LessonView::giveRoom() {
    QDockWidget* const dock = m_docks.dock(QStringLiteral("lesson"));
    const auto* const panel = qobject_cast<panels::LessonPanel*>(m_docks.panel(QStringLiteral("lesson")));
    if (!dock || !panel || !m_lessons.isOpen() || dock->isHidden() || dock->isFloating()) return;
    if (m_height > 0 && dock->height() != m_height) return;
    const int whole = m_window.height(), min = static_cast<int>(whole * kMinHeight);
    const int max = std::max(min, std::min(static_cast<int>(whole * kMaxHeight), whole - kValueHeight));
    const int height = std::clamp(panel->neededHeight() + dock->height() - panel->height(), min, max);
    if (dock->height() != height) m_window.resizeDocks({dock}, {height}, Qt::Vertical);
    m_height = dock->height();
    const int width = std::min(kLessonWidth, m_window.width() / 3);
    if (dock->width() < width) m_window.resizeDocks({dock}, {width}, Qt::Horizontal);
}

void LessonView::chooseView() {
    auto* const panel = qobject_cast<panels::TensorViewerPanel*>(m_docks.panel(QStringLiteral("tensor_viewer")));
    if (!panel || !panel->viewer()->hasValue()) return;
    if (const panels::TensorViewInfo* const view = panels::viewOfWord(m_lessons.takeView(panel->node())))
        panel->viewer()->setCurrentView(view->id);
}

}  // namespace sonde::window
