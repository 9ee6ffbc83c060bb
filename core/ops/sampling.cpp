// Sampling images at computed places: GridSample, AffineGrid, RoiAlign, DeformConv, unpooling, boxes.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/support/invoke.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"
#include "core/ops/support/window.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

enum class Border { Zeros, Edge, Reflect };

/// One axis of an image and how places outside of it are read.
struct Axis {
    std::int64_t extent;
    Border border;
    bool alignCorners;

    /// From [-1, 1] to a position in elements.
    double position(double normalized) const {
        const auto n = static_cast<double>(extent);
        return alignCorners ? (normalized + 1) / 2 * (n - 1) : ((normalized + 1) * n - 1) / 2;
    }
    double reflected(double x) const {
        const double low = alignCorners ? 0 : -0.5, high = alignCorners ? static_cast<double>(extent - 1) : static_cast<double>(extent) - 0.5;
        const double range = high - low;
        if (range <= 0) return 0;
        double from = std::fmod(std::fabs(x - low), 2 * range);
        if (from > range) from = 2 * range - from;
        return from + low;
    }
    /// The position that is read for it, so that its neighbours exist as far as the border allows.
    double folded(double x) const {
        if (!std::isfinite(x)) return -100;
        if (border == Border::Edge) return std::clamp(x, 0.0, static_cast<double>(extent - 1));
        if (border == Border::Reflect) return std::clamp(reflected(x), 0.0, static_cast<double>(extent - 1));
        return std::clamp(x, -100.0, static_cast<double>(extent) + 100);
    }
    /// The element that a whole position stands for; -1: zero.
    std::int64_t element(std::int64_t i) const {
        if (i >= 0 && i < extent) return i;
        if (border == Border::Zeros) return -1;
        if (border == Border::Edge) return std::clamp<std::int64_t>(i, 0, extent - 1);
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(reflected(static_cast<double>(i)))), 0, extent - 1);
    }
};

struct Tap {
    std::int64_t offset;
    double weight;
};

/// Keys' cubic kernel with a = −0.75.
double cubicWeight(double distance) {
    constexpr double a = -0.75;
    const double x = std::fabs(distance);
    if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/// All elements that make up the value at a position of several axes, with their weights.
std::vector<Tap> tapsAt(std::span<const Axis> axes, std::span<const double> positions, const std::string& mode) {
    std::vector<Tap> taps{{0, 1}};
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const Axis& axis = axes[d];
        std::vector<Tap> line;
        if (mode == "nearest") {
            const std::int64_t at = axis.element(static_cast<std::int64_t>(std::nearbyint(axis.folded(positions[d]))));
            if (at >= 0) line.push_back({at, 1});
        } else {
            // Cubic weights belong to the position as it is; only single elements are folded back.
            const double x = mode == "cubic" ? std::clamp(std::isfinite(positions[d]) ? positions[d] : -100.0, -1e6, 1e6) : axis.folded(positions[d]);
            const auto base = static_cast<std::int64_t>(std::floor(x));
            for (std::int64_t i = mode == "cubic" ? base - 1 : base; i <= (mode == "cubic" ? base + 2 : base + 1); ++i) {
                const double distance = x - static_cast<double>(i);
                const double weight = mode == "cubic" ? cubicWeight(distance) : 1 - std::fabs(distance);
                const std::int64_t at = axis.element(i);
                if (at >= 0 && weight != 0) line.push_back({at, weight});
            }
        }
        std::vector<Tap> next;
        for (const Tap& outer : taps) {
            for (const Tap& inner : line) next.push_back({outer.offset * axis.extent + inner.offset, outer.weight * inner.weight});
        }
        taps = std::move(next);
    }
    return taps;
}

