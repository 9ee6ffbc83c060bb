#pragma once

#include "core/ops/dependence/dependence.h"

namespace sonde::ops::dependence {

/// Adds the elements of a product of two inputs, matrices (in batches) or vectors: "x" of the left one, with elements
/// of the right one as its weights "w".
base::Result<void> addMatrixProduct(Dependence& dependence, const ElementCall& call, std::size_t left,
                                    std::size_t right, bool turnsLeft = false, bool turnsRight = false);

}  // namespace sonde::ops::dependence
