#pragma once

#include "core/ops/dependence/dependence.h"

namespace sonde::ops::dependence {

/// Adds the elements of a product of two inputs, matrices (in batches) or vectors: "x" of the left one, with elements
/// of the right one as its weights "w".
base::Result<void> addMatrixProduct(Dependence& dependence, const ElementCall& call, std::size_t left,
                                    std::size_t right, bool turnsLeft = false, bool turnsRight = false);

/// What each pair of elements, one behind the other, adds to the p-norm of their differences: its slope there, as a
/// norm is the sum of its arguments by their slopes. A count, of p = 0, has none.
void weighDifferences(Dependence& dependence, double norm, double p);

struct ElementPair {
    std::int64_t left, right;
};
/// The same for elements that go together; an error if one is none.
base::Result<void> addPairs(Dependence& dependence, const ElementCall& call, std::size_t left, std::size_t right,
                            const std::vector<ElementPair>& pairs);
/// alpha times what the formula is so far, plus beta times the element of an input (kNoOperand: nothing): "alpha" and
/// "beta" are attributes or parameters.
base::Result<void> addScaledSum(Dependence& dependence, const ElementCall& call, std::size_t bias);

}  // namespace sonde::ops::dependence