base::Result<void> gridSampleWith(KernelContext& context, std::string mode, const std::string& padding, bool alignCorners) {
    const Tensor &x = context.in(0), &grid = context.in(1);
    if (mode == "bilinear") mode = "linear";
    if (mode == "bicubic") mode = "cubic";
    if (mode != "linear" && mode != "nearest" && mode != "cubic") return opError("mode '" + mode + "' is not known");
    if (padding != "zeros" && padding != "border" && padding != "reflection") return opError("padding_mode '" + padding + "' is not known");
    if (x.rank() < 3 || grid.rank() != x.rank() || grid.dim(0) != x.dim(0) || grid.dim(grid.rank() - 1) != static_cast<std::int64_t>(x.rank() - 2)) {
        return opError("a grid " + grid.typeText() + " does not fit " + x.typeText());
    }
    const std::size_t rank = x.rank() - 2;
    std::vector<Axis> axes;
    std::int64_t inputSize = 1, points = 1;
    std::vector<std::int64_t> dims{x.dim(0), x.dim(1)};
    for (std::size_t d = 0; d < rank; ++d) {
        axes.push_back({x.dim(d + 2), padding == "zeros" ? Border::Zeros : padding == "border" ? Border::Edge : Border::Reflect, alignCorners});
        if (x.dim(d + 2) == 0) return opError("the image is empty");
        inputSize *= x.dim(d + 2);
        points *= grid.dim(d + 1);
        dims.push_back(grid.dim(d + 1));
    }
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor places, wide(grid));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape(std::move(dims))));
    context.pool().parallelFor(static_cast<std::size_t>(x.dim(0) * points), 64, [&](std::size_t begin, std::size_t end) {
        std::vector<double> positions(rank);
        for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
            const double* place = places.data<double>() + p * static_cast<std::int64_t>(rank);
            // The grid names the innermost axis first.
            for (std::size_t d = 0; d < rank; ++d) positions[d] = axes[d].position(place[rank - 1 - d]);
            const std::vector<Tap> taps = tapsAt(axes, positions, mode);
            const std::int64_t n = p / points;
            for (std::int64_t c = 0; c < x.dim(1); ++c) {
                const double* plane = image.data<double>() + (n * x.dim(1) + c) * inputSize;
                double sum = 0;
                for (const Tap& tap : taps) sum += tap.weight * plane[tap.offset];
                y.mutableData<double>()[(n * x.dim(1) + c) * points + p % points] = sum;
            }
        }
    });
    return setNarrow(context, 0, y, x.dtype());
}

base::Result<void> gridSample(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    return gridSampleWith(context, attributes.getString("mode", "linear"), attributes.getString("padding_mode", "zeros"), attributes.getInt("align_corners", 0) != 0);
}

base::Result<void> inferGridSample(InferContext& context) {
    const auto &x = context.in(0).shape, &grid = context.in(1).shape;
    std::optional<Dims> dims;
    if (x && grid && x->size() == grid->size() && x->size() > 2) {
        dims = Dims{(*x)[0], (*x)[1]};
        dims->insert(dims->end(), grid->begin() + 1, grid->end() - 1);
    }
    setLike(context, 0, std::move(dims));
    return {};
}

