#pragma once

#include <QString>

namespace sonde::widgets {

/// A number for people: `digits` significant digits, "NaN", "Inf" and "-Inf" by name, integers without a point.
QString numberText(double value, int digits = 6);

/// A count in groups of three, as everywhere in the window: "1,048,576".
QString countText(qint64 count);

}  // namespace sonde::widgets
