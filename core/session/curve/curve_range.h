#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::session {

/// What a curve is measured against, and where: "batch=1:8:1".
struct CurveRange {
    static constexpr std::size_t kMaxPoints = 1000;

    std::string key;
    std::vector<double> at;  ///< in the order given, at least one

    /// KEY=A:B:STEP, from A to B, both included where the steps hit it; without STEP by 1, "x2" doubles. B may be below
    /// A with a negative STEP, or a factor below 1. Usage errors: another form, a step that never gets to B, more than
    /// kMaxPoints.
    static base::Result<CurveRange> parse(std::string_view text);
};

}  // namespace sonde::session
