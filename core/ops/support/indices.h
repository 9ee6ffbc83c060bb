#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::ops {

/// Indices of ATen that do not count from the end: embedding, index_select, gather, the scatters, index_add,
/// index_copy. Where PyTorch raises IndexError this is an Error that names the first one outside of [0, size).
base::Result<void> checkFromStart(const tensor::Tensor& indices, std::int64_t size);

/// Indices of ATen that count from the end if they are negative (take, put, index_fill) as indices from the start;
/// int64, packed. Error: the first one outside of [-size, size).
base::Result<tensor::Tensor> countedFromStart(const tensor::Tensor& indices, std::int64_t size);

}  // namespace sonde::ops
