#include "core/ops/support/grid_sampling.h"

#include <algorithm>
#include <cmath>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

constexpr double kCubic = -0.75;

/// Keys' cubic kernel with a = −0.75.
double cubicWeight(double distance) {
    constexpr double a = kCubic;
    const double x = std::fabs(distance);
    if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}
/// Its derivative.
double cubicSlope(double distance) {
    constexpr double a = kCubic;
    const double x = std::fabs(distance), sign = distance < 0 ? -1 : 1;
    if (x <= 1) return sign * (3 * (a + 2) * x * x - 2 * (a + 3) * x);
    return x < 2 ? sign * (3 * a * x * x - 10 * a * x + 8 * a) : 0;
}

}  // namespace

double SampledAxis::position(double normalized) const {
    const auto n = static_cast<double>(dimSize);
    return alignCorners ? (normalized + 1) / 2 * (n - 1) : ((normalized + 1) * n - 1) / 2;
}

double SampledAxis::reflected(double x) const {
    const double low = alignCorners ? 0 : -0.5,
                 high = alignCorners ? static_cast<double>(dimSize - 1) : static_cast<double>(dimSize) - 0.5;
    const double range = high - low;
    if (range <= 0) return 0;
    double from = std::fmod(std::fabs(x - low), 2 * range);
    if (from > range) from = 2 * range - from;
    return from + low;
}

double SampledAxis::folded(double x) const {
    if (!std::isfinite(x)) return -100;
    if (border == Border::Edge) return std::clamp(x, 0.0, static_cast<double>(dimSize - 1));
    if (border == Border::Reflect) return std::clamp(reflected(x), 0.0, static_cast<double>(dimSize - 1));
    return std::clamp(x, -100.0, static_cast<double>(dimSize) + 100);
}

double SampledAxis::foldedSlope(double x) const {
    const auto isInside = [this](double at) { return at > 0 && at < static_cast<double>(dimSize - 1); };
    if (!std::isfinite(x)) return 0;
    if (border == Border::Edge) return isInside(x) ? 1 : 0;
    if (border == Border::Zeros) return 1;
    const double low = alignCorners ? 0 : -0.5, range = static_cast<double>(alignCorners ? dimSize - 1 : dimSize);
    if (range <= 0 || !isInside(reflected(x))) return 0;
    const bool goesBack = std::fmod(std::floor(std::fabs(x - low) / range), 2) != 0;
    return (x < low) != goesBack ? -1 : 1;
}

std::int64_t SampledAxis::element(std::int64_t i) const {
    if (i >= 0 && i < dimSize) return i;
    if (border == Border::Zeros) return -1;
    if (border == Border::Edge) return std::clamp<std::int64_t>(i, 0, dimSize - 1);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(reflected(static_cast<double>(i)))), 0,
                                    dimSize - 1);
}

std::vector<SampledElement> elementsAt(const SampledAxis& axis, double position, const std::string& mode) {
    std::vector<SampledElement> line;
    if (mode == "nearest") {
        const std::int64_t at = axis.element(static_cast<std::int64_t>(std::nearbyint(axis.folded(position))));
        if (at >= 0) line.push_back({at, 1});
        return line;
    }
    // Cubic weights belong to the position as it is; only single elements are folded back.
    const bool isCubic = mode == "cubic";
    const double x =
        isCubic ? std::clamp(std::isfinite(position) ? position : -100.0, -1e6, 1e6) : axis.folded(position);
    const double slope = isCubic ? (std::isfinite(position) ? 1 : 0) : axis.foldedSlope(position);
    const auto base = static_cast<std::int64_t>(std::floor(x));
    for (std::int64_t i = isCubic ? base - 1 : base; i <= (isCubic ? base + 2 : base + 1); ++i) {
        const double distance = x - static_cast<double>(i);
        const std::int64_t at = axis.element(i);
        if (at < 0) continue;
        if (isCubic) line.push_back({at, cubicWeight(distance), slope * cubicSlope(distance)});
        else line.push_back({at, 1 - std::fabs(distance), i == base ? -slope : slope});
    }
    return line;
}

std::vector<SampledElement> tapsAt(std::span<const SampledAxis> axes, std::span<const double> positions,
                                   const std::string& mode) {
    std::vector<SampledElement> taps{{0, 1}};
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const std::vector<SampledElement> line = elementsAt(axes[d], positions[d], mode);
        std::vector<SampledElement> next;
        for (const SampledElement& outer : taps) {
            for (const SampledElement& inner : line)
                if (inner.weight != 0)
                    next.push_back({outer.offset * axes[d].dimSize + inner.offset, outer.weight * inner.weight});
        }
        taps = std::move(next);
    }
    return taps;
}

base::Result<Attributes> GridSampling::attributesOf(std::int64_t mode, std::int64_t border, bool alignCorners) {
    static constexpr const char *kModes[] = {"linear", "nearest", "cubic"},
                                *kBorders[] = {"zeros", "border", "reflection"};
    if (mode < 0 || mode > 2 || border < 0 || border > 2)
        return opError("there is no interpolation " + std::to_string(mode) + " with border " + std::to_string(border));
    return Attributes{{"mode", std::string(kModes[mode])},
                      {"padding_mode", std::string(kBorders[border])},
                      {"align_corners", std::int64_t{alignCorners}}};
}

base::Result<GridSampling> GridSampling::of(const Tensor& x, const Tensor& grid, const Attributes& attributes) {
    GridSampling sampling;
    const std::string padding = attributes.getString("padding_mode", "zeros");
    sampling.mode = attributes.getString("mode", "linear");
    if (sampling.mode == "bilinear") sampling.mode = "linear";
    if (sampling.mode == "bicubic") sampling.mode = "cubic";
    if (sampling.mode != "linear" && sampling.mode != "nearest" && sampling.mode != "cubic")
        return opError("mode '" + sampling.mode + "' is not supported");
    if (padding != "zeros" && padding != "border" && padding != "reflection")
        return opError("padding_mode '" + padding + "' is not supported");
    if (x.rank() < 3 || grid.rank() != x.rank() || grid.dim(0) != x.dim(0) ||
        grid.dim(grid.rank() - 1) != static_cast<std::int64_t>(x.rank() - 2)) {
        return opError("a grid " + grid.typeText() + " does not match " + x.typeText());
    }
    const Border border = padding == "zeros" ? Border::Zeros : padding == "border" ? Border::Edge : Border::Reflect;
    sampling.result = Shape{x.dim(0), x.dim(1)};
    for (std::size_t d = 2; d < x.rank(); ++d) {
        if (x.dim(d) == 0) return opError("the image is empty");
        sampling.axes.push_back({x.dim(d), border, attributes.getInt("align_corners", 0) != 0});
        sampling.pixels *= x.dim(d);
        sampling.points *= grid.dim(d - 1);
        sampling.result.push_back(grid.dim(d - 1));
    }
    return sampling;
}

}  // namespace sonde::ops
