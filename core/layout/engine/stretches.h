#pragma once

#include <vector>

#include "core/layout/engine/geometry.h"

namespace sonde::layout {

/// A piece of an edge within a rank: straight along `x`, from one y to another. Top-down.
struct Stretch {
    double x = 0;
    double from = 0;
    double to = 0;
};

/// Joins stretches by curves that leave and enter upright and stay inside the gap between two ranks; `rankSep` is its
/// height. `stretches` must not be empty.
Path joined(const std::vector<Stretch>& stretches, double rankSep);

}  // namespace sonde::layout
