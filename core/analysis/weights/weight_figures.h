#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/analysis/weights/filters.h"
#include "core/analysis/weights/weight_reader.h"

namespace sonde::analysis {

/// Bins of a parameter's own histogram.
inline constexpr std::size_t kWeightBins = 32;
/// How far beyond the quartiles, in interquartile ranges, an element is an outlier.
inline constexpr double kOutlierFence = 3;

/// What is said of one parameter's elements. Quantised ones that have a scale are told as real numbers.
struct WeightFigures {
    std::int64_t count = 0, nan = 0, inf = 0, zero = 0;
    double minimum = 0, maximum = 0;  ///< of the finite elements; 0 without any
    double mean = 0, deviation = 0;   ///< of the finite elements; population standard deviation
    /// Of the finite elements other than 0 (a pruned weight would have no spread else), by linear interpolation between
    /// the elements beside a rank, as numpy's percentile has it; of more than 65,536 elements as float32. Only with
    /// hasQuartiles.
    std::array<double, 3> quartiles{};
    bool hasQuartiles = false;
    /// Elements below Q1 − 3·IQR or above Q3 + 3·IQR, IQR = Q3 − Q1: "far out" (Tukey, Exploratory Data Analysis, 1977,
    /// section 2C: outer fences). Of normally distributed weights it is one in 430,000.
    std::int64_t outliers = 0;
    double lowFence = 0, highFence = 0;
    /// Equal bins over [minimum, maximum] of the finite elements; all in the middle one if those are equal.
    std::array<std::int64_t, kWeightBins> histogram{};
    FilterFigures filters;  ///< empty without a layout
    std::int64_t finite() const { return count - nan - inf; }
    std::int64_t bad() const { return nan + inf; }
};

/// Reads the elements two or three times, in pieces. Stops early when asked to: what it returns is then not all of it.
WeightFigures weightFigures(const WeightReader& reader, const std::optional<FilterLayout>& layout,
                            const std::stop_token& stop = {});

/// Equal bins over [low, high]; finite elements outside are in `below` and `above`.
struct BinnedWeights {
    std::vector<std::int64_t> counts;
    std::int64_t below = 0, above = 0;
};
void addToBins(BinnedWeights& bins, const WeightReader& reader, double low, double high,
               const std::stop_token& stop = {});

}  // namespace sonde::analysis
