#pragma once

#include <utility>

#include "core/session/why/reader.h"

namespace sonde::session::why {

// Where elements of lists in lists, and of what iterations made, are.

/// As placeOf() and memberPlace() without `value`, which is what the argument or the node is: leaves of lists in lists
/// are counted by it. Null: it is not known, and each node counts as one.
Place placeOf(const graph::Argument& argument, std::size_t member, const tensor::Value* value);
Place memberPlace(const graph::InternalGraph& graph, const graph::Expr& expr, std::optional<std::size_t> member,
                  const tensor::Value* value);

/// The value that an input of a loop's body is, or is a part of: what the iteration before gave, in the first one what
/// the loop was given; an element of what a Scan goes through, and the item of a sequence.
struct InputSource {
    Place whole;  ///< without index; an invalid node: it is not known
    /// Dimensions that only the whole has, from the first one on, and the index in each.
    std::vector<std::pair<std::size_t, std::int64_t>> selected = {};

    /// Where the element of the body's input is.
    Place at(std::vector<std::int64_t> index) const;
};
/// `member`: of the body's input, if that is a list.
InputSource inputSource(const graph::InternalGraph& graph, graph::NodeId bodyInput, std::optional<std::size_t> member,
                        Reader& reader);

/// What an element of a result is whose iterations each gave a part, as the stacked outputs of a loop: the element of
/// what the body gave, in its iteration; of a state of a loop without iterations that of what the loop was given.
/// `sources`: exec::valueSources() of the graph. `before`: when the result is looked at, as Place::before. An invalid
/// node: it is no such result, or that iteration is not kept.
Place iterationPart(const graph::InternalGraph& graph, graph::NodeId result, std::optional<std::size_t> member,
                    const std::vector<std::int64_t>& index, Reader& reader, const std::vector<graph::NodeId>& sources,
                    std::optional<std::uint32_t> before = std::nullopt);

}  // namespace sonde::session::why
