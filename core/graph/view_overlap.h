#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/operators/traits.h"
#include "core/tensor/type_info.h"

/// Whether two views of one tensor show some of the same elements, by the calls that cut them out. PyTorch refuses to
/// write to what it reads through another view (assert_no_partial_overlap of at::TensorIterator); a graph of values
/// would read what was there before.
namespace sonde::graph {

/// What is known before a run of an argument of a view: `start`, `dim`, an index.
struct ViewArgument {
    enum class Kind : std::uint8_t { Omitted, Int, Slice, Tuple, Unknown };
    Kind kind = Kind::Omitted;        ///< Omitted: not given, or None
    std::int64_t number = 0;          ///< of an int
    std::vector<ViewArgument> items;  ///< of a slice (start, stop, step), of a tuple or list
    bool operator==(const ViewArgument&) const = default;

    static ViewArgument unknown() { return {Kind::Unknown, 0, {}}; }
    static ViewArgument container(Kind kind, std::vector<ViewArgument> items) { return {kind, 0, std::move(items)}; }
    static ViewArgument of(const tensor::Value& value);
};
std::vector<std::int64_t> knownDims(const tensor::TypeInfo& type);

/// One call that shows a part of its first argument.
struct ViewStep {
    std::string op;
    operators::ViewForm form = operators::ViewForm::None;
    std::vector<ViewArgument> arguments;  ///< behind the first one
    std::vector<std::pair<std::string, ViewArgument>> keywords;
    std::optional<std::size_t> item;  ///< element of the list that the call gives
    std::vector<std::int64_t> dims;   ///< of the first argument, -1 where not known; empty: nothing is known
    std::uint64_t call = 0;           ///< calls of one number are one and the same; 0: it has none
};

enum class Overlap : std::uint8_t {
    Apart,        ///< no element in common
    Same,         ///< the same elements in the same shape
    ApartOrSame,  ///< one or the other: each takes one place of an axis, x[-1] and x[0]
    Meet,         ///< common elements wherever the dimensions have room for both
    Unknown,      ///< depends on sizes or numbers that only a run knows
};

/// Of two views of one tensor, each by its calls from that tensor on; no call is the tensor itself.
Overlap overlapOf(std::span<const ViewStep> written, std::span<const ViewStep> read);

}  // namespace sonde::graph
