#pragma once

#include <cstdint>
#include <optional>

#include "core/base/thread_pool.h"
#include "core/tensor/tensor.h"

namespace sonde::ops::kernels {

/// Elements that are NaN, and that are infinite. A complex element counts once, as NaN if either part is.
struct BadCount {
    std::int64_t nan = 0;
    std::int64_t inf = 0;

    bool any() const { return nan > 0 || inf > 0; }
    BadCount& operator+=(const BadCount& other) {
        nan += other.nan, inf += other.inf;
        return *this;
    }
};

/// Of `count` elements in a row. Reads them once if all are finite.
BadCount countBad(const float* data, std::int64_t count);
/// Where in memory, relative to element 0, a tensor's elements begin that has each element of a stretch of memory once:
/// one that is contiguous but for the order of its axes. Nothing if there are gaps or repetitions.
std::optional<std::int64_t> denseStart(const tensor::Tensor& tensor);
/// Of a tensor of any dtype and strides; none in integers, bools and strings.
BadCount countBad(const tensor::Tensor& tensor, base::ThreadPool& pool);

}  // namespace sonde::ops::kernels
