#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels {

/// What is to be said of a set of elements. What two sets have together is known from what each has.
struct ElementMoments {
    std::int64_t finite = 0, nans = 0, infs = 0, zeros = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low, mean = 0;  ///< of the finite ones
    double squares = 0;                                                           ///< Σ (x − mean)² of those

    std::int64_t count() const { return finite + nans + infs; }
    void add(const ElementMoments& other);
};

/// Of elements that visitAll(visit) shows one after another, and again: one pass for each moment.
template <typename VisitAll>
ElementMoments momentsOf(const VisitAll& visitAll) {
    ElementMoments part;
    visitAll([&](double x) {
        if (!std::isfinite(x)) {
            std::isnan(x) ? ++part.nans : ++part.infs;
            return;
        }
        ++part.finite;
        part.zeros += x == 0 ? 1 : 0;
        part.low = x < part.low ? x : part.low;
        part.high = x > part.high ? x : part.high;
        part.mean += x;
    });
    if (part.finite > 0) part.mean /= static_cast<double>(part.finite);
    visitAll([&](double x) {
        if (std::isfinite(x)) part.squares += (x - part.mean) * (x - part.mean);
    });
    return part;
}

/// Of at least one element, in double precision.
ElementMoments momentsOf(const float* x, std::int64_t count);

/// The same of elements that come a stretch at a time, in an order of additions that depends on the stretches.
class RunningMoments {
  public:
    void add(const float* x, std::int64_t count);
    ElementMoments result() const;

  private:
    MomentSums m_sums;  ///< about 0
    std::int64_t m_count = 0;
    ElementMoments m_others;  ///< of stretches where sums about 0 lose too much
};

}  // namespace sonde::ops::kernels
