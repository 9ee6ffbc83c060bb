#pragma once

#include <QObject>

#include "ui/context/inspector_context.h"
#include "ui/context/lessons.h"

class QDockWidget;
class QMainWindow;

namespace sonde::window {

class WindowDocks;

/// Gives a lesson room, and shows values as its steps want to have them seen.
class LessonView : public QObject {
    Q_OBJECT
  public:
    /// All must outlive it.
    LessonView(QMainWindow& window, context::InspectorContext& context, WindowDocks& docks);

    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void giveRoom();
    void giveRoomSoon();
    int tabsHeight(QDockWidget& dock) const;
    bool isValueBelow(const QDockWidget& lesson, const QDockWidget* value) const;
    void chooseView();

    QMainWindow& m_window;
    context::Lessons& m_lessons;
    WindowDocks& m_docks;
    bool m_wasOpen = false;
    bool m_isDragged = false;  ///< the user has chosen a height
    int m_pressedHeight = 0;   ///< of the lesson when a border between panels was gripped
};

}  // namespace sonde::window
