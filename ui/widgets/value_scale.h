#pragma once

#include <algorithm>
#include <cmath>

namespace sonde::widgets {

/// How numbers become places on a ramp: `low` is 0, `high` is 1.
///
/// Linear: t = (v - low) / (high - low). Logarithmic: the same after s(v) = asinh(1000 v / m), m = max(|low|, |high|),
/// which is a logarithm far from zero, a straight line near it, and takes negative numbers as well (Lupton, Gunn and
/// Szalay, "A Modified Magnitude System", 1999).
struct ValueScale {
    double low = 0.0;
    double high = 1.0;
    bool logarithmic = false;

    bool operator==(const ValueScale&) const = default;

    /// Place of a finite value; may be outside 0…1. A range without width puts everything in the middle.
    double toUnit(double value) const {
        const double a = bend(low), b = bend(high);
        return b > a ? (bend(value) - a) / (b - a) : 0.5;
    }
    /// The value at a place: inverse of toUnit.
    double fromUnit(double t) const {
        const double a = bend(low), b = bend(high);
        const double bent = a + t * (b - a);
        return logarithmic ? std::sinh(bent) * unit() : bent;
    }

  private:
    double unit() const { return std::max({std::abs(low), std::abs(high), 1e-300}) / 1000.0; }
    double bend(double value) const { return logarithmic ? std::asinh(value / unit()) : value; }
};

}  // namespace sonde::widgets
