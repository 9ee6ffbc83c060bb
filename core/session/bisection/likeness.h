#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/model_target.h"

namespace sonde::session::bisection {

/// What tells whether two models are forms of one network.
struct Likeness {
    std::size_t computed = 0;  ///< values that the other model computes outside of loops and branches
    /// The share of weights, by elements, whose shapes the other model has as well, of the model with fewer elements:
    /// dimensions of 1 and the order of dimensions do not count. Nothing: one of both has none.
    std::optional<double> weights;
    /// Inputs of both that have other names, and so are paired by their positions: the first model's first.
    std::vector<std::pair<std::string, std::string>> pairedInputs;
};
/// `target`: of `model` against `other`.
Likeness likenessOf(const graph::InternalGraph& model, const graph::InternalGraph& other,
                    const analysis::ModelTarget& target);

/// Whether two models whose outputs differ are hardly forms of one network: less than a tenth of the values have a
/// counterpart of the same shape, or less than half and the weights have other shapes too; not if nine tenths of the
/// weights have the same shapes. Shares are of the model with fewer values.
bool areUnlike(const Likeness& likeness, const analysis::Bisection& found);

}  // namespace sonde::session::bisection
