#include "core/ops/support/views.h"

#include <algorithm>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

base::Result<std::int64_t> indexOf(const Value& value) {
    const bool isFraction =
        value.kind() == tensor::ValueKind::Float || (value.isTensor() && !tensor::isInteger(value.tensor().dtype()) &&
                                                     value.tensor().dtype() != tensor::DType::Bool);
    if (isFraction) return opError("indices must be integers, but found " + value.typeText());
    return intOf(value);
}

base::Result<SliceRange> sliceRange(std::int64_t dimSize, const Value& start, const Value& stop, const Value& step) {
    const auto bound = [&](const Value& value, std::int64_t fallback) -> base::Result<std::int64_t> {
        if (value.isNone()) return fallback;
        SONDE_ASSIGN(const std::int64_t given, indexOf(value));
        return std::clamp<std::int64_t>(given < 0 ? given + dimSize : given, 0, dimSize);
    };
    SliceRange range;
    if (!step.isNone()) {
        SONDE_ASSIGN(range.step, indexOf(step));
    }
    if (range.step < 1) return opError("a slice needs a step above 0");
    SONDE_ASSIGN(range.start, bound(start, 0));
    SONDE_ASSIGN(const std::int64_t end, bound(stop, dimSize));
    range.count = end <= range.start ? 0 : (end - range.start - 1) / range.step + 1;
    return range;
}

base::Result<Tensor> slicedView(const Tensor& x, std::size_t axis, const Value& start, const Value& stop,
                                const Value& step) {
    SONDE_ASSIGN(const SliceRange range, sliceRange(x.dim(axis), start, stop, step));
    return x.sliced(axis, range.start, range.count, range.step);
}

base::Result<Tensor> selectedView(const Tensor& x, std::size_t axis, std::int64_t index) {
    const std::int64_t dimSize = x.dim(axis);
    if (index < -dimSize || index >= dimSize) {
        return opError("index " + std::to_string(index) + " is out of range for dimension " + std::to_string(axis) +
                       " of " + x.typeText());
    }
    return x.selected(axis, index < 0 ? index + dimSize : index);
}

}  // namespace sonde::ops
