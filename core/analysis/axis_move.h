#pragma once

#include <cstddef>
#include <optional>

#include "core/analysis/pixel_map.h"
#include "core/tensor/type_info.h"

namespace sonde::analysis {

/// Where an axis of an operand comes out in a result, and which of its indices an element there reads. Without an axis
/// an element may read all of it.
struct AxisMove {
    std::optional<std::size_t> axis;
    AxisReading reading;
};

/// One tensor (or list of tensors) among the arguments of a call, and one result.
struct Operand {
    std::size_t argument = 0;  ///< position in the call
    const tensor::TypeInfo& type;
    const tensor::TypeInfo& result;
    std::size_t output = 0;  ///< position of the result
};

}  // namespace sonde::analysis
