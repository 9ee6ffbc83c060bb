#pragma once

#include <QWidget>

#include <vector>

#include "ui/context/lessons.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"

class QLabel;
class QVBoxLayout;

namespace sonde::panels {

/// What a step of a lesson asks: a number, a choice, or a node to be selected in the graph; and what was said to the
/// answer.
class LessonQuestions : public QWidget {
    Q_OBJECT
  public:
    LessonQuestions(context::OpenModel& opened, context::Navigation& navigation, context::Lessons& lessons,
                    QWidget* parent);

    /// The questions of the present step.
    void rebuild();

  private:
    QWidget* addQuestion(std::size_t index, const lessons::Question& question);
    void addNumber(std::size_t index, QVBoxLayout& column);
    void addChoices(std::size_t index, const lessons::Question& question, QVBoxLayout& column);
    void addNode(std::size_t index, QVBoxLayout& column);
    void refreshTexts();
    void showVerdict(std::size_t index);

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Lessons& m_lessons;
    QVBoxLayout* m_column;
    QWidget* m_all = nullptr;
    std::vector<QLabel*> m_asks, m_verdicts;
};

}  // namespace sonde::panels
