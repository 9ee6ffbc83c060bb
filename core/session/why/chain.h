#pragma once

#include <string>
#include <vector>

#include "core/session/why/explanation.h"

namespace sonde::session::why {

/// An element, the largest term that it is made of, the largest one of that, and so on.
struct Chain {
    std::vector<Explanation> hops;  ///< the element that was asked about first
    /// Why it goes no further: "an input of the model", "NaN is made here: no term is NaN or infinite".
    std::string end;
    bool isOrigin = false;  ///< of NaN or infinity, which none of the last hop's terms has; of a difference
    /// What the hops' elements are in the reference that was followed; nothing where it has none. Empty without one.
    std::vector<std::optional<double>> references = {};
};

struct ChainOptions {
    std::size_t hops = 10'000;
    std::size_t terms = 16;  ///< that each hop lists
};

/// Follows the largest terms back. Where the element is NaN or infinite, terms that are so too are followed, and if
/// there are none the chain ends at the origin. Weights and constants are followed only for these. Errors: as
/// explain(), of the first element; Cancelled.
base::Result<Chain> chain(const graph::InternalGraph& graph, const Place& place, Reader& reader,
                          const ChainOptions& options = {}, const base::WorkContext& work = {});

/// The place that the chain goes on with from an element; an invalid node and the reason if it ends there.
Place nextInChain(const graph::InternalGraph& graph, const Explanation& explanation, std::string& end, bool& isOrigin);

}  // namespace sonde::session::why