/// theta [N, r, r+1] applied to evenly spaced places of a box [-1, 1]^r.
base::Result<void> affineGrid(KernelContext& context) {
    SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.value(1)));
    const Tensor& theta = context.in(0);
    const std::size_t rank = size.size() >= 2 ? size.size() - 2 : 0;
    if (rank < 1 || theta.rank() != 3 || theta.dim(0) != size[0] || theta.dim(1) != static_cast<std::int64_t>(rank) || theta.dim(2) != static_cast<std::int64_t>(rank) + 1) {
        return opError("theta " + theta.typeText() + " does not fit the size");
    }
    const bool align = context.attributes().getInt("align_corners", 0) != 0;
    std::vector<std::int64_t> dims{size[0]};
    dims.insert(dims.end(), size.begin() + 2, size.end());
    std::int64_t points = 1;
    for (std::size_t i = 2; i < size.size(); ++i) {
        if (size[i] < 0 || __builtin_mul_overflow(points, size[i], &points)) return opError("the size cannot be");
    }
    dims.push_back(static_cast<std::int64_t>(rank));
    SONDE_ASSIGN(const Tensor matrix, wide(theta));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape(std::move(dims))));
    std::vector<double> place(rank + 1, 1.0);
    for (std::int64_t i = 0; i < size[0] * points; ++i) {
        std::int64_t rest = i % points;
        for (std::size_t d = 0; d < rank; ++d) {  // innermost axis first
            const std::int64_t extent = size[size.size() - 1 - d], at = rest % extent;
            rest /= extent;
            const auto n = static_cast<double>(extent), p = static_cast<double>(at);
            place[d] = align ? (extent > 1 ? -1 + 2 * p / (n - 1) : -1) : (2 * p + 1) / n - 1;
        }
        for (std::size_t row = 0; row < rank; ++row) {
            double sum = 0;
            for (std::size_t k = 0; k <= rank; ++k) {
                sum += matrix.data<double>()[static_cast<std::size_t>(i / points) * rank * (rank + 1) + row * (rank + 1) + k] * place[k];
            }
            y.mutableData<double>()[static_cast<std::size_t>(i) * rank + row] = sum;
        }
    }
    return setNarrow(context, 0, y, theta.dtype());
}

/// The four elements around a place and how near it is to each; zeros for a place more than one element outside.
struct Corners {
    double a = 0, b = 0, c = 0, d = 0;  ///< left and right above, left and right below
    double dy = 0, dx = 0;

    static Corners of(const double* plane, std::int64_t height, std::int64_t width, double y, double x) {
        if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return {};
        y = std::clamp(y, 0.0, static_cast<double>(height - 1));
        x = std::clamp(x, 0.0, static_cast<double>(width - 1));
        const auto y0 = static_cast<std::int64_t>(y), x0 = static_cast<std::int64_t>(x);
        const std::int64_t y1 = std::min(y0 + 1, height - 1), x1 = std::min(x0 + 1, width - 1);
        return {plane[y0 * width + x0], plane[y0 * width + x1], plane[y1 * width + x0], plane[y1 * width + x1], y - static_cast<double>(y0), x - static_cast<double>(x0)};
    }
};

double bilinear(const double* plane, std::int64_t height, std::int64_t width, double y, double x) {
    const auto [a, b, c, d, dy, dx] = Corners::of(plane, height, width, y, x);
    return (1 - dy) * ((1 - dx) * a + dx * b) + dy * ((1 - dx) * c + dx * d);
}

/// The largest weighted corner of the four around a place: what RoiAlign's mode "max" compares.
double bilinearMax(const double* plane, std::int64_t height, std::int64_t width, double y, double x) {
    const auto [a, b, c, d, dy, dx] = Corners::of(plane, height, width, y, x);
    return std::max({(1 - dy) * (1 - dx) * a, (1 - dy) * dx * b, dy * (1 - dx) * c, dy * dx * d});
}

