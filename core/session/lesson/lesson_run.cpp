#include "core/session/lesson/lesson_run.h"

#include <fstream>

#include "core/lessons/shipped.h"
#include "core/session/edits/edit_line.h"
#include "core/session/edits/ready_edit.h"

namespace sonde::session {

using base::Result;
using base::usageError;
using graph::NodeId;
using lessons::Action;

Result<lessons::Lesson> openLesson(const std::string& idOrFile) {
    std::string text;
    if (const lessons::ShippedLesson* const shipped = lessons::shippedLesson(idOrFile)) {
        text = shipped->text;
    } else {
        const std::filesystem::path path(std::u8string(idOrFile.begin(), idOrFile.end()));
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) {
            std::string ids;
            for (const auto& each : lessons::shippedLessons()) ids += (ids.empty() ? "" : ", ") + std::string(each.id);
            return usageError("there is no lesson '" + idOrFile + "'", {}, "a file, or one of " + ids);
        }
        std::ifstream file(path, std::ios::binary);
        text.resize(lessons::kMaxLessonBytes + 1);  // longer ones are refused by what reads them
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        if (file.bad() || !file.is_open()) return base::unreadable("the lesson cannot be read", idOrFile);
        text.resize(static_cast<std::size_t>(file.gcount()));
    }
    lessons::LessonProblem problem;
    auto lesson = lessons::parse(text, problem);
    const std::string line = problem.line > 0 ? ", line " + std::to_string(problem.line) : std::string();
    if (!lesson) return base::unreadable(problem.what, idOrFile + line, problem.hint);
    lesson->source = idOrFile;
    return *std::move(lesson);
}

LessonRun::LessonRun(Session& session, std::unique_ptr<lessons::BoundLesson> lesson)
    : m_session(&session), m_lesson(std::move(lesson)) {}
LessonRun::~LessonRun() = default;
LessonRun::LessonRun(LessonRun&&) noexcept = default;

Result<LessonRun> LessonRun::begin(Session& session, lessons::Lesson lesson) {
    if (!session.document()) return usageError("no model is open");
    const document::Document& document = *session.document();
    const auto isReached = [&session](NodeId node) { return session.runs().wasReached(node); };
    const auto bind = [&](lessons::Lesson each) {
        return std::make_unique<lessons::BoundLesson>(std::move(each), document.graph, document.modules, isReached,
                                                      session.problems().summary().nanNodes > 0);
    };
    auto bound = bind(std::move(lesson));
    // Why a run fails is said by the step that needs it.
    if ((bound->dependsOnRun() || bound->lesson().needsNoNan) && !session.runs().last().recording) {
        session.runs().run();
        bound = bind(bound->lesson());
    }
    if (!bound->missing().empty()) return usageError(bound->missingText(), document.title);
    if (bound->steps().empty()) return usageError("no step of the lesson can be had with the model", document.title);
    return LessonRun(session, std::move(bound));
}

Result<void> LessonRun::goTo(std::size_t step, const base::WorkContext& work) {
    if (step >= stepCount()) return usageError("the lesson has " + std::to_string(stepCount()) + " steps");
    leave();
    m_at = step;
    for (const Action& action : this->step().actions) {
        switch (action.kind) {
            case Action::Kind::Run: SONDE_TRY(runModel()); break;
            case Action::Kind::Watch: m_session->setWatched(m_lesson->node(action.node), true); break;
            case Action::Kind::Set:
            case Action::Kind::Edit:
                if (auto done = edit(action, work); !done) return atLine(done.error(), m_lesson->lesson(), action.line);
                break;
            case Action::Kind::Expand:
            case Action::Kind::Select:
            case Action::Kind::Focus:
            case Action::Kind::Show: break;  // of a window
        }
    }
    return {};
}

void LessonRun::leave() {
    for (; m_edits > 0; --m_edits) (void)m_session->edits().undo();
    if (m_session->debugger().hasBegun() && !m_session->edits().planned()) m_session->debugger().cancel();
}

Result<void> LessonRun::runModel() {
    if (m_session->debugger().hasBegun()) return {};  // follows its edits by itself
    const RunState state = m_session->runs().state();
    if (state == RunState::Finished && m_session->runs().staleReason().empty()) return {};
    m_session->runs().run();
    if (const auto& refusal = m_session->runs().refusal()) return *refusal;
    if (m_session->runs().state() == RunState::Finished) return {};
    if (const auto& error = m_session->runs().last().error) return *error;
    return base::runError("the run did not come to its end");
}

Result<void> LessonRun::edit(const Action& action, const base::WorkContext& work) {
    std::size_t column = 1;
    const std::string text = m_lesson->withNodes(action.text);
    SONDE_ASSIGN(const EditLine line,
                 action.kind == Action::Kind::Set ? parseSet(text, column) : parseEdit(text, column));
    SONDE_ASSIGN(const NodeId target, ReadyEdit::find(*m_session->document(), line.node));
    EditPlace place;
    SONDE_TRY(m_session->addEdit(target, line.edit, place, work));
    ++m_edits;
    if (!m_session->debugger().hasBegun()) m_session->debugger().restart();
    if (const auto& error = m_session->debugger().error()) return *error;
    return {};
}

LessonValues LessonRun::values(const base::WorkContext& work) {
    LessonValues values;
    for (const NodeId node : valuesFor(*m_lesson, step())) {
        if (m_session->debugger().hasBegun()) {
            if (auto value = m_session->debugger().value(node, work)) values[node] = *value;
            continue;
        }
        m_session->values().request(node);
        if (const tensor::Value* const value = m_session->values().of(node)) values[node] = *value;
    }
    return values;
}

}  // namespace sonde::session
