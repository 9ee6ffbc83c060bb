#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/lessons/binding.h"
#include "core/tensor/value.h"

/// What a lesson says with the numbers of a run. Needs the values alone: can be done on any thread.
namespace sonde::session {

/// The present values, as far as they are known.
using LessonValues = std::map<graph::NodeId, tensor::Value>;

/// The nodes whose values a step writes, each once: those of its numbers, and for formulas the operands too.
std::vector<graph::NodeId> valuesFor(const lessons::BoundLesson& lesson, const lessons::Step& step);

struct StepText {
    std::string markdown;
    std::vector<std::string> asks;  ///< of each question, in Markdown
    bool isComplete = true;         ///< no number is missing because a value is not known
    /// Of numbers and formulas that cannot be had though the values are known, which the text tells too.
    std::vector<base::Error> problems;
};
/// What is wrong with a part of a lesson: `where` is "FILE, line N", and then where it was.
base::Error atLine(base::Error error, const lessons::Lesson& lesson, std::size_t line);

/// The text of a step with its numbers, and formulas as code. A number that is not known is written as "…", with the
/// line and the reason if that is not for want of a value.
StepText textOf(const lessons::BoundLesson& lesson, const lessons::Step& step, const LessonValues& values,
                const base::WorkContext& work = {});

/// What somebody answered.
struct LessonAnswer {
    std::string number;      ///< as it was typed
    std::size_t choice = 0;  ///< index in Question::choices
    graph::NodeId node;      ///< that was clicked
};
struct LessonVerdict {
    bool isRight = false;
    std::string text;  ///< "Right: 9.", "Not yet.", and why
};
/// Errors (Usage): the answer is no number; what it is compared with is not known, or no number: `where` is its line.
base::Result<LessonVerdict> check(const lessons::BoundLesson& lesson, const lessons::Question& question,
                                  const LessonAnswer& answer, const LessonValues& values,
                                  const base::WorkContext& work = {});
/// The right answer, as somebody would give it. Errors as check().
base::Result<LessonAnswer> solution(const lessons::BoundLesson& lesson, const lessons::Question& question,
                                    const LessonValues& values, const base::WorkContext& work = {});

}  // namespace sonde::session
