#pragma once

#include <QString>

namespace sonde::widgets {

/// A number for people: `digits` significant digits, "NaN", "Inf" and "-Inf" by name, integers without a point.
QString numberText(double value, int digits = 6);

/// A part of 1 as a percentage, "99.7 %"; of a small one two significant digits, "0.0012 %", down to "< 0.0001 %".
QString percentText(double part);

/// A count in groups of three, as everywhere in the window: "1,048,576".
QString countText(qint64 count);

}  // namespace sonde::widgets
