#pragma once

#include "ui/theme/color_role.h"

namespace sonde::theme {

/// The colours of a card whose number is at `t` in 0…1 of a scale. Lightness goes one way, so the order is seen without
/// hue; the text keeps 4.5:1 on every step.
CategoryColors scaleColors(double t, Scheme scheme);

/// The same for a number that may be on either side of nothing: `t` in -1…1, blue below and orange above, paler towards
/// 0.
CategoryColors divergingColors(double t, Scheme scheme);

/// The colours of the `index`th of a few kinds that have no order, after Okabe and Ito's set; the last is for the rest.
inline constexpr int kSetColors = 8;
CategoryColors setColors(int index, Scheme scheme);

}  // namespace sonde::theme
