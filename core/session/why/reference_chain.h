#pragma once

#include "core/session/why/chain.h"

namespace sonde::session::why {

struct ReferenceChainOptions {
    std::size_t hops = 10'000;
    std::size_t terms = 16;  ///< that each hop lists
    /// Values that are closer to those of the reference are the same; of the largest magnitude in the reference's value
    /// of the node.
    double tolerance = 1e-4;
};

/// Follows what differs from a reference back to where the difference is made: from an element to the term that adds
/// most to it,
///
///     |weight · (value − reference)| + |value · (weight − reference of the weight)|
///
/// and on from there, until no term of an element differs. Where the reference has no value of any term that could
/// differ, the largest such terms are tried, one after the other. Chain::references are what the elements are in the
/// reference, and Chain::isOrigin says that the difference is made at the last hop. Errors: as explain(), of the first
/// element; (Usage) the reference has no value of the first element, or the same one; Cancelled.
base::Result<Chain> referenceChain(const graph::InternalGraph& graph, const Place& place, Reader& reader,
                                   Reader& reference, const ReferenceChainOptions& options = {},
                                   const base::WorkContext& work = {});

}  // namespace sonde::session::why
