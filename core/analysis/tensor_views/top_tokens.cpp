#include "core/analysis/tensor_views/top_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/analysis/tensor_views/distributions.h"
#include "core/tensor/plane.h"

namespace sonde::analysis {

namespace {

TopTokens::Position tokensAt(std::span<const double> values, std::size_t top, bool areProbabilities) {
    TopTokens::Position position;
    double largest = -std::numeric_limits<double>::infinity();
    for (const double value : values) {
        if (std::isfinite(value)) largest = std::max(largest, value);
        else ++position.bad;
    }
    double sum = 0;
    if (!areProbabilities)
        for (const double value : values)
            if (std::isfinite(value)) sum += std::exp(value - largest);
    const auto shareOf = [&](double value) {
        if (!std::isfinite(value)) return 0.0;
        return areProbabilities ? value : std::exp(value - largest) / sum;
    };
    // Few are wanted: those found so far are kept in order.
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        if (position.top.size() == top && (top == 0 || !(values[i] > position.top.back().value))) continue;
        const auto place =
            std::ranges::find_if(position.top, [&](const TopTokens::Entry& each) { return values[i] > each.value; });
        position.top.insert(place, {static_cast<std::int64_t>(i), values[i], shareOf(values[i])});
        if (position.top.size() > top) position.top.pop_back();
    }
    return position;
}

}  // namespace

bool mayScoreTokens(const tensor::Tensor& tensor) {
    constexpr std::int64_t kMinTokens = 8;
    return tensor.defined() && tensor::isFloating(tensor.dtype()) && tensor.rank() >= 1 && tensor.rank() <= 3 &&
           tensor.numel() > 0 && tensor.dim(tensor.rank() - 1) >= kMinTokens;
}

base::Result<TopTokens> topTokens(const tensor::Tensor& plane, std::size_t top, const std::stop_token& stop) {
    if (!plane.defined() || plane.rank() != 2 || plane.dtype() == tensor::DType::String)
        return base::usageError("top tokens are those of numbers of shape [positions,vocabulary]");
    TopTokens tokens;
    tokens.positionCount = plane.dim(0);
    tokens.vocabulary = plane.dim(1);
    tokens.areProbabilities = hasDistributionRows(plane);
    const auto read = tensor::planeReader(plane);
    std::vector<double> values(static_cast<std::size_t>(tokens.vocabulary));
    for (std::int64_t row = 0; row < std::min(tokens.positionCount, TopTokens::kMaxPositions); ++row) {
        if (stop.stop_requested()) return base::cancelled();
        for (std::int64_t i = 0; i < tokens.vocabulary; ++i) values[static_cast<std::size_t>(i)] = read(row, i);
        tokens.positions.push_back(tokensAt(values, top, tokens.areProbabilities));
    }
    return tokens;
}

}  // namespace sonde::analysis
