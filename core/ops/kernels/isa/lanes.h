#pragma once

// What the lanes of vectors come to. Included as vectors.h is.

#include <cstddef>

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// One number of n lanes: the first half with the second, and so on.
template <std::size_t n, typename T, typename Join>
inline __attribute__((always_inline)) T joinedHalves(T* lanes, Join join) {
    if constexpr (n == 1) {
        return lanes[0];
    } else {
        T half[n / 2];
        for (std::size_t l = 0; l < n / 2; ++l) half[l] = join(lanes[l], lanes[l + n / 2]);
        return joinedHalves<n / 2>(half, join);
    }
}

/// Of lane(0) to lane(n - 1).
template <std::size_t n, typename T, typename Lane, typename Join>
inline __attribute__((always_inline)) T joined(Lane lane, Join join) {
    T lanes[n];
    for (std::size_t l = 0; l < n; ++l) lanes[l] = lane(l);
    return joinedHalves<n>(lanes, join);
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
