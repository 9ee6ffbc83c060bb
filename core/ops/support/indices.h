#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::ops {

/// Indices of ATen that do not count from the end: embedding, index_select, gather. Where PyTorch raises IndexError
/// this is an Error that names the first one outside of [0, size).
base::Result<void> checkFromStart(const tensor::Tensor& indices, std::int64_t size);

}  // namespace sonde::ops
