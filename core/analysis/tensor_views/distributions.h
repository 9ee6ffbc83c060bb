#pragma once

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Whether the rows of the last axis are probabilities, as softmax gives them: of at most 8 rows, spread evenly over
/// the tensor, each has elements from 0 to 1 that add up to 1 within 0.01. Rows with NaN, or of zeros alone (a head
/// that was removed), count for nothing; if all 8 do, 512 are looked at, of which at least one must not. False for
/// dtypes other than floats, rank 0, less than two or more than 2^18 elements in a row.
bool hasDistributionRows(const tensor::Tensor& tensor);

}  // namespace sonde::analysis
