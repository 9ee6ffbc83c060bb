// Lessons: what is read can be gone through, and its names are all bound.

#include <cstdlib>

#include "core/lessons/binding.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    lessons::LessonProblem problem;
    auto lesson = lessons::parse({reinterpret_cast<const char*>(data), size}, problem);
    if (!lesson) {
        if (problem.what.empty()) std::abort();
        return 0;
    }
    if (lesson->title.empty() || lesson->steps.empty()) std::abort();
    for (const lessons::Step& step : lesson->steps)
        for (const lessons::Block& block : step.blocks)
            lessons::forEachPart(
                block.text, [](std::string_view) {},
                [&](std::string_view inside) {
                    lessons::Placeholder placeholder;
                    if (block.kind == lessons::Block::Kind::Text &&
                        !lessons::readPlaceholder(inside, placeholder).empty())
                        std::abort();
                });
    // A model of nothing lacks what is bound.
    const bool binds = !lesson->bindings.empty();
    const lessons::BoundLesson bound(*std::move(lesson), std::make_shared<graph::InternalGraph>());
    if (!binds && !bound.missing().empty()) std::abort();
    return 0;
}
