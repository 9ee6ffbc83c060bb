#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Row-major logical indices of the `most` largest elements, largest first; equal ones in order of their place. NaN is
/// left out; complex elements are taken by their real part (Tensor::toDouble); strings have none. Any strides; an empty
/// list when asked to stop.
std::vector<std::int64_t> largestElements(const tensor::Tensor& tensor, std::size_t most,
                                          const std::stop_token& stop = {});

}  // namespace sonde::analysis
