#pragma once

#include <optional>
#include <string>

#include "core/tensor/value.h"

namespace sonde::analysis {

/// How near a value must be to what an ONNX backend test case expects (onnx/backend/test/runner).
struct ConformanceTolerance {
    double relative = 1e-3;
    double absolute = 1e-7;
    bool typesOnly = false;  ///< random outputs: shape and dtype alone
};

/// Nothing if `actual` is what is expected: same kind, length, shape and dtype; |a - e| <= absolute + relative·|e|
/// (integers, bool and text: equal; NaN equals NaN). Else the first difference, told to a person.
std::optional<std::string> conformanceDifference(const tensor::Value& actual, const tensor::Value& expected,
                                                 const ConformanceTolerance& tolerance = {});

}  // namespace sonde::analysis
