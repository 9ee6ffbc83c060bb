#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <optional>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/lessons/shipped.h"
#include "core/session/lesson/lesson_run.h"

namespace sonde::app {

namespace {

struct LessonOptions {
    ModelOptions model;
    InputChoice inputs;
    std::string lesson;
    std::size_t threads = 0;
    bool answers = false;
};

/// Which of the shipped lessons can be had with the model, and what it lacks for the others.
base::Result<int> listLessons(const document::Document& document) {
    for (const lessons::ShippedLesson& shipped : lessons::shippedLessons()) {
        SONDE_ASSIGN(lessons::Lesson lesson, session::openLesson(std::string(shipped.id)));
        const std::string title = lesson.title;
        const lessons::BoundLesson bound(std::move(lesson), document.graph, document.modules);
        fmt::print("{:14} {:30} {}\n", shipped.id, title,
                   bound.missing().empty() ? fmt::format("{} steps", bound.steps().size()) : bound.missingText());
    }
    return 0;
}

base::Result<void> printQuestion(session::LessonRun& run, const lessons::Question& question, const std::string& ask,
                                 bool withAnswer) {
    fmt::print("\n**{}**\n", ask);
    for (const lessons::Choice& choice : question.choices) fmt::print("\n- {}", choice.text);
    if (!question.choices.empty()) fmt::print("\n");
    if (!withAnswer) return {};
    const session::LessonValues values = run.values(commandLineWork());
    SONDE_ASSIGN(const session::LessonAnswer answer, session::solution(run.lesson(), question, values));
    SONDE_ASSIGN(const session::LessonVerdict verdict, session::check(run.lesson(), question, answer, values));
    const std::string text = question.kind == lessons::Question::Kind::Choice ? question.choices[answer.choice].text
                             : question.kind == lessons::Question::Kind::Node
                                 ? run.lesson().graph().node(answer.node).name
                                 : answer.number;
    fmt::print("\n{} — {}\n", text, verdict.text);
    return {};
}

base::Result<int> showLessons(LessonOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load(options.inputs.spec));
    if (options.lesson.empty()) return listLessons(*document);
    SONDE_ASSIGN(lessons::Lesson lesson, session::openLesson(options.lesson));
    SONDE_ASSIGN(const auto cases, inputsFor(*document, options.inputs));
    session::Session session(commandLineWork());
    showIn(session, document);
    session.runs().setSettings({options.threads, seedOf(*document, options.inputs)});
    if (!cases.empty()) session.runs().giveValues(cases.front().values);
    SONDE_ASSIGN(session::LessonRun run, session::LessonRun::begin(session, std::move(lesson)));
    fmt::print("# {}\n\n{}\n", run.lesson().lesson().title, run.lesson().lesson().summary);
    std::optional<base::Error> problem;  // the first; the other steps are told all the same
    for (std::size_t i = 0; i < run.stepCount(); ++i) {
        SONDE_TRY(run.goTo(i, commandLineWork()));
        fmt::print("\n## {}. {}\n", i + 1, run.step().title);
        const session::StepText text = session::textOf(run.lesson(), run.step(), run.values(commandLineWork()));
        fmt::print("{}", text.markdown);
        if (!problem && !text.problems.empty()) problem = text.problems.front();
        if (!problem && !text.isComplete)
            problem =
                session::atLine(base::usageError("the step needs values that are not known", {}, "begin it with `run`"),
                                run.lesson().lesson(), run.step().line);
        for (std::size_t k = 0; k < text.asks.size(); ++k)
            SONDE_TRY(printQuestion(run, run.step().questions[k], text.asks[k], options.answers));
    }
    if (problem) return *problem;
    return 0;
}

}  // namespace

Verb lessonsVerb() {
    return {"lessons", "List the lessons that a model has everything for, or print one with the numbers of a run",
            "sonde lessons model.onnx --lesson convolution --input-data photo.png", [](CLI::App& command) {
                auto options = std::make_shared<LessonOptions>();
                options->model.addTo(command);
                options->inputs.addTo(command);
                command.add_option("--lesson", options->lesson,
                                   "Print this lesson: an id of the list, or a file (Markdown)");
                command.add_flag("--answers", options->answers, "With the answers to its questions");
                addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return showLessons(*options); });
            }};
}

}  // namespace sonde::app
