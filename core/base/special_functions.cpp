#include "core/base/special_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sonde::base {

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

double digamma(double x) {
    if (x == 0) return std::copysign(INFINITY, -x);
    if (x < 0) return std::trunc(x) == x ? NAN : digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
    double sum = 0;
    for (; x < 6; ++x) sum -= 1 / x;
    const double z = 1 / (x * x);
    return sum + std::log(x) - 0.5 / x -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))));
}

double inverseErf(double y) {
    if (!(y >= -1 && y <= 1)) return NAN;
    if (std::fabs(y) == 1) return std::copysign(INFINITY, y);
    const double l = std::log1p(-y * y), t = 2 / (std::numbers::pi * 0.147) + l / 2;
    double x = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147) - t), y);
    for (int i = 0; i < 4; ++i) x -= (std::erf(x) - y) / (1.12837916709551257390 * std::exp(-x * x));
    return x;
}

double besselI0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }

double xLogY(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0 : x * std::log(y); }

double logAddExp(double a, double b) {
    if (std::isinf(a) && a == b) return a;
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

double logAddExp2(double a, double b) { return logAddExp(a * M_LN2, b * M_LN2) / M_LN2; }

double heaviside(double x, double y) { return std::isnan(x) ? x : x == 0 ? y : x < 0 ? 0 : 1; }

}  // namespace sonde::base
