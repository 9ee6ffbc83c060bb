#pragma once

#include "core/tensor/dtype.h"

namespace sonde::tensor {

/// Whether an operation whose result is `from` may write it into a tensor of `to`: not complex numbers into real ones,
/// not fractions into integers, nothing but bools into bools. Source: c10::canCast.
inline bool canCast(DType from, DType to) {
    if (isComplex(from) && !isComplex(to)) return false;
    if (isFloating(from) && isInteger(to)) return false;
    return from == DType::Bool || to != DType::Bool;
}

}  // namespace sonde::tensor
