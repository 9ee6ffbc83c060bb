#include "ui/context/lessons.h"

#include <algorithm>
#include <utility>

#include "core/session/edits/edit_line.h"
#include "core/session/edits/ready_edit.h"
#include "core/session/lesson/lesson_run.h"
#include "ui/context/canvases.h"
#include "ui/context/debugger.h"
#include "ui/context/edits.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/problems.h"
#include "ui/context/runs.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

using lessons::Action;

namespace {

bool isEdit(const Action& action) { return action.kind == Action::Kind::Set || action.kind == Action::Kind::Edit; }

bool isNanIn(const Problems& problems) {
    const auto isNan = [](const analysis::Problem& problem) { return problem.kind == analysis::ProblemKind::Nan; };
    return std::ranges::any_of(problems.all(), isNan);
}

/// Of the edit of a step; of the step, if it has several. Nothing if it has none.
std::optional<std::size_t> editLine(const lessons::Step& step) {
    const auto first = std::ranges::find_if(step.actions, isEdit);
    if (first == step.actions.end()) return std::nullopt;
    return std::ranges::count_if(step.actions, isEdit) == 1 ? first->line : step.line;
}

std::string notChecked(const base::Error& error) {
    return Lessons::tr("Not checked: %1.").arg(windowTextWithHint(error)).toStdString();
}

}  // namespace

Lessons::Lessons(const Parts& parts, QObject* context) : QObject(context), m_parts(parts) {
    connect(&parts.model, &OpenModel::documentOpened, this, &Lessons::bind);
    connect(&parts.model, &OpenModel::documentLeft, this, [this] {
        m_edits.clear();  // go with the model
        m_isFocused = m_hasBegun = false;
        m_bound.reset();
        m_writing.abandon();
        m_checking.abandon();
    });
    connect(&parts.model, &OpenModel::documentClosed, this, &Lessons::lessonChanged);
    connect(&parts.runs, &Runs::runFinished, this, &Lessons::followRun);
    connect(&parts.runs, &Runs::valueArrived, this, &Lessons::write);
    connect(&parts.edits, &Edits::accepted, this, [this](const QObject* asker) {
        if (asker == this && !m_parts.edits.all().empty())
            m_edits.push_back(session::editText(m_parts.edits.all().back().edit));
    });
    connect(&parts.edits, &Edits::changed, this, &Lessons::endRun, Qt::QueuedConnection);
    connect(&parts.edits, &Edits::refused, this, [this](const QObject* asker, const base::Error& error) {
        if (asker != this) return;
        const auto line = step() ? editLine(*step()) : std::nullopt;
        Q_EMIT failed(line ? session::atLine(error, *m_lesson, *line) : error);
    });
}

Lessons::~Lessons() = default;

QString Lessons::missingText() const {
    return m_bound && !m_bound->missing().empty() ? QString::fromStdString(m_bound->missingText()) : QString();
}

const lessons::Step* Lessons::step() const {
    return m_at < stepCount() ? &m_bound->lesson().steps[m_bound->steps()[m_at]] : nullptr;
}

void Lessons::open(const QString& idOrFile) {
    auto lesson = session::openLesson(idOrFile.toStdString());
    if (!lesson) {
        Q_EMIT failed(lesson.error());
        return;
    }
    leave();
    m_lesson = *std::move(lesson);
    bind();
}

void Lessons::close() {
    leave();
    m_writing.abandon();
    m_lesson.reset();
    m_bound.reset();
    m_text.clear();
    m_failure.clear();
    m_asks.clear();
    Q_EMIT lessonChanged();
    endRun();
}

std::shared_ptr<const lessons::BoundLesson> Lessons::boundToModel() const {
    const document::Document& document = *m_parts.model.document();
    const auto isReached = [this](graph::NodeId node) { return m_parts.runs.wasReached(node); };
    // What an edit breaks is nothing that the model has.
    const bool hasNan = m_parts.edits.all().empty() && isNanIn(m_parts.problems);
    return std::make_shared<lessons::BoundLesson>(*m_lesson, document.graph, document.modules, isReached, hasNan);
}

