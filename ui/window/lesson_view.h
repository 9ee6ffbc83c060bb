#pragma once

#include <QObject>

#include "ui/context/inspector_context.h"
#include "ui/context/lessons.h"

class QMainWindow;

namespace sonde::window {

class WindowDocks;

/// Gives a lesson room, and shows values as its steps want to have them seen.
class LessonView : public QObject {
    Q_OBJECT
  public:
    /// All must outlive it.
    LessonView(QMainWindow& window, context::InspectorContext& context, WindowDocks& docks);

  private:
    void giveRoom();
    void chooseView();

    QMainWindow& m_window;
    context::Lessons& m_lessons;
    WindowDocks& m_docks;
    bool m_wasOpen = false;
    int m_height = 0;  ///< that was given to the lesson; 0: none yet
};

}  // namespace sonde::window
