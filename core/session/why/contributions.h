#pragma once

#include <utility>
#include <vector>

#include "core/session/why/explanation.h"

namespace sonde::session::why {

/// The part of an element that comes from the elements of one value.
struct Share {
    graph::NodeId node;
    std::optional<std::size_t> member = {};  ///< of a value that is a list
    tensor::Tensor map;                      ///< float32 with the value's shape: the share of each element
    double sum = 0;

    /// The elements with the largest shares, those of the same share by index; none without any.
    std::vector<std::pair<std::vector<std::int64_t>, double>> largest(std::size_t count) const;
};

/// How an element is made up of the elements of the model's inputs, through all operations between them.
///
/// The element has the share 1. Each element that has a share hands it to the terms of its formula (why::explain):
///
///     share(term) = share(element) * |weight * value| / sum(|weight * value|) over all terms
///
/// A term whose weight is computed from an input itself, as in a product of two activations, gives half of its share to
/// the weight's element. Where terms are NaN, or infinite without any NaN, these alone share. An element that takes
/// part in several ways has the sum of what it is handed. This is exact where every operator is a sum of products of
/// one sign, and else a measure of how large the terms are: terms that cancel each other out both count, and so do
/// factors, as the scale and the variance of a normalisation.
///
/// Where very many elements of a value have a share, some are drawn and stand for the others: ContributionOptions. The
/// same ones each time. Sums stay exact then, and the shares of single elements are estimates.
///
/// inputs + constants + unexplained + cut = 1, up to rounding.
struct Contributions {
    std::vector<Share> inputs;           ///< of the model, the largest first
    std::vector<graph::NodeId> through;  ///< all nodes that shares went through, the element's own first
    double constants = 0;                ///< what ends in weights, constants and numbers of the operators
    double unexplained = 0;  ///< what ends where an operator has no rule, or at elements whose terms are all 0
    double cut = 0;          ///< what was not followed, as it was too much work
    bool isSampled = false;  ///< elements stand for others
    bool hasNan = false;     ///< terms that are NaN share all of an element: shares say where it is from, not how much
};

struct ContributionOptions {
    /// Of each value that are followed. Of more as many are drawn, at equal steps of the summed shares (systematic
    /// sampling), so that each is drawn as often as its share is large; each draw has the same part of the whole.
    std::size_t elements = 1'024;
    std::size_t terms = 40'000'000;  ///< that are looked at in all; what is left then is cut
};

/// Errors: as explain(); Cancelled.
base::Result<Contributions> contributions(const graph::InternalGraph& graph, const Place& place, Reader& reader,
                                          const ContributionOptions& options = {}, const base::WorkContext& work = {});

}  // namespace sonde::session::why