base::Result<void> roiAlign(KernelContext& context, bool halfPixel) {
    const Tensor &x = context.in(0), &rois = context.in(1), &batch = context.in(2);
    const Attributes& attributes = context.attributes();
    const std::int64_t height = attributes.getInt("output_height", 1), width = attributes.getInt("output_width", 1), ratio = attributes.getInt("sampling_ratio", 0);
    if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 4 || batch.numel() != rois.dim(0) || height < 1 || width < 1 || ratio < 0 || x.numel() == 0) {
        return opError("regions " + rois.typeText() + " do not fit " + x.typeText());
    }
    const double scale = attributes.getFloat("spatial_scale", 1), offset = halfPixel ? 0.5 : 0;
    const bool average = attributes.getString("mode", "avg") != "max";
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor regions, wide(rois));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{rois.dim(0), x.dim(1), height, width}));
    for (std::int64_t r = 0; r < rois.dim(0); ++r) {
        const double* roi = regions.data<double>() + r * 4;
        const std::int64_t b = batch.toInt64(r);
        if (b < 0 || b >= x.dim(0)) return opError("batch index " + std::to_string(b) + " is outside " + x.typeText());
        const double x0 = roi[0] * scale - offset, y0 = roi[1] * scale - offset;
        double w = roi[2] * scale - offset - x0, h = roi[3] * scale - offset - y0;
        if (!halfPixel) {
            w = std::max(w, 1.0);
            h = std::max(h, 1.0);
        }
        if (!(std::fabs(w) < 1e6 && std::fabs(h) < 1e6)) return opError("a region is out of range");
        const double binW = w / static_cast<double>(width), binH = h / static_cast<double>(height);
        const std::int64_t countX = ratio > 0 ? ratio : std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(binW)));
        const std::int64_t countY = ratio > 0 ? ratio : std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(binH)));
        // No cell needs millions of samples; a file could ask for so many that the sum never ends.
        if (static_cast<double>(countX) * static_cast<double>(countY) > 1 << 24) return opError("a region needs " + std::to_string(countX) + " by " + std::to_string(countY) + " samples in each cell");
        for (std::int64_t c = 0; c < x.dim(1); ++c) {
            const double* plane = image.data<double>() + (b * x.dim(1) + c) * x.dim(2) * x.dim(3);
            for (std::int64_t cell = 0; cell < height * width; ++cell) {
                if (context.cancelled()) return base::cancelled();
                double sum = 0, best = -std::numeric_limits<double>::infinity();
                for (std::int64_t iy = 0; iy < countY; ++iy) {
                    for (std::int64_t ix = 0; ix < countX; ++ix) {
                        const double py = y0 + static_cast<double>(cell / width) * binH + (static_cast<double>(iy) + 0.5) * binH / static_cast<double>(countY);
                        const double px = x0 + static_cast<double>(cell % width) * binW + (static_cast<double>(ix) + 0.5) * binW / static_cast<double>(countX);
                        if (average) sum += bilinear(plane, x.dim(2), x.dim(3), py, px);
                        else best = std::max(best, bilinearMax(plane, x.dim(2), x.dim(3), py, px));
                    }
                }
                const double count = static_cast<double>(std::max<std::int64_t>(countX * countY, 1));
                y.mutableData<double>()[(r * x.dim(1) + c) * height * width + cell] = average ? sum / count : std::isinf(best) ? 0 : best;
            }
        }
    }
    return setNarrow(context, 0, y, x.dtype());
}

/// Largest value of each cell of each region [batch, x1, y1, x2, y2].
base::Result<void> maxRoiPool(KernelContext& context) {
    const Tensor &x = context.in(0), &rois = context.in(1);
    const std::vector<std::int64_t> pooled = context.attributes().getInts("pooled_shape");
    if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 5 || pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) return opError("regions " + rois.typeText() + " do not fit " + x.typeText());
    const double scale = context.attributes().getFloat("spatial_scale", 1);
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{rois.dim(0), x.dim(1), pooled[0], pooled[1]}));
    const auto edge = [](std::int64_t start, std::int64_t length, std::int64_t index, std::int64_t cells, std::int64_t extent, bool up) {
        const double at = static_cast<double>(index) * static_cast<double>(length) / static_cast<double>(cells);
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(up ? std::ceil(at) : std::floor(at)) + start, 0, extent);
    };
    for (std::int64_t r = 0; r < rois.dim(0); ++r) {
        std::int64_t corner[4];
        for (std::int64_t i = 0; i < 4; ++i) corner[i] = static_cast<std::int64_t>(std::clamp(std::round(rois.toDouble(r * 5 + 1 + i) * scale), -1e9, 1e9));
        const std::int64_t b = rois.toInt64(r * 5), w = std::max<std::int64_t>(corner[2] - corner[0] + 1, 1), h = std::max<std::int64_t>(corner[3] - corner[1] + 1, 1);
        if (b < 0 || b >= x.dim(0)) return opError("batch index " + std::to_string(b) + " is outside " + x.typeText());
        for (std::int64_t c = 0; c < x.dim(1); ++c) {
            const double* plane = image.data<double>() + (b * x.dim(1) + c) * x.dim(2) * x.dim(3);
            for (std::int64_t cell = 0; cell < pooled[0] * pooled[1]; ++cell) {
                const std::int64_t i = cell / pooled[1], j = cell % pooled[1];
                double best = -std::numeric_limits<double>::infinity();
                for (std::int64_t py = edge(corner[1], h, i, pooled[0], x.dim(2), false); py < edge(corner[1], h, i + 1, pooled[0], x.dim(2), true); ++py) {
                    for (std::int64_t px = edge(corner[0], w, j, pooled[1], x.dim(3), false); px < edge(corner[0], w, j + 1, pooled[1], x.dim(3), true); ++px) {
                        best = std::max(best, plane[py * x.dim(3) + px]);
                    }
                }
                y.mutableData<double>()[(r * x.dim(1) + c) * pooled[0] * pooled[1] + cell] = std::isinf(best) ? 0 : best;
            }
        }
    }
    return setNarrow(context, 0, y, x.dtype());
}

