#pragma once

#include <QObject>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

#include "core/session/lesson/lesson_text.h"
#include "ui/context/job.h"

namespace sonde::context {

class Canvases;
class Debugger;
class Edits;
class Navigation;
class OpenModel;
class Points;
class Problems;
class Runs;

/// The lesson that is gone through on the open model. What a step says is done by the verbs of the window; its numbers
/// are those of the last run, written in the background whenever values come. Belongs to the UI thread.
class Lessons : public QObject {
    Q_OBJECT
  public:
    /// What a step is done with: parts of the context, which outlives it and is its parent.
    struct Parts {
        OpenModel& model;
        Navigation& navigation;
        Points& points;
        Runs& runs;
        Edits& edits;
        Debugger& debugger;
        Canvases& canvases;
        const Problems& problems;
    };
    Lessons(const Parts& parts, QObject* context);
    ~Lessons() override;

    bool isOpen() const { return m_bound != nullptr; }
    /// Only with a lesson.
    const lessons::BoundLesson& lesson() const { return *m_bound; }
    /// What the model lacks; empty: the lesson can be gone through.
    QString missingText() const;
    std::size_t stepCount() const { return m_bound && m_bound->missing().empty() ? m_bound->steps().size() : 0; }
    std::size_t at() const { return m_at; }
    /// Null if the model lacks something, or no lesson is open.
    const lessons::Step* step() const;
    /// Of the step, in Markdown.
    const QString& text() const { return m_text; }
    /// Why the run that the step needs has failed, or did not begin; empty if it has not.
    const QString& failureText() const { return m_failure; }
    /// What a question of the step asks, likewise; empty until the text is there.
    QString ask(std::size_t question) const { return m_asks.value(static_cast<qsizetype>(question)); }
    /// How a question of the step was answered; nothing if it was not.
    const std::optional<session::LessonVerdict>& verdict(std::size_t question) const { return m_verdicts[question]; }
    /// The view that the step wants its selected value to be seen in; taken once.
    QString takeView(graph::NodeId node);
    /// The step asks where its edit is: what would tell it is not shown until that is answered.
    bool hidesEdits() const;
    /// The debugged run shows what the lesson has edited: nobody is to step through it.
    bool ownsRun() const { return m_hasBegun; }
    bool isBusy() const { return m_writing.isActive() || m_checking.isActive(); }

  public Q_SLOTS:
    /// A shipped lesson or a file; failed() if it is none.
    void open(const QString& idOrFile);
    void close();
    void next() { goTo(m_at + 1); }
    void previous() { goTo(m_at - 1); }
    /// Does what the step says. Nothing if there is no such step.
    void goTo(std::size_t step);
    void answer(std::size_t question, const sonde::session::LessonAnswer& answer);

  Q_SIGNALS:
    /// Another lesson, or none, or on another model.
    void lessonChanged();
    void stepChanged();
    void textChanged();
    void answered(std::size_t question);
    void failed(const sonde::base::Error& error);

  private:
    std::shared_ptr<const lessons::BoundLesson> boundToModel() const;
    void bind();
    void followRun();
    void perform(const lessons::Step& step);
    void runModel();
    void edit(const lessons::Action& action);
    void leave();
    void endRun();
    session::LessonValues values(bool mayAsk);
    QString failureOfRun() const;
    void write();

    Parts m_parts;
    std::optional<lessons::Lesson> m_lesson;
    std::shared_ptr<const lessons::BoundLesson> m_bound;
    std::size_t m_at = 0;
    std::vector<std::string> m_edits;  ///< that the step has made, as session::editText() writes them
    bool m_isFocused = false;
    bool m_isFit = false;     ///< the values of a run were looked at
    bool m_hasBegun = false;  ///< the debugged run that shows the edits
    QString m_text, m_view, m_failure;
    QStringList m_asks;
    graph::NodeId m_viewed;
    std::vector<std::optional<session::LessonVerdict>> m_verdicts;
    Job m_writing, m_checking;
};

/// That of a window; `context` is its InspectorContext, which is its parent.
Lessons& lessonsOf(const QObject& context);

}  // namespace sonde::context