void Lessons::bind() {
    m_bound.reset();
    m_text.clear();
    m_failure.clear();
    m_asks.clear();
    m_verdicts.clear();
    m_at = 0;
    m_isFit = false;
    if (m_lesson && m_parts.model.isOpen()) m_bound = boundToModel();
    Q_EMIT lessonChanged();
    if (stepCount() > 0) goTo(0);
}

/// What was bound before there was a run may be in a branch that was not taken: then something else is meant.
void Lessons::followRun() {
    // Without edits for the first time: whether the model is fit for the lesson is known now.
    if (step() && m_lesson->needsNoNan && m_parts.edits.all().empty() && !std::exchange(m_isFit, true) &&
        isNanIn(m_parts.problems)) {
        leave();
        m_bound = boundToModel();
        m_text.clear();
        m_asks.clear();
        m_verdicts.clear();
        Q_EMIT lessonChanged();
        return;
    }
    const auto isInOtherBranch = [this](const auto& named) { return m_parts.runs.isInOtherBranch(named.second); };
    // An edit of the step may have chosen the branch: it stays about what it began with.
    if (step() && m_edits.empty() && std::ranges::any_of(m_bound->bound(), isInOtherBranch)) {
        auto again = boundToModel();
        if (again->bound() != m_bound->bound() && again->missing().empty() && !again->steps().empty()) {
            m_bound = std::move(again);
            goTo(std::min(m_at, stepCount() - 1));
            return;
        }
    }
    write();
}

void Lessons::goTo(std::size_t step) {
    if (step >= stepCount()) return;
    leave();
    m_at = step;
    m_text.clear();
    m_failure.clear();
    m_asks.clear();
    m_verdicts.assign(this->step()->questions.size(), {});
    Q_EMIT stepChanged();
    perform(*this->step());
    endRun();
    write();
}

/// What only this step was to show.
void Lessons::leave() {
    // Not undone, as the user may have made others since; nor can undoing bring them back.
    for (; !m_edits.empty(); m_edits.pop_back()) {
        const auto& all = m_parts.edits.all();
        for (std::size_t i = all.size(); i-- > 0;) {
            if (session::editText(all[i].edit) != m_edits.back()) continue;
            m_parts.edits.withdraw(static_cast<int>(i));
            break;
        }
    }
    if (std::exchange(m_isFocused, false)) m_parts.canvases.active().showEverything();
    m_view.clear();
    m_viewed = {};
}

bool Lessons::hidesEdits() const {
    if (!step() || std::ranges::none_of(step()->actions, isEdit)) return false;
    for (std::size_t i = 0; i < m_verdicts.size(); ++i)
        if (step()->questions[i].node && !(m_verdicts[i] && m_verdicts[i]->isRight)) return true;
    return false;
}

/// A run that was begun to show the edits of a step goes with them; not if somebody has made others.
void Lessons::endRun() {
    if (!m_hasBegun || !m_edits.empty() || !m_parts.edits.all().empty()) return;
    if (step() && std::ranges::any_of(step()->actions, isEdit)) return;  // it goes on with those of this step
    m_hasBegun = false;
    m_parts.debugger.cancel();
    if (step() && std::ranges::find(step()->actions, Action::Kind::Run, &Action::kind) != step()->actions.end())
        runModel();
}

void Lessons::perform(const lessons::Step& step) {
    Navigation& navigation = m_parts.navigation;
    for (const Action& action : step.actions) {
        const graph::NodeId node = m_bound->node(action.node);
        switch (action.kind) {
            case Action::Kind::Run: runModel(); break;
            case Action::Kind::Expand: navigation.reveal(navigation.selectionOf(node)); break;
            case Action::Kind::Select: navigation.navigateTo(node); break;
            case Action::Kind::Focus:
                navigation.navigateTo(node);
                m_parts.canvases.active().focusCone(true, true, action.number);
                m_isFocused = true;
                break;
            case Action::Kind::Watch: m_parts.points.setWatched(node, true); break;
            case Action::Kind::Show:
                m_view = QString::fromStdString(action.text);
                m_viewed = navigation.selection().node;
                break;
            case Action::Kind::Set:
            case Action::Kind::Edit: edit(action); break;
        }
    }
}

