#include "core/io/inputs/noise.h"

#include <cmath>
#include <filesystem>

#include "core/base/number_text.h"
#include "core/base/random.h"
#include "core/io/inputs/text_item.h"
#include "core/tensor/exact_cast.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Tensor;
using tensor::Value;

constexpr std::string_view kNoiseBegin = "+noise(";

base::Error badNoise(std::string_view noise) {
    return usageError("bad +noise specification", std::string(noise),
                      "write +noise(AMPLITUDE) or +noise(AMPLITUDE,SEED), as in photo.png+noise(0.1,7)");
}

}  // namespace

std::string_view withoutNoise(std::string_view item) {
    const std::size_t begin = item.rfind(kNoiseBegin);
    if (begin == std::string_view::npos || begin == 0 || !item.ends_with(')') || isTextItem(item)) return item;
    std::error_code ignored;
    return std::filesystem::exists(item, ignored) ? item : item.substr(0, begin);
}

Result<std::optional<Noise>> noiseOf(std::string_view item) {
    const std::string_view plain = withoutNoise(item);
    if (plain.size() == item.size()) return std::optional<Noise>();
    const std::string_view whole = item.substr(plain.size());
    const std::string_view inside = whole.substr(kNoiseBegin.size(), whole.size() - kNoiseBegin.size() - 1);
    const std::size_t comma = inside.find(',');
    const auto amplitude = base::parseNumber<double>(inside.substr(0, comma));
    if (!amplitude || !(*amplitude >= 0) || !std::isfinite(*amplitude)) return badNoise(whole);
    Noise noise{*amplitude, 0};
    if (comma != std::string_view::npos) {
        const auto seed = base::parseNumber<std::uint64_t>(inside.substr(comma + 1));
        if (!seed) return badNoise(whole);
        noise.seed = *seed;
    }
    return std::optional(noise);
}

std::string withNoise(std::string_view item, const Noise& noise) {
    std::string text(withoutNoise(item));
    if (noise.amplitude == 0 || text.empty()) return text;
    text += std::string(kNoiseBegin) + base::exactText(noise.amplitude);
    if (noise.seed != 0) text += ',' + std::to_string(noise.seed);
    return text + ')';
}

bool takesNoise(const tensor::TypeInfo& type) {
    if (type.kind && !type.isTensor()) return type.kind == tensor::ValueKind::Float;
    return type.dtype == DType::Undefined || tensor::isFloating(type.dtype);
}

Result<Value> addNoise(const Value& value, const Noise& noise, const InputInfo& input, std::size_t index) {
    base::Random random(base::mixBits(noise.seed) ^ base::mixBits(index + 1));
    const auto next = [&] { return noise.amplitude * (2 * random.uniform() - 1); };
    if (value.kind() == tensor::ValueKind::Float) return Value::ofFloat(value.toFloat() + next());
    if (!value.isTensor() || !tensor::isFloating(value.tensor().dtype()))
        return usageError("noise is added to floats only, and the value is " + value.typeText(),
                          "input '" + input.name + "'", "leave out +noise(...)");
    SONDE_ASSIGN(const Tensor plain, value.tensor().cast(DType::Float64));
    SONDE_ASSIGN(Tensor noisy, Tensor::allocate(DType::Float64, plain.shape()));
    const std::span<double> to = noisy.mutableSpan<double>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = plain.toDouble(static_cast<std::int64_t>(i)) + next();
    SONDE_ASSIGN(Tensor made, noisy.cast(value.tensor().dtype()));
    if (const auto lost = tensor::firstLost(noisy, made))
        return usageError("with the noise element " + std::to_string(lost->index) + " is " +
                              noisy.elementText(lost->index) + ", " + tensor::lossText(lost->loss, made.dtype()),
                          "input '" + input.name + "'", "give +noise(...) a smaller amplitude");
    return Value(std::move(made));
}

}  // namespace sonde::io
