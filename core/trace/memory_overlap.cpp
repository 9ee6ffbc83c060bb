// Writes whose source is a part of the same tensor: PyTorch refuses those that meet what they read, and so does a
// trace, which would read what was there before. It allows what it can show to lie apart.

#include <algorithm>
#include <limits>

#include "core/graph/memory.h"
#include "core/trace/memory.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using tensor::ValueKind;

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// What a view takes of one axis of its base: `start`, `start + step` … before `stop`, both counted from the front (or
/// both from the back, and then negative; 0 is the end).
struct AxisPart {
    bool isKnown = false;
    std::int64_t start = 0, stop = kEnd, step = 1;
    bool isFromBack() const { return start < 0; }
    bool operator==(const AxisPart&) const = default;
};
using Region = std::vector<AxisPart>;

std::optional<std::int64_t> intOf(const Var* var) {
    if (!var || var->kind() != Var::Kind::Value || var->value().kind() != ValueKind::Int) return std::nullopt;
    return var->value().toInt();
}
bool isOmitted(const Var* var) { return !var || var->isNone(); }

AxisPart range(const Var* start, const Var* stop, const Var* step) {
    AxisPart part;
    const auto from = isOmitted(start) ? std::optional<std::int64_t>(0) : intOf(start);
    const auto by = isOmitted(step) ? std::optional<std::int64_t>(1) : intOf(step);
    const auto to = isOmitted(stop) ? std::optional<std::int64_t>(from && *from < 0 ? 0 : kEnd) : intOf(stop);
    if (!from || !by || !to) return part;
    part = {true, *from, *to, *by};
    // From the front to a number from the back: where that is depends on the size. It may be the last one.
    if (!part.isFromBack() && part.stop < 0) part.stop = kEnd;
    if (part.isFromBack() && part.stop > 0) part.isKnown = false;
    return part;
}
AxisPart single(std::int64_t index) { return {true, index, index + 1, 1}; }

/// None: the view does not take ranges of axes.
std::optional<Region> regionOfIndex(const Var& index) {
    Region region;
    const std::vector<Var> parts = index.kind() == Var::Kind::Tuple ? index.items() : std::vector<Var>{index};
    for (const Var& part : parts) {
        if (part.kind() == Var::Kind::Slice) {
            region.push_back(range(&part.items()[0], &part.items()[1], &part.items()[2]));
        } else if (const auto number = intOf(&part)) {
            region.push_back(single(*number));
        } else if (part.kind() == Var::Kind::Value && part.value().isNone()) {
            continue;  // a new axis takes none of the base's
        } else {
            break;  // `...` and what only a run knows: nothing is known of the axes behind
        }
    }
    return region;
}

std::optional<Region> regionOf(const Cut& cut) {
    if (cut.positions) return std::nullopt;
    const OperatorCall& call = cut.call;
    const std::string_view name = graph::withoutOverload(call.op);
    if (name == "getitem") return call.arguments.size() > 1 ? regionOfIndex(call.arguments[1]) : std::nullopt;
    const bool hasSecondDim = name == "split" || name == "unsafe_split";
    const Var* dim = call.argument(hasSecondDim ? 2 : 1, "dim");
    const auto axis = isOmitted(dim) ? std::optional<std::int64_t>(0) : intOf(dim);
    AxisPart part;
    if (name == "select") {
        if (const auto index = intOf(call.argument(2, "index"))) part = single(*index);
    } else if (name == "slice") {
        part = range(call.argument(2, "start"), call.argument(3, "end"), call.argument(4, "step"));
    } else if (name == "narrow") {
        const auto start = intOf(call.argument(2, "start")), length = intOf(call.argument(3, "length"));
        if (start && length) part = {true, *start, *start + *length, 1};
    } else if (name == "unbind" && cut.item) {
        part = single(static_cast<std::int64_t>(*cut.item));
    } else if (hasSecondDim && cut.item && intOf(call.argument(1, "split_size"))) {
        const std::int64_t size = *intOf(call.argument(1, "split_size")), at = static_cast<std::int64_t>(*cut.item);
        part = {true, at * size, (at + 1) * size, 1};
    } else {
        return std::nullopt;
    }
    if (!axis || *axis < 0 || *axis > 64) return std::nullopt;
    Region region(static_cast<std::size_t>(*axis));
    region.push_back(part);
    return region;
}

