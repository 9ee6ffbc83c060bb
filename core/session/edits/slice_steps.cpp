#include "core/session/edits/slice_steps.h"

#include <algorithm>

#include "core/expression/syntax.h"
#include "core/session/edits/selection.h"

namespace sonde::session {

namespace {

using Kind = expression::Term::Kind;

std::optional<std::int64_t> integerOf(const expression::Term& term) {
    if (term.kind == Kind::Unary && term.op == expression::Operator::Negate) {
        const auto positive = integerOf(term.parts.front());
        return positive ? std::optional(-*positive) : std::nullopt;
    }
    if (term.kind != Kind::Constant || term.constant.kind() != tensor::ValueKind::Int) return std::nullopt;
    return term.constant.toInt();
}

bool isLeftOut(const expression::Term& term) {
    return term.kind == Kind::Constant && term.constant.kind() == tensor::ValueKind::None;
}

std::optional<SliceStep> rangeOf(const expression::Term& term) {
    SliceStep range;
    if (!isLeftOut(term.parts[2])) {
        const auto step = integerOf(term.parts[2]);
        if (!step || *step == 0) return std::nullopt;
        range.step = *step;
    }
    const bool isBackward = range.step < 0;
    if (isBackward) range.start = SliceStep::kEnd, range.end = -SliceStep::kEnd;
    for (const auto& [part, bound] : {std::pair(&term.parts[0], &range.start), std::pair(&term.parts[1], &range.end)}) {
        if (isLeftOut(*part)) continue;
        const auto number = integerOf(*part);
        if (!number) return std::nullopt;
        *bound = *number;
    }
    return range;
}

}  // namespace

std::size_t SliceSteps::rank() const {
    return static_cast<std::size_t>(std::ranges::count(axes, false, &SliceStep::isIndex));
}

std::optional<SliceSteps> stepsOf(std::string_view slice, std::size_t rank) {
    EditPlace place;
    const auto parsed = Slice::parse(slice, place);
    if (!parsed) return std::nullopt;
    SliceSteps steps;
    if (!parsed->isEverything()) {
        const std::vector<expression::Term>& parts = parsed->expression().root().parts;
        const auto isEllipsis = [](const expression::Term& term) { return term.kind == Kind::Ellipsis; };
        const std::size_t named = parts.size() - 1 - static_cast<std::size_t>(std::ranges::count_if(parts, isEllipsis));
        if (named > rank) return std::nullopt;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (isEllipsis(parts[i])) {
                steps.axes.resize(steps.axes.size() + rank - named);
                continue;
            }
            if (parts[i].kind == Kind::Slice) {
                const auto range = rangeOf(parts[i]);
                if (!range) return std::nullopt;
                steps.axes.push_back(*range);
                continue;
            }
            const auto index = integerOf(parts[i]);
            if (!index) return std::nullopt;
            steps.axes.push_back({true, *index});
        }
        if (steps.axes.size() > rank) return std::nullopt;
    }
    steps.axes.resize(rank);
    return steps;
}

}  // namespace sonde::session
