#pragma once

#include <vector>

#include "core/session/why/explanation.h"

namespace sonde::session::why {

/// The elements of a node's value that reach another element: begin <= index < end in each dimension.
struct Box {
    graph::NodeId node;
    std::optional<std::size_t> member = {};  ///< of a value that is a list
    std::vector<std::int64_t> begin, end;
    tensor::Shape shape;  ///< of the whole value
    /// No element outside of the box reaches it. False where an operator says nothing of what it depends on, or picks
    /// elements of too many places to look at each: then the box may be too large, or too small.
    bool isExact = true;

    std::int64_t count() const;
};

/// What an element depends on through all operations before it, as one box for each value.
struct ReceptiveField {
    std::vector<Box> inputs;  ///< of the model; those that do not reach the element are missing
    std::vector<Box> nodes;   ///< of all values on the way, the element's own first
};

/// Goes back from an element through all operations that lead to it, with a box for each value: what the corners of a
/// box depend on, which for windows, products, reductions and element-wise operators is what all of the box depends on.
/// The elements that data movement takes are looked up one by one. Errors: as explain(); Cancelled.
base::Result<ReceptiveField> receptiveField(const graph::InternalGraph& graph, const Place& place, Reader& reader,
                                            const base::WorkContext& work = {});

}  // namespace sonde::session::why
