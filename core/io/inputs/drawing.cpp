#include "core/io/inputs/drawing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/io/image/image_size.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;

constexpr std::string_view kDrawingBegin = "#draw(", kWhite = "white", kBlack = "black";
constexpr int kMaxSide = 1024;  ///< of the pixels that are drawn; a larger input has them enlarged

/// The part up to `separator`, which is taken off the front of `rest`.
std::string_view takePart(std::string_view& rest, char separator) {
    const std::size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return part;
}

std::optional<int> integerIn(std::string_view text, int low, int high) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < low || number > high) return std::nullopt;
    return number;
}

base::Error badStroke(std::size_t index, std::string_view word) {
    return usageError("'" + std::string(word.substr(0, 40)) + "' is no number of a stroke",
                      "#draw, stroke " + std::to_string(index + 1),
                      "write SIZE,X,Y,X,Y… in thousandths of the paper, as in #draw(white|60,100,200,300,400)");
}

Result<Stroke> parseStroke(std::string_view text, std::size_t index, std::size_t& points) {
    Stroke stroke;
    stroke.isEraser = text.starts_with('e');
    if (stroke.isEraser) text.remove_prefix(1);
    const std::string_view sizeText = takePart(text, ',');
    const auto size = integerIn(sizeText, 1, Stroke::kMaxSize);
    if (!size) return badStroke(index, sizeText);
    stroke.size = *size;
    do {
        const std::string_view xText = takePart(text, ','), yText = takePart(text, ',');
        const auto x = integerIn(xText, Stroke::kMinPlace, Stroke::kMaxPlace);
        const auto y = integerIn(yText, Stroke::kMinPlace, Stroke::kMaxPlace);
        if (!x || !y) return badStroke(index, x ? yText : xText);
        if (++points > Drawing::kMaxPoints)
            return usageError("the drawing has more than " + std::to_string(Drawing::kMaxPoints) + " points");
        stroke.points.emplace_back(*x, *y);
    } while (!text.empty());
    return stroke;
}

/// How much of each pixel is covered, in a part of the paper that grows with what is drawn.
class Coverage {
  public:
    Coverage(int width, int height) : m_width(width), m_height(height) {
        m_of.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    }

    struct Point {
        double x, y;  ///< in pixels
    };

    /// A line with round ends; an edge is one pixel wide.
    void add(Point from, Point to, double radius) {
        const double reach = radius + 1;
        const int left = column(std::min(from.x, to.x) - reach), right = column(std::max(from.x, to.x) + reach);
        const int top = row(std::min(from.y, to.y) - reach), bottom = row(std::max(from.y, to.y) + reach);
        const double dx = to.x - from.x, dy = to.y - from.y, squared = dx * dx + dy * dy;
        for (int y = top; y <= bottom; ++y) {
            for (int x = left; x <= right; ++x) {
                const double px = x + 0.5 - from.x, py = y + 0.5 - from.y;
                const double along = squared > 0 ? std::clamp((px * dx + py * dy) / squared, 0.0, 1.0) : 0;
                const double distance = std::hypot(px - along * dx, py - along * dy);
                float& covered = at(x, y);
                covered = std::max(covered, static_cast<float>(std::clamp(radius + 0.5 - distance, 0.0, 1.0)));
            }
        }
        m_left = std::min(m_left, left), m_right = std::max(m_right, right);
        m_top = std::min(m_top, top), m_bottom = std::max(m_bottom, bottom);
    }

    /// The line over what is there: ink 1 of a pen, 0 of an eraser. The next line begins.
    void applyTo(std::vector<float>& ink, bool isEraser) {
        for (int y = m_top; y <= m_bottom; ++y) {
            for (int x = m_left; x <= m_right; ++x) {
                float& covered = at(x, y);
                float& pixel = ink[static_cast<std::size_t>(&covered - m_of.data())];
                pixel = isEraser ? pixel * (1 - covered) : pixel + (1 - pixel) * covered;
                covered = 0;
            }
        }
        m_left = m_width, m_top = m_height, m_right = m_bottom = -1;
    }

  private:
    float& at(int x, int y) {
        return m_of[static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) + static_cast<std::size_t>(x)];
    }
    int column(double x) const { return static_cast<int>(std::clamp(std::floor(x), 0.0, m_width - 1.0)); }
    int row(double y) const { return static_cast<int>(std::clamp(std::floor(y), 0.0, m_height - 1.0)); }

    int m_width, m_height;
    std::vector<float> m_of;
    int m_left = m_width, m_right = -1, m_top = m_height, m_bottom = -1;
};

