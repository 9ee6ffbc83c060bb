#include "core/session/outputs/box_columns.h"

#include <cmath>

#include "core/base/number_text.h"
#include "core/base/unicode.h"

namespace sonde::session::outputs {

namespace {

using Corners = BoxLayout::Corners;
using Kind = BoxSource::Kind;

constexpr std::int64_t kCoordinates = 4;
/// A matrix with more columns than this, and fewer rows, has a column for each box.
constexpr std::int64_t kMinTransposed = 128;

bool isWhole(const BoxNumbers& numbers, std::int64_t column) {
    for (std::int64_t box = 0; box < numbers.count; ++box) {
        const double value = numbers.at(box, column);
        if (!(value >= 0) || value != std::floor(value)) return false;
    }
    return true;
}

bool areCornersInOrder(const BoxNumbers& numbers, std::int64_t first) {
    for (std::int64_t box = 0; box < numbers.count; ++box)
        if (numbers.at(box, first + 2) < numbers.at(box, first) ||
            numbers.at(box, first + 3) < numbers.at(box, first + 1))
            return false;
    return true;
}

bool areBelow(const BoxNumbers& numbers, std::int64_t first, double limit) {
    for (std::int64_t box = 0; box < numbers.count; ++box)
        for (std::int64_t i = 0; i < kCoordinates; ++i)
            if (std::abs(numbers.at(box, first + i)) > limit) return false;
    return true;
}

/// A tensor with a number for each box.
const tensor::Tensor* numbersForBoxes(const BoxNumbers& numbers, const tensor::Value& value) {
    if (!value.isTensor()) return nullptr;
    const tensor::Tensor& tensor = value.tensor();
    const bool isNumber = tensor::isFloating(tensor.dtype()) || tensor::isInteger(tensor.dtype());
    return isNumber && numbers.count > 0 && tensor.numel() == numbers.count * numbers.samples ? &tensor : nullptr;
}

/// Of boxes with nothing but corners: another output with a number for each box.
void findOutputs(const BoxNumbers& numbers, BoxReading& reading) {
    for (const auto& [name, value] : numbers.facts.outputs) {
        const tensor::Tensor* const tensor = numbersForBoxes(numbers, value);
        if (!tensor || name == numbers.facts.name) continue;
        const std::string lower = base::lowerCase(std::string_view(name));
        const bool isClass = tensor::isInteger(tensor->dtype()) || lower.find("class") != std::string::npos ||
                             lower.find("label") != std::string::npos;
        BoxSource& source = isClass ? reading.classes : reading.score;
        if (source.kind == Kind::None) source = {Kind::Output, 0, name};
    }
}

/// What the columns behind the four numbers look like.
void findColumns(const BoxNumbers& numbers, BoxReading& reading) {
    const std::int64_t next = reading.first + kCoordinates, extra = numbers.columns - next;
    if (extra <= 0) return findOutputs(numbers, reading);
    if (numbers.isTransposed) {
        reading.classes = {Kind::Columns, next, {}};
    } else if (extra == 1) {
        reading.score = {Kind::Column, next, {}};
    } else if (extra == 2) {
        const bool isSwapped = isWhole(numbers, next) && isShare(numbers, next + 1) && !isShare(numbers, next);
        reading.score = {Kind::Column, isSwapped ? next + 1 : next, {}};
        reading.classes = {Kind::Column, isSwapped ? next : next + 1, {}};
    } else {
        reading.score = {Kind::Column, next, {}};
        reading.classes = {Kind::Columns, next + 1, {}};
    }
}

base::Result<BoxSource> sourceOf(const BoxNumbers& numbers, const std::string& text, const char* what) {
    if (text == "none") return BoxSource{};
    std::string_view digits = text;
    const bool isMany = digits.ends_with('+');
    if (isMany) digits.remove_suffix(1);
    if (const auto column = base::parseNumber<std::int64_t>(digits)) {
        if (*column < 0 || *column >= numbers.columns)
            return base::usageError(std::string(what) + ": boxes have the columns 0 to " +
                                    std::to_string(numbers.columns - 1) + ", not " + std::to_string(*column));
        return BoxSource{isMany ? Kind::Columns : Kind::Column, *column, {}};
    }
    for (const auto& [name, value] : numbers.facts.outputs) {
        if (name != text) continue;
        if (!numbersForBoxes(numbers, value))
            return base::usageError(std::string(what) + ": output '" + text + "' has no number for each of the " +
                                    std::to_string(numbers.count) + " boxes");
        return BoxSource{Kind::Output, 0, text};
    }
    return base::usageError(std::string(what) + ": '" + text.substr(0, 80) + "' is neither a column nor an output", {},
                            "give a column (4), columns from one on (5+), the name of an output, or none");
}

std::string sourceText(const BoxSource& source, std::int64_t columns) {
    switch (source.kind) {
        case Kind::Column: return "column " + std::to_string(source.column);
        case Kind::Columns: return "columns " + std::to_string(source.column) + " to " + std::to_string(columns - 1);
        case Kind::Output: return "output " + source.output;
        case Kind::None: break;
    }
    return "none";
}

}  // namespace

bool isShare(const BoxNumbers& numbers, std::int64_t column) {
    for (std::int64_t box = 0; box < numbers.count; ++box)
        if (const double value = numbers.at(box, column); !(value >= 0 && value <= 1.001)) return false;
    return true;
}

std::optional<BoxNumbers> boxNumbers(const Facts& facts, std::optional<bool> isTransposed, std::int64_t sample) {
    if (facts.rank() != 2 && facts.rank() != 3) return std::nullopt;
    const std::int64_t rows = facts.dim(-2), columns = facts.dim(-1);
    BoxNumbers numbers{facts};
    numbers.isTransposed = isTransposed.value_or(rows >= kCoordinates && rows < columns && columns >= kMinTransposed);
    numbers.samples = facts.rank() == 3 ? facts.tensor.dim(0) : 1;
    numbers.count = numbers.isTransposed ? columns : rows;
    numbers.columns = numbers.isTransposed ? rows : columns;
    if (numbers.columns < kCoordinates || numbers.samples < 1) return std::nullopt;
    numbers.sample = std::min(std::max<std::int64_t>(sample, 0), numbers.samples - 1);
    return numbers;
}

base::Result<BoxReading> readingOf(const BoxNumbers& numbers, const BoxLayout& layout) {
    BoxReading reading;
    reading.first = layout.first;
    if (reading.first + kCoordinates > numbers.columns)
        return base::usageError("first: boxes have " + std::to_string(numbers.columns) +
                                " columns, of which four from " + std::to_string(layout.first) + " on are needed");
    constexpr double kMaxNormalised = 1.5;
    reading.isNormalised = layout.isNormalised.value_or(areBelow(numbers, reading.first, kMaxNormalised));
    reading.corners = layout.corners != Corners::Found            ? layout.corners
                      : areCornersInOrder(numbers, reading.first) ? Corners::XyXy
                                                                  : Corners::CxCyWh;
    findColumns(numbers, reading);
    if (!layout.score.empty()) {
        SONDE_ASSIGN(reading.score, sourceOf(numbers, layout.score, "score"));
        if (reading.score.kind == Kind::Columns) return base::usageError("score: one column, not several");
    }
    if (!layout.classes.empty()) {
        SONDE_ASSIGN(reading.classes, sourceOf(numbers, layout.classes, "class"));
    }
    return reading;
}

std::string BoxReading::text(const BoxNumbers& numbers) const {
    std::string text(name(corners));
    text += isNormalised ? ", normalised" : ", pixels";
    if (numbers.isTransposed) text += ", transposed";
    if (first > 0) text += ", from column " + std::to_string(first);
    text +=
        ", score: " + (score.kind == Kind::None && classes.kind == Kind::Columns ? std::string("of the class")
                                                                                 : sourceText(score, numbers.columns));
    return text + ", class: " + sourceText(classes, numbers.columns);
}

}  // namespace sonde::session::outputs
