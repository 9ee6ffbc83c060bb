#include "core/graph/view_overlap.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace sonde::graph {

using operators::ViewForm;
using tensor::Value;
using tensor::ValueKind;
using Kind = ViewArgument::Kind;

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxAxis = 64;

/// What a view takes of one axis of its base: `start`, `start + step` … before `stop`. Where the size of the axis is
/// known both count from the front; else both from the front, or both from the back (then negative, 0 is the end).
struct AxisPart {
    bool isKnown = false;
    std::int64_t start = 0, stop = kEnd, step = 1;
    bool isBound = false;  ///< not all of it is taken: `stop` was counted from the other end
    bool isIndex = false;  ///< one place, and the view lacks the axis
    bool isSized = false;  ///< the size of the axis is known
    bool isFromBack() const { return start < 0; }
    bool isWhole() const { return isKnown && start == 0 && stop == kEnd && step == 1 && !isBound; }
    bool isEmpty() const { return isKnown && start >= stop; }
    /// The same places, whatever the size.
    bool isSame(const AxisPart& other) const {
        return isKnown && other.isKnown && !isBound && !other.isBound && start == other.start && stop == other.stop &&
               step == other.step && isIndex == other.isIndex;
    }
};
/// By axes of the base; those behind are taken whole.
struct Region {
    std::vector<AxisPart> parts;
    std::ptrdiff_t added = 0;  ///< axes of the view that the base has not
    AxisPart part(std::size_t axis) const { return axis < parts.size() ? parts[axis] : AxisPart{true, 0, kEnd, 1}; }
    bool isKnown() const { return std::ranges::all_of(parts, &AxisPart::isKnown); }
    bool isWhole() const { return added == 0 && std::ranges::all_of(parts, &AxisPart::isWhole); }
    /// Axes that the view has more than the base.
    std::ptrdiff_t moreAxes() const { return added - std::ranges::count_if(parts, &AxisPart::isIndex); }
};

const ViewArgument kNothing;

const ViewArgument& argumentOf(const ViewStep& step, std::size_t index, std::string_view keyword) {
    if (index - 1 < step.arguments.size()) return step.arguments[index - 1];
    for (const auto& [name, argument] : step.keywords) {
        if (name == keyword) return argument;
    }
    return kNothing;
}

std::optional<std::int64_t> intOf(const ViewArgument& argument) {
    return argument.kind == Kind::Int ? std::optional(argument.number) : std::nullopt;
}
std::optional<std::int64_t> intOr(const ViewArgument& argument, std::int64_t omitted) {
    return argument.kind == Kind::Omitted ? std::optional(omitted) : intOf(argument);
}

/// Of an axis of known size: no place behind its end, and the end is kEnd where all of it is taken.
AxisPart sized(AxisPart part, std::int64_t size) {
    if (size < 0 || part.isIndex) {
        part.isSized = size >= 0;
        return part;
    }
    part.isSized = true;
    const auto inside = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    part.start = inside(part.start);
    part.stop = inside(part.stop);
    if (part.start < part.stop && part.stop - part.start <= part.step) part.stop = part.start + 1, part.step = 1;
    if (part.start == 0 && part.stop == size && part.step == 1) part.stop = kEnd;
    return part;
}

AxisPart range(const ViewArgument& start, const ViewArgument& stop, const ViewArgument& step, std::int64_t size) {
    AxisPart part;
    const auto by = intOr(step, 1);
    auto from = intOr(start, 0), to = intOr(stop, from && *from < 0 && size < 0 ? 0 : kEnd);
    if (!from || !by || !to || *by < 1) return part;
    part = {true, *from, *to, *by};
    if (size >= 0) return sized(part, size);
    // From the front to a number from the back: where that is depends on the size. It may be the last one.
    if (!part.isFromBack() && part.stop < 0) part.stop = kEnd, part.isBound = true;
    if (part.isFromBack() && part.stop > 0) part.isKnown = false;
    return part;
}
AxisPart single(std::int64_t index, std::int64_t size) {
    const std::int64_t at = index < 0 && size >= 0 ? index + size : index;
    return {true, at, at + 1, 1, false, true, size >= 0};
}

/// From `start` to `stop`, both counted from the same end.
AxisPart narrowed(std::int64_t start, std::int64_t stop, std::int64_t size) {
    if (start < 0 && size >= 0) start += size, stop += size;
    return sized({true, start, stop, 1}, size);
}

std::int64_t sizeOf(const ViewStep& step, std::size_t axis) { return axis < step.dims.size() ? step.dims[axis] : -1; }

Region regionOfIndex(const ViewStep& step) {
    Region region;
    const ViewArgument& index = step.arguments.front();
    const std::vector<ViewArgument> parts = index.kind == Kind::Tuple ? index.items : std::vector<ViewArgument>{index};
    for (const ViewArgument& part : parts) {
        const std::int64_t size = sizeOf(step, region.parts.size());
        if (part.kind == Kind::Slice) {
            region.parts.push_back(range(part.items[0], part.items[1], part.items[2], size));
        } else if (part.kind == Kind::Int) {
            region.parts.push_back(single(part.number, size));
        } else if (part.kind == Kind::Omitted) {
            ++region.added;  // which takes none of the base's
        } else {
            region.parts.emplace_back();  // `...` and what only a run knows: nothing is known of the axes behind
            break;
        }
    }
    return region;
}

