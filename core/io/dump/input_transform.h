#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::io::dump {

/// Computes an expression (core/expression) of the array `data`: dump.md, "Input transform". Nothing else can be named:
/// an expression reads no files and calls no programs. The result is contiguous, with the shape and dtype that the
/// expression gives; dtypes that numpy has not become float64. Errors (Usage): what is wrong, and the column.
base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data);

}  // namespace sonde::io::dump