bool areApart(const AxisPart& a, const AxisPart& b) {
    if (!a.isKnown || !b.isKnown || a.isFromBack() != b.isFromBack()) return false;
    if (a.stop <= b.start || b.stop <= a.start) return true;
    return a.step == b.step && a.step > 1 && (a.start - b.start) % a.step != 0;
}

/// Elements of lists that one and the same call has made: chunk.
bool areOtherItems(const Cut& a, const Cut& b) {
    if (!a.item || !b.item || *a.item == *b.item || a.call.op != b.call.op) return false;
    const auto isSame = [](const Var& first, const Var& second) {
        return first.kind() == Var::Kind::Value && second.kind() == Var::Kind::Value &&
               tensor::identical(first.value(), second.value());
    };
    const auto isSameKeyword = [&](const auto& first, const auto& second) {
        return first.first == second.first && isSame(first.second, second.second);
    };
    const std::vector<Var>&first = a.call.arguments, &second = b.call.arguments;
    return first.size() == second.size() && std::equal(first.begin() + 1, first.end(), second.begin() + 1, isSame) &&
           std::ranges::equal(a.call.keywords, b.call.keywords, isSameKeyword);
}

enum class Relation : std::uint8_t { Apart, Same, Meet };

/// Of two views of one base.
Relation relationOf(const Cut& a, const Cut& b) {
    if (areOtherItems(a, b)) return Relation::Apart;
    const auto first = regionOf(a), second = regionOf(b);
    if (!first || !second) return Relation::Meet;
    for (std::size_t i = 0; i < std::min(first->size(), second->size()); ++i) {
        if (areApart((*first)[i], (*second)[i])) return Relation::Apart;
    }
    const bool allKnown = std::ranges::all_of(*first, &AxisPart::isKnown);
    return allKnown && *first == *second && a.call.op == b.call.op ? Relation::Same : Relation::Meet;
}

/// How views were cut out of their root, from the root on; what shows all of its base as it is counts for nothing.
std::vector<const Cut*> cutsOf(const Memory::CellPtr& cell, const Memory::Cell*& root) {
    std::vector<const Cut*> cuts;
    const Memory::Cell* at = cell.get();
    for (; at->base; at = at->base.get()) {
        if (at->cut->positions || !keepsAll(at->cut->call)) cuts.push_back(at->cut.get());
    }
    root = at;
    std::ranges::reverse(cuts);
    return cuts;
}

Relation relationOf(const std::vector<const Cut*>& written, const std::vector<const Cut*>& read) {
    for (std::size_t i = 0; i < std::min(written.size(), read.size()); ++i) {
        if (written[i] == read[i]) continue;
        const Relation each = relationOf(*written[i], *read[i]);
        if (each != Relation::Same) return each;
    }
    return written.size() == read.size() ? Relation::Same : Relation::Meet;
}

}  // namespace

/// `written`: the argument that the call writes to.
void Memory::checkOverlap(const OperatorCall& call, const CellPtr& target, const Var* written) {
    const std::string_view name = graph::withoutOverload(call.op);
    if (name == "fill_" || name == "masked_fill_") return;  // these read one number first
    const Cell* root = nullptr;
    std::vector<const Cut*> cuts = cutsOf(target, root);
    // x[index] = value writes to a part.
    const Cut part{OperatorCall(graph::ExprKind::CallFunction, Function{"getitem", "getitem", "getitem", true, "prim"},
                                call.arguments.size() > 1 ? std::vector<Var>{call.arguments[0], call.arguments[1]}
                                                          : std::vector<Var>(),
                                {}),
                   {},
                   {}};
    const bool isItem = name == "setitem" && call.arguments.size() > 2;
    if (isItem) cuts.push_back(&part);
    const auto check = [&](const Var& argument) {
        if (&argument == written || (isItem && &argument == &call.arguments[1])) return;
        visitProxies(argument, [&](const Var& proxy) {
            const CellPtr cell = &proxy.tracer() == &m_tracer ? findCell(proxy.node()) : nullptr;
            if (!cell || (cell == target && !isItem)) return;
            const Cell* other = nullptr;
            const std::vector<const Cut*> read = cutsOf(cell, other);
            if (other != root || relationOf(cuts, read) != Relation::Meet) return;
            refuse(
                target->node,
                "is written by " + call.display +
                    " from a part of itself: unsupported operation: some elements of the input tensor and the written-to tensor "
                    "may refer to a single memory location. Please clone() the tensor before performing the operation.");
        });
    };
    for (const Var& argument : call.arguments) check(argument);
    for (const auto& [keyword, argument] : call.keywords) check(argument);
}

}  // namespace sonde::trace
