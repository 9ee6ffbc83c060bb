#pragma once

#include <optional>
#include <string>

#include "core/session/outputs/choice.h"
#include "core/session/outputs/facts.h"

namespace sonde::session::outputs {

/// The numbers of the boxes of one sample: box i has `columns` numbers.
struct BoxNumbers {
    const Facts& facts;
    std::int64_t samples = 1, sample = 0, count = 0, columns = 0;
    bool isTransposed = false;

    double at(std::int64_t box, std::int64_t column) const {
        const std::int64_t first = sample * count * columns;
        return facts.tensor.toDouble(first + (isTransposed ? column * count + box : box * columns + column));
    }
};

/// [B,C], [N,B,C], or transposed [C,B], [N,C,B], with at least four numbers for each box; `isTransposed`: none: found.
std::optional<BoxNumbers> boxNumbers(const Facts& facts, std::optional<bool> isTransposed, std::int64_t sample);

/// Where the score or class of a box is.
struct BoxSource {
    enum class Kind { None, Column, Columns, Output };
    Kind kind = Kind::None;
    std::int64_t column = 0;  ///< Columns: the first of those with a score for each class
    std::string output;
};

/// A layout in which nothing is left to be found.
struct BoxReading {
    BoxLayout::Corners corners = BoxLayout::Corners::XyXy;
    bool isNormalised = false;
    std::int64_t first = 0;
    BoxSource score, classes;

    /// "xyxy, normalised, score in column 4, class in column 5".
    std::string text(const BoxNumbers& numbers) const;
};

/// Errors (Usage): a column that there is not, an output that there is not or that has no number for each box.
base::Result<BoxReading> readingOf(const BoxNumbers& numbers, const BoxLayout& layout);

/// Whether all numbers of a column of all boxes are from 0 to 1.
bool isShare(const BoxNumbers& numbers, std::int64_t column);

}  // namespace sonde::session::outputs
