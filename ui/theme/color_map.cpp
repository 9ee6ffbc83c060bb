#include "ui/theme/color_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace sonde::theme {
namespace {

/// Oklab (B. Ottosson, "A perceptual color space for image processing", 2020) in polar form. Equal steps in L look
/// equal, so a ramp even in L shows no bands that are not in the data.
struct Oklch {
    double lightness, chroma, hue;  // hue in degrees
};

struct Oklab {
    double l, a, b;
};

Oklab toLab(const Oklch& c) {
    const double radians = c.hue * std::numbers::pi / 180.0;
    return {c.lightness, c.chroma * std::cos(radians), c.chroma * std::sin(radians)};
}

std::array<double, 3> toLinear(const Oklab& c) {
    const auto cube = [](double x) { return x * x * x; };
    const double l = cube(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b);
    const double m = cube(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b);
    const double s = cube(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

QRgb toRgb(Oklab c) {
    // A colour that sRGB does not hold is made paler, not darker: the ramp's lightness must stay even.
    std::array<double, 3> linear = toLinear(c);
    const auto outside = [](double x) { return x < -1e-4 || x > 1.0 + 1e-4; };
    for (int i = 0; i < 64 && std::any_of(linear.begin(), linear.end(), outside); ++i) {
        c.a *= 0.97;
        c.b *= 0.97;
        linear = toLinear(c);
    }
    const auto channel = [](double x) {
        x = std::clamp(x, 0.0, 1.0);
        const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1.0 / 2.4) - 0.055;
        return static_cast<int>(std::lround(encoded * 255.0));
    };
    return qRgb(channel(linear[0]), channel(linear[1]), channel(linear[2]));
}

/// Entries through evenly spaced anchors; between two anchors the way is straight in Oklab.
std::array<QRgb, ColorMap::kSize> through(const std::vector<Oklch>& anchors) {
    std::array<QRgb, ColorMap::kSize> entries{};
    for (int i = 0; i < ColorMap::kSize; ++i) {
        const double at = static_cast<double>(i) / (ColorMap::kSize - 1) * static_cast<double>(anchors.size() - 1);
        const auto left = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
        const double f = at - static_cast<double>(left);
        const Oklab p = toLab(anchors[left]), q = toLab(anchors[left + 1]);
        entries[static_cast<std::size_t>(i)] =
            toRgb({p.l + f * (q.l - p.l), p.a + f * (q.a - p.a), p.b + f * (q.b - p.b)});
    }
    return entries;
}

/// Dark violet through teal to yellow, lightness rising in equal steps: the kind of ramp that viridis (N. Smith and
/// S. van der Walt, 2015) made usual, from anchors of our own.
std::vector<Oklch> violetToYellow() {
    std::vector<Oklch> anchors;
    constexpr int kSteps = 12;
    for (int i = 0; i <= kSteps; ++i) {
        const double t = static_cast<double>(i) / kSteps;
        anchors.push_back({0.27 + 0.65 * t, 0.11 + 0.05 * t * t, 305.0 - 197.0 * t});
    }
    return anchors;
}

/// Black over red to pale yellow, lightness rising in equal steps: shows few large values on a calm background.
std::vector<Oklch> heat() {
    return {{0.14, 0.03, 300}, {0.30, 0.11, 330}, {0.46, 0.16, 5},
            {0.62, 0.17, 35},  {0.79, 0.14, 70},  {0.95, 0.08, 100}};
}

/// Blue, white in the middle, red; both arms fall in lightness by the same steps so that equal distances from zero look
/// equally strong (K. Moreland, "Diverging Color Maps for Scientific Visualization", 2009).
std::vector<Oklch> blueWhiteRed() {
    return {{0.40, 0.130, 260}, {0.56, 0.140, 258}, {0.72, 0.100, 256}, {0.86, 0.050, 255}, {0.97, 0.0, 0},
            {0.86, 0.055, 35},  {0.72, 0.110, 33},  {0.56, 0.150, 30},  {0.40, 0.140, 27}};
}

std::array<QRgb, ColorMap::kSize> greys() {
    std::array<QRgb, ColorMap::kSize> entries{};
    for (int i = 0; i < ColorMap::kSize; ++i) entries[static_cast<std::size_t>(i)] = qRgb(i, i, i);
    return entries;
}

}  // namespace

std::span<const ColorMap> colorMaps() {
    static const std::vector<ColorMap> maps{
        {"violet-yellow", "Violet to yellow", false, through(violetToYellow())},
        {"grey", "Grey", false, greys()},
        {"diverging", "Blue, white, red", true, through(blueWhiteRed())},
        {"heat", "Heat", false, through(heat())},
    };
    return maps;
}

const ColorMap& colorMap(QStringView id) {
    const auto maps = colorMaps();
    const auto found = std::find_if(maps.begin(), maps.end(), [id](const ColorMap& m) { return id == m.id(); });
    return found == maps.end() ? maps.front() : *found;
}

}  // namespace sonde::theme
