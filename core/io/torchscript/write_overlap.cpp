#include "core/io/torchscript/write_overlap.h"

#include <algorithm>
#include <limits>

#include "core/io/torchscript/source_stack.h"
#include "core/io/torchscript/views.h"
#include "core/operators/overlap.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// What an index takes of one dimension: `start`, `start + step` … before `stop`, both counted from the front, or both
/// from the back.
struct DimensionPart {
    std::int64_t start = 0, stop = kEnd, step = 1;
};

std::optional<DimensionPart> partOf(const Var& part) {
    if (isWhole(part)) {
        const std::int64_t at = part.toInt();
        return DimensionPart{at, at + 1, 1};
    }
    if (part.kind() != Var::Kind::Slice) return std::nullopt;
    const std::vector<Var>& bounds = part.items();
    if (std::ranges::any_of(bounds, [](const Var& bound) { return !bound.isNone() && !isWhole(bound); }))
        return std::nullopt;
    DimensionPart result;
    if (!bounds[0].isNone()) result.start = bounds[0].toInt();
    if (!bounds[1].isNone()) result.stop = bounds[1].toInt();
    else if (result.start < 0) result.stop = 0;
    if (!bounds[2].isNone()) result.step = bounds[2].toInt();
    // From the front to a number from the back: where that is depends on the size.
    if (result.start >= 0 && result.stop < 0) result.stop = kEnd;
    if (result.start < 0 && result.stop > 0) return std::nullopt;
    return result;
}

bool isSameVar(const Var& a, const Var& b) {
    if (a.isProxy() || b.isProxy()) return a.isProxy() && b.isProxy() && a.node() == b.node();
    if (a.kind() != b.kind()) return false;
    if (a.kind() == Var::Kind::Value)
        return !a.value().isTensor() && !b.value().isTensor() && tensor::identical(a.value(), b.value());
    return std::ranges::equal(a.items(), b.items(), isSameVar);
}

bool areApart(const Var& a, const Var& b) {
    const auto first = partOf(a), second = partOf(b);
    if (first && second) {
        if ((first->start < 0) != (second->start < 0)) return false;
        if (first->stop <= second->start || second->stop <= first->start) return true;
        return first->step == second->step && first->step > 1 && (first->start - second->start) % first->step != 0;
    }
    // [:n] and [n:]
    const auto endsWhere = [](const Var& left, const Var& right) {
        return left.kind() == Var::Kind::Slice && right.kind() == Var::Kind::Slice && !left.items()[1].isNone() &&
               isSameVar(left.items()[1], right.items()[0]);
    };
    return endsWhere(a, b) || endsWhere(b, a);
}

bool isSameStep(const ViewStep& a, const ViewStep& b) {
    return a.kind == b.kind && a.name == b.name && a.item == b.item &&
           std::ranges::equal(a.arguments, b.arguments, isSameVar);
}

/// Of two views of one tensor.
bool areApart(const ViewStep& a, const ViewStep& b) {
    if (a.kind == ViewStep::Kind::Item && b.kind == ViewStep::Kind::Item)
        return a.name == b.name && a.item != b.item && std::ranges::equal(a.arguments, b.arguments, isSameVar);
    if (a.kind != ViewStep::Kind::Index || b.kind != ViewStep::Kind::Index) return false;
    const auto isEllipsis = [](const Var& part) {
        return part.kind() == Var::Kind::Value && part.value().kind() == tensor::ValueKind::Object;
    };
    for (std::size_t i = 0; i < std::min(a.arguments.size(), b.arguments.size()); ++i) {
        const Var &first = a.arguments[i], &second = b.arguments[i];
        if (isEllipsis(first) != isEllipsis(second)) return false;
        if (isEllipsis(first)) {
            if (a.arguments.size() != b.arguments.size()) return false;
        } else if (areApart(first, second)) {
            return true;
        }
    }
    return false;
}

/// The steps from the root to the tensor; what shows all of its base as it is counts for nothing.
std::vector<const ViewStep*> stepsTo(TensorCell& cell) {
    std::vector<const ViewStep*> steps;
    for (const TensorCell* at = &shown(cell); at->base; at = at->base.get()) {
        if (at->step->kind != ViewStep::Kind::Same) steps.push_back(at->step.get());
    }
    std::ranges::reverse(steps);
    return steps;
}

bool hasOpenBounds(const ViewStep& step) { return std::ranges::any_of(step.arguments, &Var::hasProxy); }

