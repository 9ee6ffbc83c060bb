#include "core/tensor/shape.h"

#include <algorithm>

namespace sonde::tensor {

std::int64_t Shape::numel() const {
    std::int64_t count = 1;
    for (std::int64_t dimSize : m_dims) count *= dimSize;
    return count;
}

std::optional<std::int64_t> Shape::checkedNumel() const {
    // A zero dim size anywhere makes the product 0, but the others must still be sane on their own.
    std::int64_t count = 1;
    bool empty = false;
    for (std::int64_t dimSize : m_dims) {
        if (dimSize < 0) return std::nullopt;
        if (dimSize == 0) {
            empty = true;
            continue;
        }
        if (__builtin_mul_overflow(count, dimSize, &count)) return std::nullopt;
    }
    return empty ? 0 : count;
}

std::vector<std::int64_t> Shape::contiguousStrides() const {
    std::vector<std::int64_t> strides(m_dims.size());
    std::int64_t step = 1;
    for (std::size_t i = m_dims.size(); i-- > 0;) {
        strides[i] = step;
        // Nothing is reached by a step that is too large: one of the sizes is 0.
        (void)__builtin_mul_overflow(step, std::max<std::int64_t>(m_dims[i], 1), &step);
    }
    return strides;
}

std::string Shape::text() const {
    std::string result = "[";
    for (std::size_t i = 0; i < m_dims.size(); ++i) {
        if (i) result += ',';
        result += std::to_string(m_dims[i]);
    }
    return result + "]";
}

std::optional<Shape> broadcastShapes(const Shape& a, const Shape& b) {
    const std::size_t rank = std::max(a.rank(), b.rank());
    std::vector<std::int64_t> dims(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t x = i + a.rank() < rank ? 1 : a[i + a.rank() - rank];
        const std::int64_t y = i + b.rank() < rank ? 1 : b[i + b.rank() - rank];
        if (x != y && x != 1 && y != 1) return std::nullopt;
        dims[i] = x == 1 ? y : x;
    }
    return Shape(std::move(dims));
}

std::optional<std::size_t> normalizedAxis(std::int64_t axis, std::size_t rank) {
    const auto signedRank = static_cast<std::int64_t>(rank);
    if (axis < -signedRank || axis >= signedRank) return std::nullopt;
    return static_cast<std::size_t>(axis < 0 ? axis + signedRank : axis);
}

}  // namespace sonde::tensor
