#pragma once

#include <QColor>
#include <QStringView>

#include <array>
#include <span>

namespace sonde::theme {

/// A ramp of colours for numbers: 256 opaque entries from the smallest value to the largest.
class ColorMap {
  public:
    static constexpr int kSize = 256;

    ColorMap(const char* id, const char* title, bool diverging, std::array<QRgb, kSize> entries)
        : m_id(id), m_title(title), m_diverging(diverging), m_entries(entries) {}

    QLatin1String id() const { return QLatin1String(m_id); }
    QString title() const { return QString::fromLatin1(m_title); }
    /// Whether the middle entry stands for zero, so that the range is to be even about it.
    bool diverging() const { return m_diverging; }
    const std::array<QRgb, kSize>& entries() const { return m_entries; }

    /// The colour at `t` in 0…1; values outside are held at the ends, NaN is given the first colour.
    QRgb at(double t) const {
        if (!(t > 0.0)) return m_entries.front();
        const double place = t * (kSize - 1) + 0.5;  // not negative: cutting it off rounds
        return m_entries[t >= 1.0 ? kSize - 1 : static_cast<int>(place)];
    }

  private:
    const char* m_id;
    const char* m_title;
    bool m_diverging;
    std::array<QRgb, kSize> m_entries;
};

/// Every map there is, in the order in which they are offered. Maps do not depend on the scheme: a value has the same
/// colour in light and dark.
std::span<const ColorMap> colorMaps();

/// The map with this id, or the first.
const ColorMap& colorMap(QStringView id);

}  // namespace sonde::theme
