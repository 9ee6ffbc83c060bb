#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// An integer, or a tensor of one, as an index. Error: a float, also a whole one, as PyTorch has it.
base::Result<std::int64_t> indexOf(const Value& value);

/// What start:stop:step means for a dimension: Python's rules, negative numbers count from the end.
struct SliceRange {
    std::int64_t start = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;
};

/// Bounds are ints or None. Error: a step below 1, or a bound that is no int.
base::Result<SliceRange> sliceRange(std::int64_t dimSize, const Value& start, const Value& stop, const Value& step);
base::Result<Tensor> slicedView(const Tensor& x, std::size_t axis, const Value& start, const Value& stop,
                                const Value& step);
/// x[.., index, ..]; error if the index is out of range.
base::Result<Tensor> selectedView(const Tensor& x, std::size_t axis, std::int64_t index);

}  // namespace sonde::ops
