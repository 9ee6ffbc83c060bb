#include "ui/widgets/number_text.h"

#include <cmath>

namespace sonde::widgets {

QString numberText(double value, int digits) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("Inf") : QStringLiteral("-Inf");
    // Integers as large as an id or a pixel count are to be read digit by digit.
    if (value == std::floor(value) && std::abs(value) < 1e9) return QString::number(static_cast<qint64>(value));
    return QString::number(value, 'g', digits);
}

QString countText(qint64 count) {
    QString text = QString::number(count);
    const qsizetype first = count < 0 ? 1 : 0;
    for (qsizetype at = text.size() - 3; at > first; at -= 3) text.insert(at, u',');
    return text;
}

}  // namespace sonde::widgets
