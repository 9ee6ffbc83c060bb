#include "core/graph/view_overlap.h"

#include <algorithm>
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
    bool isFromBack() const { return start < 0; }
    bool isWhole() const { return isKnown && start == 0 && stop == kEnd && step == 1 && !isBound; }
    bool isEmpty() const { return isKnown && start >= stop; }
    bool operator==(const AxisPart&) const = default;
};
using Region = std::vector<AxisPart>;

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

AxisPart range(const ViewArgument& start, const ViewArgument& stop, const ViewArgument& step, std::int64_t size) {
    AxisPart part;
    const auto by = intOr(step, 1);
    auto from = intOr(start, 0), to = intOr(stop, from && *from < 0 && size < 0 ? 0 : kEnd);
    if (!from || !by || !to || *by < 1) return part;
    part = {true, *from, *to, *by};
    if (size >= 0) {
        const auto inside = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
        part.start = inside(part.start);
        part.stop = inside(part.stop);
        if (part.start == 0 && part.stop == size && part.step == 1) part.stop = kEnd;
        return part;
    }
    // From the front to a number from the back: where that is depends on the size. It may be the last one.
    if (!part.isFromBack() && part.stop < 0) part.stop = kEnd, part.isBound = true;
    if (part.isFromBack() && part.stop > 0) part.isKnown = false;
    return part;
}
AxisPart single(std::int64_t index, std::int64_t size) {
    const std::int64_t at = index < 0 && size >= 0 ? index + size : index;
    return {true, at, at + 1, 1, false, true};
}

std::int64_t sizeOf(const ViewStep& step, std::size_t axis) { return axis < step.dims.size() ? step.dims[axis] : -1; }

Region regionOfIndex(const ViewStep& step) {
    Region region;
    const ViewArgument& index = step.arguments.front();
    const std::vector<ViewArgument> parts = index.kind == Kind::Tuple ? index.items : std::vector<ViewArgument>{index};
    for (const ViewArgument& part : parts) {
        const std::int64_t size = sizeOf(step, region.size());
        if (part.kind == Kind::Slice) {
            region.push_back(range(part.items[0], part.items[1], part.items[2], size));
        } else if (part.kind == Kind::Int) {
            region.push_back(single(part.number, size));
        } else if (part.kind == Kind::Omitted) {
            continue;  // a new axis takes none of the base's
        } else {
            region.emplace_back();  // `...` and what only a run knows: nothing is known of the axes behind
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
        if (start && length) part = {true, *start, *start + *length, 1};
    } else if (step.form == ViewForm::Unbind && step.item) {
        part = single(static_cast<std::int64_t>(*step.item), size);
    } else if (isSplit && step.item && intOf(argumentOf(step, 1, "split_size"))) {
        const std::int64_t length = *intOf(argumentOf(step, 1, "split_size")),
                           at = static_cast<std::int64_t>(*step.item);
        part = {true, at * length, (at + 1) * length, 1};
    } else {
        return std::nullopt;
    }
    if (!axis || *axis < 0 || *axis > kMaxAxis) return std::nullopt;
    // The axes in front are taken whole.
    Region region(static_cast<std::size_t>(*axis), AxisPart{true, 0, kEnd, 1});
    region.push_back(part);
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
    return a == b || (a.step == 1 && b.step == 1);
}

/// One place of an axis, if the axis is so long.
bool isSingle(const AxisPart& part) {
    return part.isKnown && !part.isBound && part.step == 1 && part.stop - part.start == 1;
}

/// Where the parts have room they take the same places, but for axes of which each takes one place: x[-1] and x[0].
bool areApartOrSame(const Region& a, const Region& b) {
    return a.size() == b.size() && std::ranges::equal(a, b, [](const AxisPart& first, const AxisPart& second) {
               return (first.isKnown && !first.isBound && first == second) ||
                      (isSingle(first) && isSingle(second) && first.isIndex == second.isIndex);
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

/// Of two views of one base.
Overlap overlapOf(const ViewStep& a, const ViewStep& b) {
    if (isSameCall(a, b)) {
        if (a.item == b.item) return Overlap::Same;
        if (a.item && b.item) return Overlap::Apart;  // elements of lists that one and the same call has made: chunk
    }
    const auto first = regionOf(a), second = regionOf(b);
    if (!first || !second) return Overlap::Unknown;
    bool meet = true;
    for (std::size_t i = 0; i < std::min(first->size(), second->size()); ++i) {
        if (areApart((*first)[i], (*second)[i])) return Overlap::Apart;
        meet = meet && surelyMeet((*first)[i], (*second)[i]);
    }
    if (meet && *first == *second && a.form == b.form) return Overlap::Same;
    if (a.form == b.form && areApartOrSame(*first, *second)) return Overlap::ApartOrSame;
    const Region& longer = first->size() > second->size() ? *first : *second;
    for (std::size_t i = std::min(first->size(), second->size()); i < longer.size(); ++i)
        meet = meet && longer[i].isKnown;
    return meet ? Overlap::Meet : Overlap::Unknown;
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

Overlap overlapOf(std::span<const ViewStep> written, std::span<const ViewStep> read) {
    bool perhapsApart = false;
    for (std::size_t i = 0; i < std::min(written.size(), read.size()); ++i) {
        const Overlap each = overlapOf(written[i], read[i]);
        if (each == Overlap::Same) continue;
        if (each == Overlap::ApartOrSame) {
            perhapsApart = true;
            continue;
        }
        const bool isLast = i + 1 == written.size() && i + 1 == read.size();
        // Parts that meet may be cut apart again.
        const bool isOpen = each == Overlap::Meet && (!isLast || perhapsApart);
        return isOpen ? Overlap::Unknown : each;
    }
    if (perhapsApart) return written.size() == read.size() ? Overlap::ApartOrSame : Overlap::Unknown;
    if (written.size() == read.size()) return Overlap::Same;
    // One is a part of the other; in another shape it may still be all of it.
    const ViewStep& further = written.size() > read.size() ? written[read.size()] : read[written.size()];
    return regionOf(further) && std::max(written.size(), read.size()) - std::min(written.size(), read.size()) == 1
               ? Overlap::Meet
               : Overlap::Unknown;
}

}  // namespace sonde::graph
