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

/// About 0, but where the mean is so far from it that Σx² − (Σx)²/n loses digits.
void RunningMoments::add(const float* x, std::int64_t count) {
    constexpr double kMaxLoss = 100;
    MomentSums sums;
    floatKernels().moments(x, static_cast<std::size_t>(count), 0, sums);
    const double squares = sums.squares - sums.sum * sums.sum / static_cast<double>(count);
    if (!std::isfinite(sums.squares) || squares * kMaxLoss < sums.squares) return m_others.add(momentsOf(x, count));
    m_count += count;
    m_sums.sum += sums.sum, m_sums.squares += sums.squares, m_sums.zeros += sums.zeros;
    m_sums.low = std::min(m_sums.low, sums.low), m_sums.high = std::max(m_sums.high, sums.high);
}

ElementMoments RunningMoments::result() const {
    ElementMoments all = m_others;
    if (m_count > 0) all.add(momentsAbout(0, m_sums, m_count));
    return all;
}

}  // namespace sonde::ops::kernels
