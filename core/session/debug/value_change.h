#pragma once

#include <cstdint>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/tensor/value.h"

namespace sonde::session::debug {

/// How far a value is from the one without the edits.
struct ValueChange {
    double maxAbsolute = 0;     ///< infinite if one is NaN or infinite where the other is not
    double maxRelative = 0;     ///< see analysis::Difference
    std::int64_t changed = 0;   ///< elements that are others; NaN is equal to NaN
    std::int64_t elements = 0;  ///< of all
};

/// Of two tensors of one shape. Errors (Usage): they are none, or strings; Cancelled.
base::Result<ValueChange> valueChange(const tensor::Value& now, const tensor::Value& before,
                                      const base::WorkContext& work = {});

/// The first less the second, element by element. Errors (Usage): there is no difference of these types; Cancelled.
base::Result<tensor::Value> valueDifference(const tensor::Value& now, const tensor::Value& before,
                                            const base::WorkContext& work = {});

}  // namespace sonde::session::debug
