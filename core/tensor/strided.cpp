#include "core/tensor/strided.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

namespace sonde::tensor {

namespace {

struct Axis {
    std::int64_t dimSize;
    std::int64_t stride;
};

/// Drops axes of dim size 1 and merges neighbours that lie after each other in memory.
std::vector<Axis> merged(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides) {
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == 1) continue;
        if (!axes.empty() && axes.back().stride == strides[i] * dims[i]) {
            axes.back() = {axes.back().dimSize * dims[i], strides[i]};
        } else {
            axes.push_back({dims[i], strides[i]});
        }
    }
    return axes;
}

/// The last two axes, in blocks, so that both sides stay in the cache when the source runs across.
template <typename T>
void copyPlane(const T* source, Axis outer, Axis inner, T* target) {
    constexpr std::int64_t kBlock = 16;
    if (inner.stride == 1 || outer.stride != 1) {
        for (std::int64_t i = 0; i < outer.dimSize; ++i) {
            const T* row = source + i * outer.stride;
            T* out = target + i * inner.dimSize;
            if (inner.stride == 1) {
                std::memcpy(static_cast<void*>(out), row, static_cast<std::size_t>(inner.dimSize) * sizeof(T));
            } else {
                for (std::int64_t j = 0; j < inner.dimSize; ++j) out[j] = row[j * inner.stride];
            }
        }
        return;
    }
    for (std::int64_t i0 = 0; i0 < outer.dimSize; i0 += kBlock) {
        const std::int64_t i1 = std::min(i0 + kBlock, outer.dimSize);
        for (std::int64_t j0 = 0; j0 < inner.dimSize; j0 += kBlock) {
            const std::int64_t j1 = std::min(j0 + kBlock, inner.dimSize);
            for (std::int64_t i = i0; i < i1; ++i) {
                for (std::int64_t j = j0; j < j1; ++j) target[i * inner.dimSize + j] = source[i + j * inner.stride];
            }
        }
    }
}

template <typename T>
void copyAxes(const T* source, std::span<const Axis> axes, T* target) {
    if (axes.empty()) {
        *target = *source;
        return;
    }
    if (axes.size() <= 2) {
        copyPlane(source, axes.size() == 2 ? axes[0] : Axis{1, 0}, axes.back(), target);
        return;
    }
    const std::size_t outerCount = axes.size() - 2;
    const std::int64_t plane = axes[outerCount].dimSize * axes[outerCount + 1].dimSize;
    std::vector<std::int64_t> index(outerCount, 0);
    for (;;) {
        copyPlane(source, axes[outerCount], axes[outerCount + 1], target);
        target += plane;
        std::size_t axis = outerCount;
        for (;;) {
            if (axis == 0) return;
            --axis;
            source += axes[axis].stride;
            if (++index[axis] < axes[axis].dimSize) break;
            source -= axes[axis].stride * axes[axis].dimSize;
            index[axis] = 0;
        }
    }
}

template <typename T>
void copyTyped(const void* source, std::span<const Axis> axes, void* target) {
    copyAxes(static_cast<const T*>(source), axes, static_cast<T*>(target));
}

}  // namespace

void copyStrided(const void* source, std::span<const std::int64_t> dims, std::span<const std::int64_t> strides,
                 std::size_t itemSize, void* target) {
    for (std::int64_t dimSize : dims) {
        if (dimSize == 0) return;
    }
    const std::vector<Axis> axes = merged(dims, strides);
    switch (itemSize) {
        case 1: copyTyped<std::uint8_t>(source, axes, target); break;
        case 2: copyTyped<std::uint16_t>(source, axes, target); break;
        case 4: copyTyped<std::uint32_t>(source, axes, target); break;
        case 8: copyTyped<std::uint64_t>(source, axes, target); break;
        case 16: copyTyped<std::complex<double>>(source, axes, target); break;
        default: break;
    }
}

}  // namespace sonde::tensor
