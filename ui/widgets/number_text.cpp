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

QString percentText(double part) {
    constexpr double kMin = 1e-4;
    const double percent = std::abs(part) * 100;
    if (percent == 0 || !std::isfinite(part)) return numberText(part) + QStringLiteral(" %");
    if (percent < kMin) return QStringLiteral("< %1 %").arg(QString::number(kMin, 'f', 4));
    const int decimals = percent >= 0.1 ? 1 : 1 - static_cast<int>(std::floor(std::log10(percent)));
    return QString::number(part * 100, 'f', decimals) + QStringLiteral(" %");
}

QString countText(qint64 count) {
    QString text = QString::number(count);
    const qsizetype first = count < 0 ? 1 : 0;
    for (qsizetype at = text.size() - 3; at > first; at -= 3) text.insert(at, u',');
    return text;
}

}  // namespace sonde::widgets