/// None: the view does not take ranges of axes.
std::optional<Region> regionOf(const ViewStep& step) {
    if (step.form == ViewForm::Index) {
        if (step.arguments.empty()) return std::nullopt;
        return regionOfIndex(step);
    }
    const bool isSplit = step.form == ViewForm::Split;
    const auto axis = intOr(argumentOf(step, isSplit ? 2 : 1, "dim"), 0);
    const std::int64_t size = axis && *axis >= 0 ? sizeOf(step, static_cast<std::size_t>(*axis)) : -1;
    AxisPart part;
    if (step.form == ViewForm::Select) {
        if (const auto index = intOf(argumentOf(step, 2, "index"))) part = single(*index, size);
    } else if (step.form == ViewForm::Slice) {
        part = range(argumentOf(step, 2, "start"), argumentOf(step, 3, "end"), argumentOf(step, 4, "step"), size);
    } else if (step.form == ViewForm::Narrow) {
        const auto start = intOf(argumentOf(step, 2, "start")), length = intOf(argumentOf(step, 3, "length"));
        if (start && length) part = narrowed(*start, *start + *length, size);
    } else if (step.form == ViewForm::Unbind && step.item) {
        part = single(static_cast<std::int64_t>(*step.item), size);
    } else if (isSplit && step.item && intOf(argumentOf(step, 1, "split_size"))) {
        const std::int64_t length = *intOf(argumentOf(step, 1, "split_size")),
                           at = static_cast<std::int64_t>(*step.item);
        part = narrowed(at * length, (at + 1) * length, size);
    } else {
        return std::nullopt;
    }
    if (!axis || *axis < 0 || *axis > kMaxAxis) return std::nullopt;
    // The axes in front are taken whole.
    Region region;
    region.parts.assign(static_cast<std::size_t>(*axis), AxisPart{true, 0, kEnd, 1});
    region.parts.push_back(part);
    return region;
}

bool areApart(const AxisPart& a, const AxisPart& b) {
    if ((a.isEmpty() && !a.isFromBack()) || (b.isEmpty() && !b.isFromBack())) return true;
    if (!a.isKnown || !b.isKnown || a.isFromBack() != b.isFromBack()) return false;
    if (a.stop <= b.start || b.stop <= a.start) return true;
    return a.step == b.step && a.step > 1 && (a.start - b.start) % a.step != 0;
}

/// Of parts that are not apart.
bool surelyMeet(const AxisPart& a, const AxisPart& b) {
    if (a.isWhole() || b.isWhole()) return a.isKnown && b.isKnown;
    if (!a.isKnown || !b.isKnown || a.isBound || b.isBound || a.isFromBack() != b.isFromBack()) return false;
    return a.isSame(b) || (a.step == 1 && b.step == 1);
}

/// Of parts that are not apart: they take the same places, or would if the axis were short enough.
bool maybeSame(const AxisPart& a, const AxisPart& b) {
    if (!a.isKnown || !b.isKnown || a.isSame(b)) return true;
    const auto isPart = [](const AxisPart& part) { return part.isSized || part.isBound; };
    if ((isPart(a) && b.isWhole()) || (isPart(b) && a.isWhole()) || (a.isSized && b.isSized)) return false;
    // Both end where the axis does, or begin there.
    return a.start == b.start || a.isFromBack() || b.isFromBack();
}

/// One place of an axis, if the axis is so long.
bool isSingle(const AxisPart& part) {
    return part.isKnown && !part.isBound && part.step == 1 && part.stop - part.start == 1;
}

/// Where the parts have room they take the same places, but for axes of which each takes one place: x[-1] and x[0].
bool areApartOrSame(const Region& a, const Region& b) {
    return a.parts.size() == b.parts.size() && a.added == 0 && b.added == 0 &&
           std::ranges::equal(a.parts, b.parts, [](const AxisPart& first, const AxisPart& second) {
               return first.isSame(second) || (isSingle(first) && isSingle(second) && first.isIndex == second.isIndex);
           });
}

bool isKnown(const ViewArgument& argument) {
    return argument.kind != Kind::Unknown && std::ranges::all_of(argument.items, isKnown);
}

bool isSameCall(const ViewStep& a, const ViewStep& b) {
    if (a.call != 0 && a.call == b.call) return true;
    const auto known = [](const auto& entry) { return isKnown(entry.second); };
    return a.op == b.op && a.arguments == b.arguments && a.keywords == b.keywords &&
           std::ranges::all_of(a.arguments, isKnown) && std::ranges::all_of(a.keywords, known);
}

