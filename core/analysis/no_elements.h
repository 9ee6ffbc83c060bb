#pragma once

#include "core/analysis/compared_values.h"

namespace sonde::analysis {

/// ComparedValue::note of a value that is ok, but has no elements, as of a batch of 0: nothing was compared.
inline constexpr const char* kNoElements = "no elements";

inline bool hasNoElements(const ComparedValue& value) { return value.ok && value.note == kNoElements; }

}  // namespace sonde::analysis
