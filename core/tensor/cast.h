#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/tensor/dtype.h"

namespace sonde::tensor {

/// Converts `count` elements with the rules of Tensor::cast. Neither dtype may be String or Undefined.
/// `saturate` as in floatToNarrow().
void castElements(DType from, const void* source, DType to, void* target, std::size_t count, bool saturate = true);

/// The shortest text that reads back as the same number; "NaN", "INF", "-INF" (ONNX Cast).
std::string numberText(DType dtype, const void* element);
/// Reads a number written as by numberText (also "inf", "+INF", "nan" …) into one element; false if it is none.
bool parseNumber(std::string_view text, DType dtype, void* element);

}  // namespace sonde::tensor
