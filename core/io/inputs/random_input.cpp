#include "core/io/inputs/random_input.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/number_text.h"
#include "core/base/random.h"
#include "core/io/inputs/agreement.h"
#include "core/tensor/cast.h"
#include "core/tensor/exact_cast.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

constexpr std::string_view kNumberLetters = "-0123456789.";
constexpr std::string_view kSizedZeros = "#zeros(";
constexpr double kMaxDouble = std::numeric_limits<double>::max();

base::Error badSpec(std::string_view item, std::string_view part = {}) {
    std::string what = "bad #rand specification";
    if (!part.empty()) what += ": '" + std::string(part) + "'";
    return usageError(
        what, std::string(item),
        "write #rand(min,max) or #rand(min,max,1,3,...); min and max of digits and a point, as 0.001 for 1e-3");
}

base::Error badZeros(std::string_view item, std::string_view part = {}) {
    std::string what = "bad #zeros specification";
    if (!part.empty()) what += ": '" + std::string(part) + "'";
    return usageError(what, std::string(item), "write #zeros, #zeros(1,3,224,224) or #zeros(1,3,...)");
}

std::string_view withoutSpaces(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::optional<double> limitOf(std::string_view text) {
    if (text.empty() || text.find_first_not_of(kNumberLetters) != std::string_view::npos) return std::nullopt;
    return base::parseNumber<double>(text);
}

/// Numbers that are made are held against what is declared too, but need no conversion.
Result<void> checkShape(DType dtype, const Shape& shape, const InputInfo& input, std::string_view item) {
    if (!input.required) {
        if (!input.type.shape || input.isGuide || shape.rank() == input.type.shape->size()) return {};
        return usageError("input/data shapes mismatch: the data is " + TypeInfo::tensor(dtype, shape).text() +
                              ", the input " + input.type.text(),
                          "input '" + input.name + "'");
    }
    if (auto error = contradiction(input, TypeInfo::tensor(dtype, shape))) return error->at(std::string(item));
    return {};
}

/// The smallest and the largest number of some; first > last: there are none.
struct Numbers {
    double first;
    double last;
};

/// Those of a float dtype of at most 16 bits in [low, high]. They may be far apart, so all of them are looked at.
Numbers narrowNumbers(DType dtype, double low, double high) {
    Numbers found{kMaxDouble, -kMaxDouble};
    const std::size_t bits = 8 * tensor::itemSize(dtype);
    for (std::uint32_t pattern = 0; pattern < std::uint32_t{1} << bits; ++pattern) {
        double number = 0;
        const auto byte = static_cast<std::uint8_t>(pattern);
        const auto word = static_cast<std::uint16_t>(pattern);
        tensor::castElements(dtype, bits == 8 ? static_cast<const void*>(&byte) : &word, DType::Float64, &number, 1);
        if (number >= low && number <= high) found = {std::min(found.first, number), std::max(found.last, number)};
    }
    return found;
}

bool isNarrowFloat(DType dtype) { return tensor::isFloating(dtype) && tensor::itemSize(dtype) <= 2; }

/// Everything that a dtype holds; of 64 bits what a double holds of it.
Numbers rangeOf(DType dtype) {
    if (dtype == DType::Bool) return {0, 1};
    if (tensor::isInteger(dtype)) {
        const int bits = static_cast<int>(tensor::bitsInFile(dtype)) - (tensor::isSigned(dtype) ? 1 : 0);
        const double end = std::ldexp(1, bits);
        return {tensor::isSigned(dtype) ? -end : 0, std::floor(std::nextafter(end, 0))};
    }
    if (isNarrowFloat(dtype)) return narrowNumbers(dtype, -kMaxDouble, kMaxDouble);
    const bool isSingle = dtype == DType::Float32 || dtype == DType::Complex64;
    const double largest = isSingle ? static_cast<double>(std::numeric_limits<float>::max()) : kMaxDouble;
    return {-largest, largest};
}

/// Those of a dtype in the interval.
Numbers numbersIn(const RandSpec& spec, DType dtype) {
    const bool isOne = spec.low == spec.high;
    const double low = spec.low, high = isOne ? spec.high : std::nextafter(spec.high, -kMaxDouble);  // inclusive
    if (dtype == DType::Bool) return {std::ceil(low), spec.high <= 1 ? std::floor(spec.high) : std::floor(high)};
    if (tensor::isInteger(dtype)) return {std::ceil(low), std::floor(high)};
    // One number is rounded, as one that is written as text.
    if (isOne || !tensor::isFloating(dtype) || dtype == DType::Float64) return {low, high};
    if (isNarrowFloat(dtype)) return narrowNumbers(dtype, low, high);
    constexpr float kMaxFloat = std::numeric_limits<float>::max();
    const auto first = static_cast<float>(low), last = static_cast<float>(high);
    return {first < low ? std::nextafter(first, kMaxFloat) : first,
            last > high ? std::nextafter(last, -kMaxFloat) : last};
}

Result<void> checkNumbers(const RandSpec& spec, const Numbers& numbers, DType dtype, const InputInfo& input,
                          std::string_view item) {
    const std::string dtypeName(tensor::name(dtype));
    const bool isWhole = dtype == DType::Bool || tensor::isInteger(dtype);
    const Numbers range = rangeOf(dtype);
    const Numbers ends = isWhole ? numbers : Numbers{spec.low, spec.high};
    for (const double end : {ends.first, ends.last}) {
        if (end >= std::min(range.first, 0.0) && end <= range.last) continue;
        return unexpectedValue(input, std::string(item),
                               base::exactText(end) + " is " + lossText(tensor::Loss::Range, dtype))
            .withHint("choose min and max within the range of " + dtypeName);
    }
    if (numbers.first <= numbers.last) return {};
    return unexpectedValue(input, std::string(item), "no " + dtypeName + " is in this interval")
        .withHint("choose a wider interval");
}

/// One draw of the interval, `uniform` being in [0, 1).
double drawn(const RandSpec& spec, const Numbers& numbers, DType dtype, double uniform) {
    if (dtype == DType::Bool) return uniform < 0.5 ? numbers.first : numbers.last;
    const double width = spec.high - spec.low;
    const double number =
        std::isfinite(width) ? spec.low + width * uniform : spec.low * (1 - uniform) + spec.high * uniform;
    return tensor::isInteger(dtype) ? std::clamp(std::trunc(number), numbers.first, numbers.last) : number;
}

/// Rounding may reach max itself, or what is below min.
Result<Tensor> rounded(const Tensor& draws, const Numbers& numbers, DType dtype) {
    SONDE_ASSIGN(const Tensor once, draws.cast(dtype));
    SONDE_ASSIGN(Tensor inside, once.cast(DType::Float64));
    for (double& element : inside.mutableSpan<double>()) element = std::clamp(element, numbers.first, numbers.last);
    return inside.cast(dtype);
}

std::vector<std::string_view> partsOf(std::string_view list) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t comma = list.find(',');
        parts.push_back(list.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        list.remove_prefix(comma + 1);
    }
}

