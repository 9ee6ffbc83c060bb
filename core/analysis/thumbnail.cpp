#include "core/analysis/thumbnail.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/analysis/tensor_stats.h"

namespace sonde::analysis {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMaxSamples = 8;

/// A two-dimensional part of a tensor: where it begins in row-major order, and the steps of its axes.
struct Plane {
    std::int64_t first = 0;
    std::int64_t height = 1, width = 1;
};

/// Mean of the finite elements of one cell of a plane that is cut into rows × columns cells; NaN if one is NaN.
double cellMean(const Tensor& tensor, const Plane& plane, std::size_t rows, std::size_t columns, std::size_t row,
                std::size_t column) {
    const auto cut = [](std::int64_t dimSize, std::size_t parts, std::size_t part) {
        return dimSize * static_cast<std::int64_t>(part) / static_cast<std::int64_t>(parts);
    };
    const std::int64_t top = cut(plane.height, rows, row), bottom = std::max(top + 1, cut(plane.height, rows, row + 1));
    const std::int64_t left = cut(plane.width, columns, column),
                       right = std::max(left + 1, cut(plane.width, columns, column + 1));
    const std::int64_t stepY = (bottom - top + kMaxSamples - 1) / kMaxSamples;
    const std::int64_t stepX = (right - left + kMaxSamples - 1) / kMaxSamples;
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t y = top; y < bottom; y += stepY) {
        for (std::int64_t x = left; x < right; x += stepX) {
            const double value = tensor.toDouble(plane.first + y * plane.width + x);
            if (std::isnan(value)) return kGap;
            if (std::isinf(value)) return value;
            sum += value;
            ++count;
        }
    }
    return count ? sum / static_cast<double>(count) : kGap;
}

void drawPlane(Thumbnail& out, const Tensor& tensor, const Plane& plane, std::size_t x0, std::size_t y0,
               std::size_t columns, std::size_t rows, std::size_t base = 0) {
    for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t x = 0; x < columns; ++x)
            out.cells[base + (y0 + y) * out.width + x0 + x] = cellMean(tensor, plane, rows, columns, y, x);
}

/// The cells that a map of these dimensions gets in a square of `edge`: as many as it has elements, or scaled to fit.
std::array<std::size_t, 2> cellsFor(const Plane& plane, std::size_t edge) {
    const double longest = static_cast<double>(std::max(plane.height, plane.width));
    const double factor = std::min(1.0, static_cast<double>(edge) / longest);
    const auto cells = [factor](std::int64_t dimSize) {
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(static_cast<double>(dimSize) * factor)));
    };
    return {cells(plane.height), cells(plane.width)};
}

void drawMap(Thumbnail& out, const Tensor& tensor, const Plane& plane, std::size_t edge) {
    const auto [rows, columns] = cellsFor(plane, edge);
    out.kind = Thumbnail::Kind::Map;
    out.width = columns;
    out.height = rows;
    out.cells.assign(rows * columns, kGap);
    drawPlane(out, tensor, plane, 0, 0, columns, rows);
}

void drawColor(Thumbnail& out, const Tensor& tensor, const Plane& plane, std::size_t edge) {
    const auto [rows, columns] = cellsFor(plane, edge);
    out.kind = Thumbnail::Kind::Color;
    out.width = columns;
    out.height = rows;
    out.cells.assign(3 * rows * columns, kGap);
    for (std::size_t channel = 0; channel < 3; ++channel) {
        Plane part = plane;
        part.first += static_cast<std::int64_t>(channel) * plane.height * plane.width;
        drawPlane(out, tensor, part, 0, 0, columns, rows, channel * rows * columns);
    }
}

