#pragma once

#include "core/ops/dependence/region.h"

namespace sonde::ops::dependence {

/// The axes of the first input that are reduced, of attributes, inputs and arguments: none given means all.
base::Result<std::vector<std::size_t>> reducedAxes(const ElementCall& call, std::size_t rank);
/// The elements of x that are reduced to the call's one.
base::Result<Region> reducedRegion(const ElementCall& call, const Shape& shape, const std::vector<std::size_t>& axes);

}  // namespace sonde::ops::dependence
