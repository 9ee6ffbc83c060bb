#pragma once

#include <QString>

namespace sonde::widgets {

/// A number for people: `digits` significant digits, "NaN", "Inf" and "-Inf" by name, whole numbers without a point.
QString numberText(double value, int digits = 6);

/// A count with thin spaces between groups of three: "1 048 576".
QString countText(qint64 count);

}  // namespace sonde::widgets