/// Indices that are not apart show other elements for every size of their base: they do not begin together, or one
/// lacks a dimension that the other has.
bool differ(const ViewStep& a, const ViewStep& b) {
    if (a.kind != ViewStep::Kind::Index || b.kind != ViewStep::Kind::Index) return false;
    const auto isCounted = [](const Var& part) { return partOf(part).has_value(); };
    if (!std::ranges::all_of(a.arguments, isCounted) || !std::ranges::all_of(b.arguments, isCounted)) return false;
    if (std::ranges::count_if(a.arguments, isWhole) != std::ranges::count_if(b.arguments, isWhole)) return true;
    for (std::size_t i = 0; i < std::max(a.arguments.size(), b.arguments.size()); ++i) {
        const auto first = i < a.arguments.size() ? *partOf(a.arguments[i]) : DimensionPart();
        const auto second = i < b.arguments.size() ? *partOf(b.arguments[i]) : DimensionPart();
        if (first.start >= 0 && second.start >= 0 && first.start != second.start) return true;
    }
    return false;
}

enum class Meeting : std::uint8_t {
    No,
    Yes,   ///< they meet, and are not the same elements in the same order
    Same,  ///< these are
    Open,  ///< sizes that only a run knows decide
};

Meeting meetingOf(TensorCell& written, TensorCell& read) {
    if (&rootOf(written) != &rootOf(read)) return Meeting::No;
    const std::vector<const ViewStep*> a = stepsTo(written), b = stepsTo(read);
    const std::size_t common = std::min(a.size(), b.size()), most = std::max(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (a[i] == b[i] || isSameStep(*a[i], *b[i])) continue;
        if (areApart(*a[i], *b[i]) || hasOpenBounds(*a[i]) || hasOpenBounds(*b[i])) return Meeting::No;
        return i + 1 == most && differ(*a[i], *b[i]) ? Meeting::Yes : Meeting::Open;
    }
    if (common == most) return Meeting::Same;
    const ViewStep whole{ViewStep::Kind::Index, {}, {}, 0};
    return common + 1 == most && differ(*(a.size() == most ? a : b).back(), whole) ? Meeting::Yes : Meeting::Open;
}

/// It shows elements of its base as they are, so that it can be cut out of a tensor of their positions as well.
bool movesElements(const ViewStep& step) {
    if (step.kind != ViewStep::Kind::Call) return true;
    using operators::ViewForm;
    const ViewForm form = operators::traitsOf("aten", step.name).form;
    // view(x, dtype) shows other elements.
    if (form == ViewForm::NewShape) return !step.arguments.empty() && !isWhole(step.arguments.front());
    return operators::keepsOrder(form) || operators::cutsPart(form) || form == ViewForm::Transpose ||
           form == ViewForm::Permute || form == ViewForm::MoveDim || form == ViewForm::Diagonal ||
           form == ViewForm::Expand;
}

bool canBeGuarded(TensorCell& cell) {
    return std::ranges::all_of(stepsTo(cell), [](const ViewStep* step) { return movesElements(*step); });
}

/// Records a check that ends a run where the write is one that PyTorch refuses (ops/overlap_guard.cpp).
void guardOverlap(const std::string& write, TensorCell& written, TensorCell& read, bool allowsSame) {
    constexpr trace::Function kPositions{"positions", "positions", "positions", true, "sonde"};
    constexpr trace::Function kGuard{"overlap_guard", "overlap_guard", "overlap_guard", false, "sonde"};
    const Var positions = trace::callFunction(kPositions, {rootOf(written).var});
    const auto cut = [&](TensorCell& cell) {
        Var at = positions;
        for (const ViewStep* step : stepsTo(cell)) at = cutAgain(*step, at);
        return at;
    };
    trace::callFunction(kGuard, {cut(written), cut(read), Var(allowsSame), Var(write)});
}

}  // namespace

void checkWriteOverlap(const std::string& name, const ScriptValue& written, const std::vector<ScriptValue>& arguments,
                       const std::vector<std::pair<std::string, ScriptValue>>& keywords) {
    if (operators::readsNumberFirst(name)) return;
    const bool allowsSame = !operators::refusesAnyOverlap(name);
    const auto check = [&](const ScriptValue& argument) {
        if (!argument.cell() || &argument == &written) return;
        const Meeting meeting = meetingOf(*written.cell(), *argument.cell());
        if (meeting == Meeting::No || (meeting == Meeting::Same && allowsSame)) return;
        const std::string here = SourceFrame::where();
        if (meeting == Meeting::Open && canBeGuarded(*written.cell()) && canBeGuarded(*argument.cell())) {
            const std::string write = '\'' + name + '\'' + (here.empty() ? "" : " (" + here + ')');
            return guardOverlap(write, *written.cell(), *argument.cell(), allowsSame);
        }
        throw trace::TraceError(
            trace::TraceErrorKind::Runtime,
            "a tensor is written by " + name + (here.empty() ? "" : " at " + here) + " from a part of itself: " +
                (meeting == Meeting::Open ? operators::kUndecidedOverlapText : operators::kOverlapText));
    };
    for (const ScriptValue& argument : arguments) {
        check(argument);
        if (!argument.list()) continue;
        for (const ScriptValue& item : argument.list()->items) check(item);
    }
    for (const auto& [key, argument] : keywords) check(argument);
}

}  // namespace sonde::io::script