/// Convolution whose taps are moved by offsets [N, G·taps·2, H', W'] and weighted by a mask [N, G·taps, H', W'].
base::Result<void> deformConv(KernelContext& context) {
    const Tensor &x = context.in(0), &w = context.in(1), &offset = context.in(2);
    const std::int64_t groups = context.attributes().getInt("group", 1), offsetGroups = context.attributes().getInt("offset_group", 1);
    if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4 || groups < 1 || offsetGroups < 1 || x.dim(1) % groups || w.dim(0) % groups || w.dim(1) * groups != x.dim(1) || x.dim(1) % offsetGroups) {
        return opError("input " + x.typeText() + ", weights " + w.typeText() + " and offsets " + offset.typeText() + " do not go together");
    }
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), std::span(w.shape().dims()).subspan(2), std::span(x.shape().dims()).subspan(2)));
    const Shape shape = window.outputShape(x.dim(0), w.dim(0), std::span(x.shape().dims()).subspan(2));
    const std::int64_t taps = window.taps(), points = shape[2] * shape[3];
    const bool fits = offset.shape() == Shape{x.dim(0), offsetGroups * taps * 2, shape[2], shape[3]} &&
                      (!context.has(3) || context.in(3).numel() == w.dim(0)) &&
                      (!context.has(4) || context.in(4).shape() == Shape{x.dim(0), offsetGroups * taps, shape[2], shape[3]});
    if (!fits) return opError("offsets, bias or mask do not fit the output " + shape.text());
    SONDE_ASSIGN(const Tensor image, wide(x));
    SONDE_ASSIGN(const Tensor weights, wide(w));
    SONDE_ASSIGN(const Tensor moves, wide(offset));
    Tensor mask;
    if (context.has(4)) {
        SONDE_ASSIGN(mask, wide(context.in(4)));
    }
    SONDE_ASSIGN(Tensor y, wideZeros(shape));
    const Axis rows{x.dim(2), Border::Zeros, true}, columns{x.dim(3), Border::Zeros, true};
    const Axis axes[] = {rows, columns};
    const std::int64_t groupIn = w.dim(1), groupOut = w.dim(0) / groups, perOffset = x.dim(1) / offsetGroups;
    context.pool().parallelFor(static_cast<std::size_t>(x.dim(0) * points), 8, [&](std::size_t begin, std::size_t end) {
        for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
            const std::int64_t n = p / points, at = p % points, oy = at / shape[3], ox = at % shape[3];
            for (std::int64_t k = 0; k < w.dim(0) && context.has(3); ++k) y.mutableData<double>()[(n * w.dim(0) + k) * points + at] = context.in(3).toDouble(k);
            for (std::int64_t c = 0; c < x.dim(1); ++c) {
                const std::int64_t g = c / groupIn, og = c / perOffset;
                for (std::int64_t t = 0; t < taps; ++t) {
                    const double* move = moves.data<double>() + ((n * offsetGroups + og) * taps + t) * 2 * points + at;
                    const double positions[] = {static_cast<double>(oy * window.stride[0] - window.padBegin[0] + t / window.kernel[1] * window.dilation[0]) + move[0],
                                                static_cast<double>(ox * window.stride[1] - window.padBegin[1] + t % window.kernel[1] * window.dilation[1]) + move[points]};
                    double value = 0;
                    for (const Tap& tap : tapsAt(axes, positions, "linear")) value += tap.weight * image.data<double>()[(n * x.dim(1) + c) * x.dim(2) * x.dim(3) + tap.offset];
                    if (mask.defined()) value *= mask.data<double>()[((n * offsetGroups + og) * taps + t) * points + at];
                    for (std::int64_t k = g * groupOut; k < (g + 1) * groupOut; ++k) {
                        y.mutableData<double>()[(n * w.dim(0) + k) * points + at] += value * weights.data<double>()[(k * groupIn + c % groupIn) * taps + t];
                    }
                }
            }
        }
    });
    return setNarrow(context, 0, y, x.dtype());
}