/// Unless the values are there; a run with edits follows them by itself.
void Lessons::runModel() {
    Runs& runs = m_parts.runs;
    if (runs.isRunning() || (runs.recording() && runs.staleReason().isEmpty())) return;
    runs.run();
}

void Lessons::edit(const Action& action) {
    std::size_t column = 1;
    const std::string text = m_bound->withNodes(action.text);
    const auto line =
        action.kind == Action::Kind::Set ? session::parseSet(text, column) : session::parseEdit(text, column);
    if (!line) {
        Q_EMIT failed(session::atLine(line.error(), *m_lesson, action.line));
        return;
    }
    const auto target = session::ReadyEdit::find(*m_parts.model.document(), line->node);
    if (!target) {
        Q_EMIT failed(session::atLine(target.error(), *m_lesson, action.line));
        return;
    }
    m_hasBegun = m_hasBegun || !m_parts.debugger.isShown();
    m_parts.edits.add(*target, line->edit, this);
}

session::LessonValues Lessons::values(bool mayAsk) {
    session::LessonValues known;
    for (const graph::NodeId node : session::valuesFor(*m_bound, *step())) {
        if (const tensor::Value* const value = m_parts.runs.value(node)) known[node] = *value;
        else if (mayAsk && m_parts.runs.recording()) m_parts.runs.requestValue(node);
    }
    return known;
}

/// Only where the step needs it.
QString Lessons::failureOfRun() const {
    const Runs& runs = m_parts.runs;
    const bool needsRun = std::ranges::find(step()->actions, Action::Kind::Run, &Action::kind) != step()->actions.end();
    if (runs.isRunning() || (!needsRun && session::valuesFor(*m_bound, *step()).empty())) return {};
    if (runs.refusal()) return tr("The model did not run: %1").arg(windowTextWithHint(*runs.refusal()));
    const auto& recording = runs.recording();
    if (!recording && !needsRun) return tr("The numbers of this step are known after a run: run the model (F5).");
    if (!recording || !recording->error) return {};
    return tr("The run failed: %1").arg(windowTextWithHint(*recording->error));
}

void Lessons::write() {
    if (!step()) return;
    if (const QString failure = failureOfRun(); failure != std::exchange(m_failure, failure)) Q_EMIT textChanged();
    const std::size_t index = m_bound->steps()[m_at];
    m_writing.start(
        [bound = m_bound, index, known = values(true)](const base::WorkContext& work) {
            return session::textOf(*bound, bound->lesson().steps[index], known, work);
        },
        [this](const session::StepText& text) {
            const QString now = QString::fromStdString(text.markdown);
            QStringList asks;
            for (const std::string& ask : text.asks) asks << QString::fromStdString(ask);
            if (now == m_text && asks == m_asks) return;
            m_text = now;
            m_asks = asks;
            Q_EMIT textChanged();
        });
}

void Lessons::answer(std::size_t question, const session::LessonAnswer& answer) {
    if (!step() || question >= step()->questions.size()) return;
    const std::size_t index = m_bound->steps()[m_at];
    m_checking.start(
        [bound = m_bound, index, question, answer, known = values(true)](const base::WorkContext& work) {
            return session::check(*bound, bound->lesson().steps[index].questions[question], answer, known, work);
        },
        [this, question, at = m_at](const base::Result<session::LessonVerdict>& verdict) {
            if (at != m_at || question >= m_verdicts.size()) return;
            m_verdicts[question] = verdict ? *verdict : session::LessonVerdict{false, notChecked(verdict.error())};
            Q_EMIT answered(question);
        });
}

QString Lessons::takeView(graph::NodeId node) {
    if (!node.valid() || node != m_viewed) return {};
    m_viewed = {};
    return std::exchange(m_view, {});
}

Lessons& lessonsOf(const QObject& context) {
    auto* lessons = context.findChild<Lessons*>({}, Qt::FindDirectChildrenOnly);
    Q_ASSERT(lessons);
    return *lessons;
}

}  // namespace sonde::context
