#pragma once

#include "core/tensor/type_info.h"

namespace sonde::ops {

/// What can be said of a value that is of one type or the other: dimensions that differ are unknown. A sequence whose
/// elements are not known is one without elements, which fits any other; so does an empty list.
tensor::TypeInfo commonType(const tensor::TypeInfo& a, const tensor::TypeInfo& b);

}  // namespace sonde::ops
