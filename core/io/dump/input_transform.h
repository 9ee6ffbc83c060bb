#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::io::dump {

/// Computes an expression of the array `data` (dump.md, "Input transform") as numpy 2 does, in the dtypes that it has
/// there (integers wrap): numbers, lists, True, False and None, + - * / **, comparisons, signs, brackets; np.mean, std,
/// min, max of all or along `axis`, abs, sqrt, exp, log, clip, transpose, astype, array, most of them as methods of
/// arrays, too. Dtypes that numpy has not are computed in float64. Nothing else can be named: an expression reads no
/// files and calls no programs. The result has the shape and dtype that the expression gives. Errors (Usage): what is
/// wrong, and the column; integers above 2^53, which are not computed exactly.
base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data);

}  // namespace sonde::io::dump
