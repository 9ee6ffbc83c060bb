#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/tensor/dtype.h"

namespace sonde::ops::kernels {

/// NaN of any floating-point type, float16 and bfloat16 too; never of integers.
template <typename T>
bool isNaN(const T& value) {
    if constexpr (std::is_integral_v<T>) return false;
    else return std::isnan(static_cast<double>(value));
}

/// float16 and bfloat16: computed with as float32.
inline bool isNarrow(tensor::DType dtype) {
    return dtype == tensor::DType::Float16 || dtype == tensor::DType::BFloat16;
}

inline std::int64_t divideUp(std::int64_t value, std::int64_t step) { return (value + step - 1) / step; }

}  // namespace sonde::ops::kernels
