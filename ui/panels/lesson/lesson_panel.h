#pragma once

#include "ui/context/lessons.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QLabel;
class QListWidget;
class QScrollArea;
class QStackedWidget;
class QTextBrowser;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

class LessonQuestions;

/// The lesson that is gone through, a step at a time beside the graph; without one the list of lessons.
class LessonPanel : public Panel {
    Q_OBJECT
  public:
    LessonPanel(context::OpenModel& opened, context::Navigation& navigation, context::Lessons& lessons,
                context::Messages& messages, QWidget* parent = nullptr);

    /// Binds the actions, and comes to the front with a lesson.
    void join(const PanelHost& host);
    /// Command `lesson`.
    base::Result<void> perform(const QString& what);

    QListWidget* list() const { return m_list; }
    QString titleText() const;
    QString progressText() const;
    /// What the step says, without markup.
    QString stepText() const;
    /// The height in which a step and its questions are seen whole; that of the list without a lesson.
    int neededHeight() const;

  private:
    QWidget* makeList();
    QWidget* makePage();
    void openFile();
    void closeLesson();
    void refresh();
    void refreshStep();
    void refreshText();
    void writeFailure(const QString& failure);
    void refreshActions();
    void fitText();

    context::OpenModel& m_opened;
    context::Lessons& m_lessons;
    context::Messages& m_messages;
    actions::ActionRegistry* m_actions = nullptr;
    bool m_isListAsked = false;          ///< the list is to be seen without a lesson
    std::optional<base::Error> m_error;  ///< of the last lesson that was to be opened
    QStackedWidget* m_stack;
    QListWidget* m_list;
    widgets::ElidedLabel* m_title;
    QLabel* m_progress;
    QToolButton *m_previous, *m_next, *m_close;
    QScrollArea* m_scroll;
    QLabel* m_stepTitle;
    QTextBrowser* m_text;
    LessonQuestions* m_questions;
};

PanelInfo lessonPanel();

}  // namespace sonde::panels
