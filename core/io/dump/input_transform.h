#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::io::dump {

/// Computes an expression of the array `data` (dump.md, "Input transform") as numpy does, but in float64: numbers,
/// lists, True, False and None, + - * / **, comparisons (1 where true), signs, brackets; np.mean, std, min, max of all
/// or along `axis`, abs, sqrt, exp, log, clip, transpose, astype, array, most of them as methods of arrays, too.
/// Nothing else can be named: an expression reads no files and calls no programs. The result is float64 and has the
/// shape that the expression gives. Errors (Usage): what is wrong, and the column.
base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data);

}  // namespace sonde::io::dump
