#include "core/analysis/tensor_views/distributions.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sonde::analysis {

namespace {

constexpr std::int64_t kSampledRows = 8, kMoreRows = 512;  ///< more, if the first ones say nothing
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 18;
constexpr double kSumTolerance = 0.01;  ///< bfloat16 has 8 bits of precision

/// None: the row has NaN, or is masked out altogether, as NaN or zeros.
std::optional<bool> isDistribution(const tensor::Tensor& tensor, std::int64_t first, std::int64_t width) {
    double sum = 0;
    for (std::int64_t i = first; i < first + width; ++i) {
        const double value = tensor.toDouble(i);
        if (std::isnan(value)) return std::nullopt;
        if (value < 0 || value > 1 + kSumTolerance) return false;
        sum += value;
    }
    if (sum == 0) return std::nullopt;
    return std::abs(sum - 1) <= kSumTolerance;
}

/// Of rows that are spread evenly; none: all of them count for nothing.
std::optional<bool> areDistributions(const tensor::Tensor& tensor, std::int64_t rows, std::int64_t width,
                                     std::int64_t sampled) {
    const std::int64_t count = std::min(rows, sampled);
    std::optional<bool> found;
    for (std::int64_t i = 0; i < count && found != false; ++i) {
        const std::int64_t row = count == 1 ? 0 : i * (rows - 1) / (count - 1);
        if (const auto is = isDistribution(tensor, row * width, width)) found = *is;
    }
    return found;
}

}  // namespace

bool hasDistributionRows(const tensor::Tensor& tensor) {
    if (!tensor.defined() || !tensor::isFloating(tensor.dtype()) || tensor.rank() == 0 || tensor.numel() == 0)
        return false;
    const std::int64_t width = tensor.dim(tensor.rank() - 1), rows = tensor.numel() / width;
    if (width < 2 || width > kMaxWidth) return false;
    const auto are = areDistributions(tensor, rows, width, kSampledRows);
    return are ? *are : areDistributions(tensor, rows, width, kMoreRows).value_or(false);
}

}  // namespace sonde::analysis
