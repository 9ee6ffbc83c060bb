#pragma once

#include <memory>

#include "core/session/lesson/lesson_text.h"
#include "core/session/session.h"

namespace sonde::session {

/// The lesson of a shipped id, or of a file. Errors: (Usage) there is no such lesson; (Unreadable) the file cannot be
/// read, or is no lesson: `where` is "FILE, line N".
base::Result<lessons::Lesson> openLesson(const std::string& idOrFile);

/// A lesson that is gone through on the model of a session, step by step: what the window does, without one. For a
/// session whose verbs return when their work is done.
class LessonRun {
  public:
    /// Runs the model if what the lesson is about may be in a branch, or not for one that has NaN. Errors (Usage): no
    /// model is open; the model lacks what the lesson needs.
    static base::Result<LessonRun> begin(Session& session, lessons::Lesson lesson);
    ~LessonRun();
    LessonRun(LessonRun&&) noexcept;

    const lessons::BoundLesson& lesson() const { return *m_lesson; }
    std::size_t stepCount() const { return m_lesson->steps().size(); }
    const lessons::Step& step() const { return m_lesson->lesson().steps[m_lesson->steps()[m_at]]; }
    std::size_t at() const { return m_at; }

    /// Leaves the present step, whose edits go, and does what another one says: runs the model, unless its values are
    /// there, watches and edits. Errors: those of the run and of the edits; (Usage) there is no such step.
    base::Result<void> goTo(std::size_t step, const base::WorkContext& work = {});
    /// The present values that the step writes.
    LessonValues values(const base::WorkContext& work = {});

  private:
    LessonRun(Session& session, std::unique_ptr<lessons::BoundLesson> lesson);
    base::Result<void> runModel();
    base::Result<void> edit(const lessons::Action& action, const base::WorkContext& work);
    void leave();

    Session* m_session;
    std::unique_ptr<lessons::BoundLesson> m_lesson;
    std::size_t m_at = 0;
    std::size_t m_edits = 0;  ///< that the present step has made
};

}  // namespace sonde::session