void drawMaps(Thumbnail& out, const Tensor& tensor, const Plane& plane, std::int64_t channels, std::size_t edge) {
    const std::size_t side = channels >= 9 ? 3 : channels >= 2 ? 2 : 1;
    const std::size_t room = (edge - (side - 1)) / side;
    const auto [rows, columns] = cellsFor(plane, room);
    const std::size_t shown = std::min<std::size_t>(static_cast<std::size_t>(channels), side * side);
    const std::size_t lines = (shown + side - 1) / side;
    out.kind = Thumbnail::Kind::Maps;
    out.mapWidth = columns;
    out.mapHeight = rows;
    out.mapCount = shown;
    out.width = side * columns + side - 1;
    out.height = lines * rows + lines - 1;
    out.cells.assign(out.width * out.height, kGap);
    for (std::size_t channel = 0; channel < shown; ++channel) {
        Plane part = plane;
        part.first += static_cast<std::int64_t>(channel) * plane.height * plane.width;
        drawPlane(out, tensor, part, channel % side * (columns + 1), channel / side * (rows + 1), columns, rows);
    }
}

void drawTensor(Thumbnail& out, const Tensor& tensor, std::size_t edge) {
    const tensor::Shape& shape = tensor.shape();
    std::size_t longAxes = 0;
    for (const std::int64_t dimSize : shape) longAxes += dimSize > 1;
    const std::size_t rank = shape.rank();
    if (longAxes <= 1) {
        Plane plane{0, 1, tensor.numel()};
        out.kind = Thumbnail::Kind::Line;
        out.width = std::min<std::size_t>(static_cast<std::size_t>(tensor.numel()), edge);
        out.height = 1;
        out.cells.assign(out.width, kGap);
        drawPlane(out, tensor, plane, 0, 0, out.width, 1);
        return;
    }
    const Plane plane{0, shape[rank - 2], shape[rank - 1]};
    const std::int64_t channels = rank >= 3 ? shape[rank - 3] : 1;
    if (rank >= 3 && rank <= 4 && channels == 3 && plane.height >= 8 && plane.width >= 8)
        drawColor(out, tensor, plane, edge);
    else if (rank >= 3 && channels > 1 && plane.height > 1 && plane.width > 1)
        drawMaps(out, tensor, plane, channels, edge);
    else if (plane.height > 1 && plane.width > 1) drawMap(out, tensor, plane, edge);
    else  // [.., C, 1, 1] and the like: what varies is further out
        drawMap(out, tensor,
                Plane{0, tensor.numel() / shape[rank - 1] / std::max<std::int64_t>(1, shape[rank - 2]),
                      shape[rank - 2] * shape[rank - 1]},
                edge);
}

std::string containerText(const tensor::Value& value) {
    const std::string kind(tensor::name(value.kind()));
    if (value.isListLike()) return kind + " of " + std::to_string(value.items().size());
    if (value.kind() == tensor::ValueKind::Dict) return kind + " of " + std::to_string(value.dictItems().size());
    return value.text(24);
}

}  // namespace

Thumbnail thumbnail(const tensor::Value& value, std::size_t edge, const std::stop_token& stop) {
    Thumbnail out;
    if (!value.isTensor()) {
        out.kind = value.isNumber() ? Thumbnail::Kind::Number : Thumbnail::Kind::None;
        out.text = containerText(value);
        if (value.isNumber()) {
            out.minimum = out.maximum = value.number();
            out.hasBad = !std::isfinite(value.number());
        }
        return out;
    }
    const Tensor& tensor = value.tensor();
    if (tensor.numel() == 0 || tensor.dtype() == DType::String) {
        out.text = tensor.numel() == 0 ? "empty" : "strings";
        return out;
    }
    const TensorStats stats = tensorStats(tensor, stop);
    out.minimum = stats.minimum;
    out.maximum = stats.maximum;
    out.hasBad = stats.nanCount + stats.infCount > 0;
    if (tensor.numel() == 1) {
        out.kind = Thumbnail::Kind::Number;
        out.text = tensor.elementText(0, 4);
        return out;
    }
    drawTensor(out, tensor, std::max<std::size_t>(edge, 4));
    return out;
}

}  // namespace sonde::analysis
