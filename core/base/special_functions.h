#pragma once

/// Functions of one number or two that <cmath> lacks, in double precision.
namespace sonde::base {

/// 1 / (1 + e^−x), without an overflow on the way.
double sigmoid(double x);
/// d/dx ln Γ(x): recurrence up to 6, then the asymptotic series (Abramowitz, Stegun 6.3.5, 6.3.18); reflection below 0.
double digamma(double x);
/// x with erf(x) = y: Winitzki's approximation, then Newton's steps. NaN outside of [-1, 1].
double inverseErf(double y);
/// The modified Bessel function of the first kind of order 0.
double besselI0(double x);
/// x·ln y, and 0 where x is 0 and y is a number.
double xLogY(double x, double y);
/// ln(e^a + e^b), and log2(2^a + 2^b).
double logAddExp(double a, double b);
double logAddExp2(double a, double b);
/// 0 below 0, 1 above, y at 0.
double heaviside(double x, double y);

}  // namespace sonde::base