/// Puts values back where MaxPool took them from; zeros elsewhere.
base::Result<void> maxUnpool(KernelContext& context) {
    const Tensor &x = context.in(0), &indices = context.in(1);
    if (x.rank() < 3 || indices.shape() != x.shape()) return opError("indices " + indices.typeText() + " do not fit " + x.typeText());
    SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), {}, std::span(x.shape().dims()).subspan(2)));
    Shape natural{x.dim(0), x.dim(1)};
    for (std::size_t d = 0; d < window.rank(); ++d) natural.push_back((x.dim(d + 2) - 1) * window.stride[d] + window.kernel[d] - window.padBegin[d] - window.padEnd[d]);
    Shape shape = natural;
    if (context.has(2)) {
        SONDE_ASSIGN(std::vector<std::int64_t> asked, intsOf(context.value(2)));
        shape = Shape(std::move(asked));
        if (shape.rank() != natural.rank()) return opError("output_shape does not fit " + x.typeText());
    }
    SONDE_ASSIGN(const Tensor values, wide(x));
    SONDE_ASSIGN(Tensor y, wideZeros(shape));
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        // The index counts in the natural shape.
        std::int64_t rest = indices.toInt64(i), target = 0, step = 1;
        for (std::size_t d = shape.rank(); d-- > 0;) {
            if (rest < 0 || natural[d] <= 0) return opError("index " + std::to_string(indices.toInt64(i)) + " is out of range");
            target += (d == 0 ? rest : rest % natural[d]) * step;
            step *= shape[d];
            rest /= natural[d];
        }
        if (target >= y.numel()) return opError("index " + std::to_string(indices.toInt64(i)) + " is out of range");
        y.mutableData<double>()[target] = values.data<double>()[i];
    }
    return setNarrow(context, 0, y, x.dtype());
}

struct Box {
    double y1, x1, y2, x2;
    double area() const { return (y2 - y1) * (x2 - x1); }
};

double overlap(const Box& a, const Box& b) {
    const double h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
    if (h <= 0 || w <= 0) return 0;
    const double common = h * w, all = a.area() + b.area() - common;
    return all > 0 ? common / all : 0;
}

