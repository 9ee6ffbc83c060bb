#pragma once

#include "core/ops/support/row.h"

namespace sonde::ops {

/// What most operators of ai.onnx.ml take as features.
inline constexpr DTypeSet kFeatures = bit(DType::Float32) | bit(DType::Float64) | bit(DType::Int32) | bit(DType::Int64);

inline Row mlRow(std::string_view name, std::string_view summary, int since = 1) {
    Row row(name, since, summary, Category::Data);
    row.domain("ai.onnx.ml");
    return row;
}

}  // namespace sonde::ops
