#pragma once

#include "core/expression/promotion.h"

namespace sonde::expression {

// Every function broadcasts as numpy does and throws Problem: shapes and dtypes that do not go together.

/// An operator on two values: numbers, arrays, lists as arrays. Lists, tuples and strings are compared as a whole.
tensor::Value binary(Workspace& workspace, Operator op, const tensor::Value& a, const tensor::Value& b);
/// -a, +a, ~a, not a.
tensor::Value unary(Workspace& workspace, Operator op, const tensor::Value& a);
/// a where the condition is not zero, else b.
tensor::Tensor chosen(Workspace& workspace, const tensor::Tensor& condition, const tensor::Value& a,
                      const tensor::Value& b);
/// A function of each element, computed in float64 and rounded to the float that numpy has for the dtype.
/// `keepIntegers`: integers and bools stay what they are.
tensor::Tensor mapped(Workspace& workspace, const tensor::Value& a, double (*function)(double),
                      bool keepIntegers = false);
/// A function of two elements each, likewise.
tensor::Tensor mappedPair(Workspace& workspace, const tensor::Value& a, const tensor::Value& b,
                          double (*function)(double, double));
/// Bools: the function's of each element of a float, false for integers and bools unless `ofIntegers`.
tensor::Tensor tested(Workspace& workspace, const tensor::Value& a, bool (*function)(double), bool ofIntegers = false);
/// Whether the function holds of any element of a float; of complex numbers, of any of their parts.
bool holdsOfAny(Workspace& workspace, const tensor::Value& a, bool (*function)(double));
/// |a|; of complex numbers, too.
tensor::Tensor absolute(Workspace& workspace, const tensor::Value& a);
/// The real or imaginary parts; of real numbers these and zeros.
tensor::Tensor complexPart(Workspace& workspace, const tensor::Value& a, bool isImaginary);

/// Whether a value counts as true: a number, or an array of one element. Throws Problem for others.
bool truth(const tensor::Value& value);

}  // namespace sonde::expression