/// Sizes of dimensions, from a part on; null: all of them are. The part that is none.
const std::string_view* takeSizes(const std::vector<std::string_view>& parts, std::size_t from, RandSpec& spec) {
    spec.hasShape = parts.size() > from;
    for (std::size_t i = from; i < parts.size(); ++i) {
        const std::string_view part = withoutSpaces(parts[i]);
        if (part == "..." && i + 1 == parts.size()) {
            spec.continues = true;
            break;
        }
        const auto dimSize = base::parseNumber<std::int64_t>(part);
        if (!dimSize || *dimSize < 0) return &parts[i];
        spec.shape.push_back(*dimSize);
    }
    return nullptr;
}

/// "#zeros(1,3,...)".
Result<RandSpec> parseZeros(std::string_view item) {
    if (!item.ends_with(')')) return badZeros(item);
    RandSpec spec;
    spec.high = 0;
    const std::size_t begin = kSizedZeros.size();
    const std::vector<std::string_view> parts = partsOf(item.substr(begin, item.size() - begin - 1));
    if (const std::string_view* bad = takeSizes(parts, 0, spec)) return badZeros(item, *bad);
    return spec;
}

}  // namespace

/// input-data.md, "Grammar": no blank after the bracket, numbers without exponent, integers as dim sizes.
Result<RandSpec> parseRand(std::string_view item) {
    if (item.starts_with(kSizedZeros)) return parseZeros(item);
    if (!item.starts_with("#rand")) {
        return usageError("unknown specification", std::string(item),
                          "#rand(min,max), #rand(min,max,1,3,...) or #zeros; else the name of a file");
    }
    if (!item.starts_with("#rand(") || !item.ends_with(')')) return badSpec(item);
    const std::vector<std::string_view> parts = partsOf(item.substr(6, item.size() - 7));
    if (parts.size() < 2 || parts[0].starts_with(' ')) return badSpec(item, parts[0]);
    RandSpec spec;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::optional<double> number = limitOf(withoutSpaces(parts[i]));
        if (!number) return badSpec(item, parts[i]);
        (i == 0 ? spec.low : spec.high) = *number;
    }
    if (spec.low > spec.high)
        return usageError(
            "min " + std::string(withoutSpaces(parts[0])) + " is above max " + std::string(withoutSpaces(parts[1])),
            std::string(item), "write #rand(min,max)");
    if (const std::string_view* bad = takeSizes(parts, 2, spec)) return badSpec(item, *bad);
    return spec;
}

Result<Value> randomValue(std::string_view item, const InputInfo& input, std::size_t index, std::uint64_t seed) {
    SONDE_ASSIGN(const RandSpec spec, parseRand(item));
    Shape shape = usualShape(input.type, input.usual);
    if (spec.hasShape) {
        std::vector<std::int64_t> dims = spec.shape;
        if (spec.continues) {
            for (std::size_t axis = dims.size(); axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
        }
        shape = Shape(std::move(dims));
    }
    const DType dtype = input.type.dtype == DType::Undefined ? DType::Float32 : input.type.dtype;
    auto draws = Tensor::allocate(DType::Float64, shape);
    if (!draws)
        return usageError(
            "numbers for " + TypeInfo::tensor(dtype, shape).text() + " are drawn as float64: " + draws.error().what,
            "input '" + input.name + "'");
    SONDE_TRY(checkShape(dtype, shape, input, item));
    const Numbers numbers = numbersIn(spec, dtype);
    SONDE_TRY(checkNumbers(spec, numbers, dtype, input, item));
    base::Random random(base::mixBits(seed) ^ base::mixBits(index + 1));
    for (double& element : draws->mutableSpan<double>()) element = drawn(spec, numbers, dtype, random.uniform());
    const bool isRounded = tensor::isFloating(dtype) && spec.low < spec.high;
    SONDE_ASSIGN(Tensor result, isRounded ? rounded(*draws, numbers, dtype) : draws->cast(dtype));
    return Value(std::move(result));
}

}  // namespace sonde::io
