#include "core/session/diff/nested_arguments.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/call_arguments.h"
#include "core/tensor/ellipsis_value.h"

namespace sonde::session::diff {

using graph::Argument;
using Kind = Argument::Kind;

namespace {

bool holdsOthers(const Argument& argument) { return argument.kind > Kind::Constant; }

std::optional<std::int64_t> integerOf(const Argument& argument) {
    return argument.kind == Kind::Constant ? analysis::CallArguments::integer(argument.constant) : std::nullopt;
}

bool isNothing(const Argument& argument) {
    return argument.kind == Kind::Omitted || (argument.kind == Kind::Constant && argument.constant.isNone());
}

/// Start, stop and step with the numbers left out that say what leaving them out says.
std::vector<Argument> plainSlice(std::vector<Argument> parts) {
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    parts.resize(3);
    const std::int64_t usual[] = {0, kEnd, 1};
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (isNothing(parts[i]) || integerOf(parts[i]) == usual[i]) parts[i] = Argument::omitted();
    return parts;
}

bool isFullSlice(const Argument& argument) {
    if (argument.kind != Kind::Slice) return false;
    return std::ranges::all_of(plainSlice(argument.items), isNothing);
}

/// The same in one form, with a list of an index without full slices at its end.
Argument plain(const Argument& argument, bool isIndex) {
    Argument made = argument;
    if (isIndex && argument.kind != Kind::Tuple && argument.kind != Kind::List)
        made = Argument::container(Kind::Tuple, {argument});
    if (!holdsOthers(made) && made.constant.isListLike()) {
        made = Argument::container(Kind::List, {});
        for (const tensor::Value& item : argument.constant.items()) made.items.push_back(Argument::of(item));
    }
    if (made.kind == Kind::Slice) made.items = plainSlice(made.items);
    while (isIndex && !made.items.empty() && isFullSlice(made.items.back())) made.items.pop_back();
    for (Argument& item : made.items) item = plain(item, false);
    return made;
}

bool isEllipsis(const Argument& argument) {
    return argument.kind == Kind::Constant && argument.constant.kind() == tensor::ValueKind::Object &&
           std::dynamic_pointer_cast<const tensor::EllipsisValue>(argument.constant.object()) != nullptr;
}

/// Writes out the "..." of an index as the full slices that it stands for: by the rank, else, where `other` has none,
/// as many as that has parts, and one at least.
void spellOut(Argument& index, const Argument& other, std::int64_t rank) {
    const auto found = std::ranges::find_if(index.items, isEllipsis);
    if (found == index.items.end() || (rank < 0 && std::ranges::any_of(other.items, isEllipsis))) return;
    // None makes a dimension of its own, and a mask takes several.
    const auto takesOne = [](const Argument& part) {
        return part.kind == Kind::Slice || integerOf(part) || isEllipsis(part);
    };
    if (!std::ranges::all_of(index.items, takesOne)) return;
    const auto others = static_cast<std::int64_t>(index.items.size()) - 1;
    const std::int64_t count = rank >= 0 ? rank - others : std::max<std::int64_t>(std::ssize(other.items) - others, 1);
    if (count < 0) return;
    const Argument full =
        Argument::container(Kind::Slice, {Argument::omitted(), Argument::omitted(), Argument::omitted()});
    const auto at = index.items.erase(found);
    index.items.insert(at, static_cast<std::size_t>(count), full);
    while (!index.items.empty() && isFullSlice(index.items.back())) index.items.pop_back();
}

std::size_t countOfNodes(const Argument& argument) {
    std::size_t count = 0;
    argument.forEachNode([&count](graph::NodeId) { ++count; });
    return count;
}

struct Compared {
    const LeafText &first, &second;
    bool havePlaces;  ///< as many values on both sides: where they are says something

    bool areSame(const Argument& a, const Argument& b) const {
        if (holdsOthers(a) || holdsOthers(b)) {
            if (a.kind == Kind::Node || b.kind == Kind::Node) return true;  // made by an operation
            const bool isDict = a.kind == Kind::Dict || b.kind == Kind::Dict;
            if (isDict || (a.kind == Kind::Slice) != (b.kind == Kind::Slice)) return a.kind == b.kind;
            return std::ranges::equal(a.items, b.items,
                                      [this](const Argument& x, const Argument& y) { return areSame(x, y); });
        }
        const std::string x = first(a), y = second(b);
        if (a.kind == Kind::Node && b.kind == Kind::Node) return x.empty() || y.empty() || x == y;
        if (a.kind == Kind::Node || b.kind == Kind::Node) return !havePlaces;
        return (isNothing(a) && isNothing(b)) || x == y;
    }
};

std::string textOf(const Argument& argument, const LeafText& leaf) {
    if (!holdsOthers(argument)) {
        if (isEllipsis(argument)) return "...";
        const std::string text = leaf(argument);
        return text.empty() ? "value" : text;
    }
    std::string text;
    const bool isSlice = argument.kind == Kind::Slice;
    for (std::size_t i = 0; i < argument.items.size(); ++i) {
        const bool isLast = isSlice && i == 2 && isNothing(argument.items[i]);
        if (i > 0 && !isLast) text += isSlice ? ":" : ", ";
        if (!isSlice || !isNothing(argument.items[i])) text += textOf(argument.items[i], leaf);
    }
    return isSlice ? text : "[" + text + "]";
}

}  // namespace

std::string nestedChange(const Argument& ours, const LeafText& textOfOurs, const Argument& theirs,
                         const LeafText& textOfTheirs, bool isIndex, std::int64_t rank) {
    if (!isIndex && !holdsOthers(ours) && !holdsOthers(theirs)) return {};
    Argument a = plain(ours, isIndex), b = plain(theirs, isIndex);
    if (isIndex) spellOut(a, b, rank);
    if (isIndex) spellOut(b, a, rank);
    const Compared compared{textOfOurs, textOfTheirs, countOfNodes(a) == countOfNodes(b)};
    if (compared.areSame(a, b)) return {};
    return textOf(a, textOfOurs) + " -> " + textOf(b, textOfTheirs);
}

}  // namespace sonde::session::diff
