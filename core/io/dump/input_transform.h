#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::io::dump {

/// Computes an expression of `data` (dump.md, "Input transform") in float64: numbers, + - * / **, signs, brackets, and
/// np.mean, std, min, max, abs, sqrt, exp, log of one value and np.clip(value, low, high). Nothing else can be named:
/// an expression reads no files and calls no programs. Errors (Usage): what is wrong, and the column.
base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data);

}  // namespace sonde::io::dump
