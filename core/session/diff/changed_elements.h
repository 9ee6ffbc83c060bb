#pragma once

#include <optional>

#include "core/analysis/difference.h"
#include "core/tensor/tensor.h"

namespace sonde::session::diff {

/// How far a stored tensor is from another one that seems to be the same with some elements changed: with the same
/// sizes but for those of 1 (or, of matrices, transposed), and half of the elements equal or all of them close. None of
/// equal ones, and of others: those may be another form of the same layer, of which only a run can tell.
std::optional<analysis::Difference> changedElements(const tensor::Tensor& ours, const tensor::Tensor& theirs);

}  // namespace sonde::session::diff
