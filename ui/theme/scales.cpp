#include "ui/theme/scales.h"

#include <algorithm>

namespace sonde::theme {

namespace {

/// Black or white, whichever is read better.
QColor inkOn(const QColor& background) {
    const QColor dark(0, 0, 0), light(255, 255, 255);  // one of them has 4.58:1 on any background
    return contrast(dark, background) >= contrast(light, background) ? dark : light;
}

/// The set's colours: orange, sky blue, bluish green, yellow, blue, vermilion, reddish purple; grey for the rest.
constexpr QRgb kSet[kSetColors] = {0xffe69f00, 0xff56b4e9, 0xff009e73, 0xfff0e442,
                                   0xff0072b2, 0xffd55e00, 0xffcc79a7, 0xff9a9a9a};

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto mix = [share](int x, int y) { return static_cast<int>(x + (y - x) * share + 0.5); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

}  // namespace

CategoryColors scaleColors(double t, Scheme scheme) {
    // From the background over orange to what stands out most from the background: dark on light, light on dark.
    const QColor background = color(ColorRole::Canvas, scheme), middle(kSet[0]);
    const QColor end = scheme == Scheme::Light ? QColor(0x6e, 0x1f, 0x00) : QColor(0xff, 0xf0, 0xc4);
    const double at = std::clamp(t, 0.0, 1.0);
    const QColor fill = at < 0.5 ? mixed(background, middle, 0.12 + at * 1.76) : mixed(middle, end, at * 2 - 1);
    return {fill, mixed(fill, inkOn(fill), 0.45), inkOn(fill)};
}

CategoryColors divergingColors(double t, Scheme scheme) {
    if (t >= 0) return scaleColors(t, scheme);
    const QColor background = color(ColorRole::Canvas, scheme), middle(kSet[1]);
    const QColor end = scheme == Scheme::Light ? QColor(0x06, 0x2a, 0x55) : QColor(0xd8, 0xee, 0xff);
    const double at = std::clamp(-t, 0.0, 1.0);
    const QColor fill = at < 0.5 ? mixed(background, middle, 0.12 + at * 1.76) : mixed(middle, end, at * 2 - 1);
    return {fill, mixed(fill, inkOn(fill), 0.45), inkOn(fill)};
}

CategoryColors setColors(int index, Scheme scheme) {
    const QColor hue(kSet[std::clamp(index, 0, kSetColors - 1)]);
    const QColor fill = mixed(hue, color(ColorRole::Canvas, scheme), scheme == Scheme::Light ? 0.62 : 0.66);
    return {fill, hue, color(ColorRole::Text, scheme)};
}

}  // namespace sonde::theme