/// Greedy: the best box stays, those that overlap it too much go.
base::Result<void> nonMaxSuppression(KernelContext& context) {
    const Tensor &boxes = context.in(0), &scores = context.in(1);
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 || boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(2)) {
        return opError("boxes " + boxes.typeText() + " do not fit scores " + scores.typeText());
    }
    std::int64_t most = 0;
    double iou = 0, threshold = -std::numeric_limits<double>::infinity();
    if (context.has(2)) {
        SONDE_ASSIGN(most, intOf(context.value(2)));
    }
    if (context.has(3)) {
        SONDE_ASSIGN(iou, numberOf(context.value(3)));
    }
    if (context.has(4)) {
        SONDE_ASSIGN(threshold, numberOf(context.value(4)));
    }
    const bool centred = context.attributes().getInt("center_point_box", 0) != 0;
    const auto boxAt = [&](std::int64_t batch, std::int64_t i) {
        const float* b = boxes.data<float>() + (batch * boxes.dim(1) + i) * 4;
        const double p[] = {static_cast<double>(b[0]), static_cast<double>(b[1]), static_cast<double>(b[2]), static_cast<double>(b[3])};
        if (centred) return Box{p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
        return Box{std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
    };
    std::vector<std::int64_t> selected;
    for (std::int64_t line = 0; line < scores.dim(0) * scores.dim(1); ++line) {
        if (context.cancelled()) return base::cancelled();
        const std::int64_t batch = line / scores.dim(1);
        const float* row = scores.data<float>() + line * scores.dim(2);
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < scores.dim(2); ++i) {
            if (static_cast<double>(row[i]) > threshold) order.push_back(i);
        }
        std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return row[a] > row[b]; });
        std::vector<Box> kept;
        for (std::int64_t i : order) {
            if (static_cast<std::int64_t>(kept.size()) >= most) break;
            const Box box = boxAt(batch, i);
            if (std::ranges::any_of(kept, [&](const Box& other) { return overlap(box, other) > iou; })) continue;
            kept.push_back(box);
            selected.insert(selected.end(), {batch, line % scores.dim(1), i});
        }
    }
    context.setOutput(0, Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(selected.size() / 3), 3}, selected)));
    return {};
}

/// [size[0], size[2]…, rank]
base::Result<void> inferAffineGrid(InferContext& context) {
    std::optional<Dims> dims;
    if (!context.constant(1).isNone()) {
        SONDE_ASSIGN(const std::vector<std::int64_t> size, intsOf(context.constant(1)));
        dims = Dims{};
        for (std::size_t i = 0; i < size.size(); ++i) {
            if (i != 1) dims->push_back(size[i] < 0 ? Dim{} : Dim::of(size[i]));
        }
        dims->push_back(Dim::of(size.size() > 2 ? static_cast<std::int64_t>(size.size()) - 2 : 0));
    }
    setLike(context, 0, std::move(dims));
    return {};
}

/// [regions, C, height, width]
base::Result<void> inferRegions(InferContext& context, std::int64_t height, std::int64_t width) {
    const auto &x = context.in(0).shape, &rois = context.in(1).shape;
    const auto extent = [](std::int64_t n) { return n < 0 ? Dim{} : Dim::of(n); };
    setLike(context, 0, Dims{rois && !rois->empty() ? rois->front() : Dim{}, x && x->size() == 4 ? (*x)[1] : Dim{}, extent(height), extent(width)});
    return {};
}

base::Result<void> inferRoiAlign(InferContext& context) {
    return inferRegions(context, context.attributes().getInt("output_height", 1), context.attributes().getInt("output_width", 1));
}

base::Result<void> inferMaxRoiPool(InferContext& context) {
    const std::vector<std::int64_t> pooled = context.attributes().getInts("pooled_shape");
    return pooled.size() == 2 ? inferRegions(context, pooled[0], pooled[1]) : inferRegions(context, -1, -1);
}

/// As Conv gives it for X and W.
base::Result<void> inferDeformConv(InferContext& context) {
    const std::size_t inputs[] = {0, 1};
    return inferAs(context, "", "Conv", inputs);
}

base::Result<void> inferMaxUnpool(InferContext& context) {
    const auto& x = context.in(0).shape;
    std::optional<Dims> dims = x ? std::optional(unknownDims(x->size())) : std::nullopt;
    if (context.has(2)) {
        if (!context.constant(2).isNone()) {
            SONDE_ASSIGN(const std::vector<std::int64_t> asked, intsOf(context.constant(2)));
            dims = dimsOf(Shape(asked));
        }
    } else if (x && x->size() > 2) {
        SONDE_ASSIGN(const Window window, windowFromAttributes(context.attributes(), {}, extentsFrom(*x, 2)));
        (*dims)[0] = (*x)[0], (*dims)[1] = (*x)[1];
        for (std::size_t d = 0; d < window.rank() && d + 2 < x->size(); ++d) {
            const Dim& in = (*x)[d + 2];
            if (in.known()) (*dims)[d + 2] = Dim::of((in.value - 1) * window.stride[d] + window.kernel[d] - window.padBegin[d] - window.padEnd[d]);
        }
    }
    setLike(context, 0, std::move(dims));
    return {};
}

}  // namespace

