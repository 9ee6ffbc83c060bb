#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Row-major logical indices of the first `most` elements that are NaN or infinite, in order. A complex element counts
/// if either part does. Integers, booleans and strings have none. Any strides; stops early (with what it has) when
/// asked.
std::vector<std::int64_t> badElements(const tensor::Tensor& tensor, std::size_t most, const std::stop_token& stop = {});

}  // namespace sonde::analysis