/// Ink from 0 to 1 for each pixel.
std::vector<float> inkOf(const Drawing& drawing, int width, int height) {
    std::vector<float> ink(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    Coverage coverage(width, height);
    const double unit = std::min(width, height) / 1000.0;
    for (const Stroke& stroke : drawing.strokes) {
        const auto place = [&](std::size_t i) {
            return Coverage::Point{stroke.points[i].first * width / 1000.0, stroke.points[i].second * height / 1000.0};
        };
        for (std::size_t i = 0; i < stroke.points.size(); ++i)
            coverage.add(place(i), place(std::min(i + 1, stroke.points.size() - 1)), stroke.size * unit / 2);
        coverage.applyTo(ink, stroke.isEraser);
    }
    return ink;
}

/// Few pixels are drawn finer and averaged: a line between two of them is half in each.
int finenessFor(int width, int height) {
    const int side = std::max(width, height);
    return side <= 128 ? 4 : side <= 512 ? 2 : 1;
}

}  // namespace

bool isDrawingItem(std::string_view item) { return item.starts_with(kDrawingBegin); }

Result<Drawing> parseDrawing(std::string_view item) {
    if (!isDrawingItem(item) || !item.ends_with(')'))
        return usageError("bad #draw specification", std::string(item.substr(0, 60)),
                          "write #draw(white|SIZE,X,Y,X,Y…|…)");
    std::string_view rest = item.substr(kDrawingBegin.size(), item.size() - kDrawingBegin.size() - 1);
    Drawing drawing;
    const std::string_view pen = takePart(rest, '|');
    if (pen != kWhite && pen != kBlack)
        return usageError("'" + std::string(pen.substr(0, 40)) + "' is no pen of a drawing", "#draw",
                          "write white (on black) or black (on white)");
    drawing.isWhiteOnBlack = pen == kWhite;
    std::size_t points = 0;
    while (!rest.empty()) {
        const std::size_t index = drawing.strokes.size();
        if (index == Drawing::kMaxStrokes)
            return usageError("the drawing has more than " + std::to_string(Drawing::kMaxStrokes) + " strokes");
        SONDE_ASSIGN(Stroke stroke, parseStroke(takePart(rest, '|'), index, points));
        drawing.strokes.push_back(std::move(stroke));
    }
    return drawing;
}

std::string drawingItem(const Drawing& drawing) {
    std::string text(kDrawingBegin);
    text += drawing.isWhiteOnBlack ? kWhite : kBlack;
    for (const Stroke& stroke : drawing.strokes) {
        text += stroke.isEraser ? "|e" : "|";
        text += std::to_string(stroke.size);
        for (const auto& [x, y] : stroke.points) text += ',' + std::to_string(x) + ',' + std::to_string(y);
    }
    return text + ')';
}

Image drawnImage(const Drawing& drawing, int width, int height) {
    const int fine = finenessFor(width, height);
    const std::vector<float> ink = inkOf(drawing, width * fine, height * fine);
    Image image{width, height, {}};
    image.rgb.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
    const auto stride = static_cast<std::size_t>(width) * static_cast<std::size_t>(fine);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            double sum = 0;
            for (int row = y * fine; row < (y + 1) * fine; ++row)
                for (int column = x * fine; column < (x + 1) * fine; ++column)
                    sum += ink[static_cast<std::size_t>(row) * stride + static_cast<std::size_t>(column)];
            const double covered = sum / (fine * fine);
            const double grey = 255 * (drawing.isWhiteOnBlack ? covered : 1 - covered);
            image.rgb.insert(image.rgb.end(), 3, static_cast<std::uint8_t>(std::lround(grey)));
        }
    }
    return image;
}

Result<Image> drawnImage(const Drawing& drawing, const InputInfo& input) {
    auto size = imageSize(input.type);
    if (size && input.type.shape) {  // what is left open is what a first run has
        const tensor::Shape usual = usualShape(input.type, input.usual);
        if (const auto made = imageSize(tensor::TypeInfo::tensor(input.type.dtype, usual))) size = made;
    }
    if (!size)
        return usageError("the input " + input.type.text() + " takes no drawing", "input '" + input.name + "'",
                          "a drawing fits [N,C,H,W] or [N,H,W,C] with 1 or 3 channels");
    const double scale = std::min(1.0, static_cast<double>(kMaxSide) /
                                           static_cast<double>(std::max({size->width, size->height, std::int64_t{1}})));
    const auto side = [scale](std::int64_t pixels) {
        return std::max(1, static_cast<int>(std::lround(static_cast<double>(pixels) * scale)));
    };
    return drawnImage(drawing, side(size->width), side(size->height));
}

Result<tensor::Tensor> drawnTensor(std::string_view item, const InputInfo& input, ImageOptions options) {
    SONDE_ASSIGN(const Drawing drawing, parseDrawing(item));
    SONDE_ASSIGN(const Image image, drawnImage(drawing, input));
    options.resize = true;
    auto pixels = imageTensor(image, input.type, options);
    if (!pixels) return std::move(pixels).error().at("input '" + input.name + "'");
    return std::move(*pixels);
}

}  // namespace sonde::io
