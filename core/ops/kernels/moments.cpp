#include "core/ops/kernels/moments.h"

#include <algorithm>

#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels {

/// Chan, Golub, LeVeque (1979): the squared deviations of both, and that of their means.
void ElementMoments::add(const ElementMoments& other) {
    nans += other.nans, infs += other.infs, zeros += other.zeros;
    low = std::min(low, other.low), high = std::max(high, other.high);
    if (other.finite == 0) return;
    const auto n = static_cast<double>(finite), m = static_cast<double>(other.finite);
    const double apart = other.mean - mean;
    mean += apart * m / (n + m);
    squares += other.squares + apart * apart * n * m / (n + m);
    finite += other.finite;
}

namespace {

/// Of finite elements, from their sums about a number.
ElementMoments momentsAbout(double shift, const MomentSums& sums, std::int64_t count) {
    ElementMoments part;
    const auto n = static_cast<double>(count);
    part.finite = count;
    part.zeros = static_cast<std::int64_t>(sums.zeros);
    part.low = sums.low, part.high = sums.high;
    part.mean = shift + sums.sum / n;
    part.squares = std::max(0.0, sums.squares - sums.sum * sums.sum / n);
    return part;
}

}  // namespace

/// Where all elements are finite one pass does, about one of them: the sums of squares then lose no more than `count`
/// roundings of what they come to.
ElementMoments momentsOf(const float* x, std::int64_t count) {
    const double shift = std::isfinite(*x) ? *x : 0;
    MomentSums sums;
    floatKernels().moments(x, static_cast<std::size_t>(count), shift, sums);
    if (!std::isfinite(sums.sum)) return momentsOf([&](const auto& visit) { std::for_each(x, x + count, visit); });
    return momentsAbout(shift, sums, count);
}

/// About 0: not where the mean is so far from it that Σx² − (Σx)²/n loses what single precision has, nor where squares
/// leave its range.
ElementMoments quickMoments(const float* x, std::int64_t count) {
    constexpr double kMostLost = 16;
    constexpr float kSmallest = 1e-15F;
    const MomentSums sums = floatKernels().shortMoments(x, static_cast<std::size_t>(count));
    const float largest = std::max(-sums.low, sums.high);
    const double squares = sums.squares - sums.sum * sums.sum / static_cast<double>(count);
    const bool isGood =
        std::isfinite(sums.squares) && squares * kMostLost >= sums.squares && (largest == 0 || largest > kSmallest);
    return isGood ? momentsAbout(0, sums, count) : momentsOf(x, count);
}

}  // namespace sonde::ops::kernels
