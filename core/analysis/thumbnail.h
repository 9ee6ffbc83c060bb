#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "core/tensor/value.h"

namespace sonde::analysis {

/// A value made small enough for a node in a graph: a grid of numbers, or a text.
struct Thumbnail {
    enum class Kind {
        None,    ///< nothing to show (an empty tensor, strings, a container): see `text`
        Number,  ///< one number: see `text`
        Line,    ///< rank 1, or all axes but one of dimension 1: `cells` is one row
        Map,     ///< two axes
        Maps,    ///< channels of a feature map, side by side in a grid of maps with one empty cell between
        Color,   ///< a picture of three channels: `cells` holds red, green and blue planes one after another
    };
    Kind kind = Kind::None;
    std::size_t width = 0, height = 0;
    std::size_t mapWidth = 0, mapHeight = 0;  ///< Maps: of one of them
    std::vector<double> cells;                ///< row-major; NaN in gaps, and where an element is NaN
    /// Maps: whether a cell lies between maps or after the last one.
    bool isGap(std::size_t x, std::size_t y) const {
        return mapWidth > 0 && (x % (mapWidth + 1) == mapWidth || y % (mapHeight + 1) == mapHeight ||
                                y / (mapHeight + 1) * ((width + 1) / (mapWidth + 1)) + x / (mapWidth + 1) >= mapCount);
    }
    std::size_t mapCount = 0;
    double minimum = 0;  ///< of the finite elements of the whole value
    double maximum = 0;
    bool hasBad = false;  ///< NaN or infinite elements somewhere in the whole value
    std::string text;     ///< "3.25", "list of 4", …
};

/// The thumbnail of a value with at most `edge` cells along each side.
///
/// x [.., H, W] is shown by its first H×W map; x [1, C, H, W] or [C, H, W] with C > 1 by the first maps (at most 9, as
/// many as fill a square) side by side, unless it is an input-like picture (C = 3), which is shown in colour. Axes
/// longer than there is room for are averaged over equal stretches (at most 8 × 8 samples each), so cost is bounded by
/// the statistics of one pass over the value.
Thumbnail thumbnail(const tensor::Value& value, std::size_t edge, const std::stop_token& stop = {});

}  // namespace sonde::analysis