Overlap overlapOf(const Region& a, const Region& b) {
    const bool isOtherRank = a.isKnown() && b.isKnown() && a.moreAxes() != b.moreAxes();
    bool meet = true, same = a.added == 0 && b.added == 0, isMaybeSame = !isOtherRank;
    for (std::size_t axis = 0; axis < std::max(a.parts.size(), b.parts.size()); ++axis) {
        const AxisPart first = a.part(axis), second = b.part(axis);
        if (areApart(first, second)) return Overlap::Apart;
        meet = meet && surelyMeet(first, second);
        same = same && first.isSame(second);
        isMaybeSame = isMaybeSame && maybeSame(first, second);
    }
    if (same) return Overlap::Same;
    if (areApartOrSame(a, b)) return Overlap::ApartOrSame;
    return meet && !isMaybeSame ? Overlap::Meet : Overlap::Unknown;
}

/// Of two views of one base.
Overlap overlapOf(const ViewStep& a, const ViewStep& b) {
    if (isSameCall(a, b)) {
        if (a.item == b.item) return Overlap::Same;
        if (a.item && b.item) return Overlap::Apart;  // elements of lists that one and the same call has made: chunk
    }
    const auto first = regionOf(a), second = regionOf(b);
    return first && second ? overlapOf(*first, *second) : Overlap::Unknown;
}

std::optional<std::vector<std::int64_t>> intsOf(std::span<const ViewArgument> arguments) {
    if (arguments.size() == 1 && arguments.front().kind == Kind::Tuple) return intsOf(arguments.front().items);
    std::vector<std::int64_t> numbers;
    for (const ViewArgument& argument : arguments) {
        if (argument.kind != Kind::Int) return std::nullopt;
        numbers.push_back(argument.number);
    }
    return numbers;
}

/// A call that may give another shape, and gives the one that its argument has.
bool keepsShape(const ViewStep& step) {
    const bool isKnown = !step.dims.empty() && std::ranges::none_of(step.dims, [](auto dim) { return dim < 0; });
    if (!isKnown || !step.keywords.empty()) return false;
    switch (step.form) {
        case ViewForm::NewShape:
        case ViewForm::Expand: {
            const auto sizes = intsOf(step.arguments);
            return sizes &&
                   std::ranges::equal(*sizes, step.dims, [](auto size, auto dim) { return size == dim || size == -1; });
        }
        case ViewForm::Squeeze: {
            if (step.arguments.empty()) return std::ranges::find(step.dims, 1) == step.dims.end();
            const auto axis = intOf(step.arguments.front());
            return axis && *axis >= 0 && sizeOf(step, static_cast<std::size_t>(*axis)) > 1;
        }
        case ViewForm::Flatten: return step.arguments.empty() && step.dims.size() == 1;
        default: return false;
    }
}

/// The view is its base as it is.
bool showsAll(const ViewStep& step) {
    const auto region = regionOf(step);
    return region ? region->isWhole() : keepsShape(step);
}

std::vector<ViewStep> withoutWhole(std::span<const ViewStep> steps) {
    std::vector<ViewStep> result;
    std::ranges::remove_copy_if(steps, std::back_inserter(result), showsAll);
    return result;
}

/// Of a view and its base.
Overlap overlapWithBase(const ViewStep& step) {
    const auto region = regionOf(step);
    return region ? overlapOf(*region, Region()) : Overlap::Unknown;
}

}  // namespace

std::vector<std::int64_t> knownDims(const tensor::TypeInfo& type) {
    std::vector<std::int64_t> dims;
    if (!type.shape) return dims;
    for (const tensor::Dim& dim : *type.shape) dims.push_back(dim.known() ? dim.value : -1);
    return dims;
}

ViewArgument ViewArgument::of(const Value& value) {
    if (value.isNone()) return {};
    if (value.kind() == ValueKind::Int) return {Kind::Int, value.toInt(), {}};
    if (value.kind() != ValueKind::List && value.kind() != ValueKind::Tuple) return unknown();
    ViewArgument result = container(Kind::Tuple, {});
    for (const Value& item : value.items()) result.items.push_back(of(item));
    return result;
}

Overlap overlapOf(std::span<const ViewStep> writtenSteps, std::span<const ViewStep> readSteps) {
    const std::vector<ViewStep> written = withoutWhole(writtenSteps), read = withoutWhole(readSteps);
    const std::size_t common = std::min(written.size(), read.size()), most = std::max(written.size(), read.size());
    bool perhapsApart = false;
    for (std::size_t i = 0; i < common; ++i) {
        const Overlap each = overlapOf(written[i], read[i]);
        if (each == Overlap::Same) continue;
        if (each == Overlap::ApartOrSame) {
            perhapsApart = true;
            continue;
        }
        // Parts that meet may be cut apart again.
        const bool isOpen = each == Overlap::Meet && (i + 1 != most || perhapsApart);
        return isOpen ? Overlap::Unknown : each;
    }
    if (perhapsApart) return common == most ? Overlap::ApartOrSame : Overlap::Unknown;
    if (common == most) return Overlap::Same;
    // One is a part of the other; in another shape it may still be all of it.
    return common + 1 == most ? overlapWithBase(written.size() == most ? written.back() : read.back())
                              : Overlap::Unknown;
}

}  // namespace sonde::graph
