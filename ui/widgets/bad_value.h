#pragma once

#include <QColor>
#include <QtGlobal>

#include <cmath>

class QPainter;
class QRect;

namespace sonde::widgets {

/// Numbers that no ramp holds. Each has a pattern of its own beside its colour, so that people who do not see the hue,
/// and grey prints, still tell them apart.
enum class BadValue { None, NaN, PlusInf, MinusInf };

inline BadValue badValueOf(double value) {
    if (std::isnan(value)) return BadValue::NaN;
    if (std::isinf(value)) return value > 0 ? BadValue::PlusInf : BadValue::MinusInf;
    return BadValue::None;
}

/// The two colours of the pattern.
struct BadInk {
    QRgb background, ink;
};
BadInk badInk(BadValue value);

/// Whether the pixel (x, y) of the pattern is ink: NaN is a chequer, +Inf upright stripes, -Inf level stripes, all of
/// two pixels' width.
inline bool badPixelIsInk(BadValue value, int x, int y) {
    switch (value) {
        case BadValue::NaN: return (((x >> 1) ^ (y >> 1)) & 1) != 0;
        case BadValue::PlusInf: return ((x >> 1) & 1) != 0;
        case BadValue::MinusInf: return ((y >> 1) & 1) != 0;
        case BadValue::None: break;
    }
    return false;
}

/// Fills a rectangle of a painter with the pattern: legends.
void fillBad(QPainter& painter, const QRect& rect, BadValue value);

}  // namespace sonde::widgets
