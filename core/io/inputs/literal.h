#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/io/inputs/input_info.h"

namespace sonde::io {

/// Numbers written as text, in an item of --input-data, a list or a field of the window:
///   16000, -0.5, 1e-3, inf, nan, true, 'text'   one element: a scalar, or the only element of a declared shape of ones
///   [1,2,3], [[1,2],[3,4]], []                    lists; every list of one level has the same length
///   {2,3}                                         only a shape: every byte of it is 1
///   None                                          no value, for an input that may have none
/// Elements become the input's dtype. Where the model does not tell it: float32 if any number has a point or an
/// exponent, else bool if all are true or false, else int32, or int64 if one is too large (input-data.md, "Numbers as
/// text"). Errors (Usage): the column of what cannot be read; lists of different lengths; an element that the dtype
/// cannot hold; true or false for numbers; None for what must have a value.
base::Result<tensor::Value> literalValue(std::string_view text, const InputInfo& input);

/// Whether an item is such a text and not the name of a file: it begins with a bracket or a quote, or is one number or
/// word. A file of such a name is written as ./NAME.
bool isLiteral(std::string_view text);

}  // namespace sonde::io
