#pragma once

#include <vector>

#include "core/layout/engine/geometry.h"

namespace sonde::layout {

/// A vertical piece of an edge within a rank: at `x`, from one y to another. Top-down.
struct Segment {
    double x = 0;
    double from = 0;
    double to = 0;
};

/// Connects segments by curves that start and end vertically and stay in the gap between two ranks; `rankSep` is the
/// height of the gap. `segments` must not be empty.
Path joined(const std::vector<Segment>& segments, double rankSep);

}  // namespace sonde::layout
