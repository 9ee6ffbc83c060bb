#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/tensor/value.h"

namespace sonde::ops::kernels {
struct ElementMoments;
}

namespace sonde::analysis {

/// What there is to say about a tensor's elements in one line. NaN and infinite elements are counted and left out of
/// minimum, maximum, mean and deviation; complex elements count by their magnitude; strings have only a count.
struct TensorStats {
    std::int64_t count = 0;
    std::int64_t nanCount = 0;
    std::int64_t infCount = 0;
    std::int64_t zeroCount = 0;
    double minimum = 0;  ///< of the finite elements; 0 if there are none (see finiteCount)
    double maximum = 0;
    double mean = 0;
    double deviation = 0;  ///< population standard deviation
    std::int64_t finiteCount() const { return count - nanCount - infCount; }
};

/// In double precision; bit for bit the same with any number of threads. Any dtype, any strides. Stops early (with what
/// it has) when asked to.
TensorStats tensorStats(const tensor::Tensor& tensor, const std::stop_token& stop = {},
                        base::ThreadPool* pool = nullptr);
/// The same, of what a kernel has measured of its result.
TensorStats tensorStats(const ops::kernels::ElementMoments& moments);

/// The statistics of two sets of elements together.
TensorStats together(const TensorStats& a, const TensorStats& b);

/// Equal-width bins over [low, high] of the finite elements; elements outside fall into the end bins.
std::vector<std::int64_t> histogram(const tensor::Tensor& tensor, double low, double high, std::size_t bins,
                                    const std::stop_token& stop = {});

}  // namespace sonde::analysis