void define_sampling(Registry& registry) {
    for (int since : {16, 20}) {
        registry.add(Row("GridSample", since, "samples an image at the positions of a grid", Category::Transform).in("X").in("grid", kFloats).out("Y").attrInt("align_corners", 0)
                         .attrString("mode", since == 16 ? "bilinear" : "linear").attrString("padding_mode", "zeros").runs(gridSample, inferGridSample));
    }
    registry.add(Row("AffineGrid", 20, "the positions of a grid after an affine transform", Category::Transform).in("theta", kFloats).in("size", kInt64).out("grid")
                     .attrInt("align_corners", 0).runs(affineGrid, inferAffineGrid));
    registry.add(Row("RoiAlign", 10, "mean or maximum of a grid of samples in each cell of regions", Category::Pool).in("X", kFloats).in("rois", kFloats).in("batch_indices", kInt64)
                     .out("Y").attrString("mode", "avg").attrInt("output_height", 1).attrInt("output_width", 1).attrInt("sampling_ratio", 0).attrFloat("spatial_scale", 1)
                     .runs([](KernelContext& context) { return roiAlign(context, false); }, inferRoiAlign));
    registry.add(Row("RoiAlign", 16, "mean or maximum of a grid of samples in each cell of regions", Category::Pool).in("X", kFloats).in("rois", kFloats).in("batch_indices", kInt64)
                     .out("Y").attrString("mode", "avg").attrInt("output_height", 1).attrInt("output_width", 1).attrInt("sampling_ratio", 0).attrFloat("spatial_scale", 1)
                     .attrString("coordinate_transformation_mode", "half_pixel")
                     .runs([](KernelContext& context) {
                         return roiAlign(context, context.attributes().getString("coordinate_transformation_mode", "half_pixel") == "half_pixel");
                     }, inferRoiAlign));
    registry.add(Row("MaxRoiPool", 1, "largest value of each cell of regions", Category::Pool).in("X", kFloats).in("rois", kFloats).out("Y").required("pooled_shape", AttributeKind::Ints)
                     .attrFloat("spatial_scale", 1).runs(maxRoiPool, inferMaxRoiPool));
    registry.add(Row("DeformConv", 19, "convolution whose taps are moved by offsets", Category::Layer).in("X", kFloats).in("W", kFloats).in("offset", kFloats).optionalIn("B", kFloats)
                     .optionalIn("mask", kFloats).out("Y").attrInts("dilations").attrInt("group", 1).attrInts("kernel_shape").attrInt("offset_group", 1).attrInts("pads")
                     .attrInts("strides").runs(deformConv, inferDeformConv));
    registry.add(Row("MaxUnpool", 9, "puts values back where MaxPool took them from", Category::Pool).in("X", kFloats).in("I", kInt64).optionalIn("output_shape", kInt64).out("output")
                     .required("kernel_shape", AttributeKind::Ints).attrInts("pads").attrInts("strides").runs(maxUnpool, inferMaxUnpool));
    registry.add(Row("NonMaxSuppression", 10, "the best boxes that do not overlap too much", Category::Other).in("boxes", kFloat32).in("scores", kFloat32)
                     .optionalIn("max_output_boxes_per_class", kInt64).optionalIn("iou_threshold", kFloat32).optionalIn("score_threshold", kFloat32).out("selected_indices")
                     .attrInt("center_point_box", 0).runs(nonMaxSuppression, [](InferContext& context) -> base::Result<void> {
                         context.set(0, TypeInfo::tensor(DType::Int64, Dims{Dim{}, Dim::of(3)}));
                         return {};
                     }));
}

}  // namespace sonde::ops
