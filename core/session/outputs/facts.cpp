#include "core/session/outputs/facts.h"

#include <algorithm>

#include "core/base/unicode.h"

namespace sonde::session::outputs {

namespace {

constexpr std::int64_t kMinSide = 8, kMinSignal = 256;

bool isChannelCount(std::int64_t count) { return count == 1 || count == 3 || count == 4; }

}  // namespace

std::optional<PictureShape> pictureShape(const tensor::Shape& shape) {
    if (shape.rank() != 3 && shape.rank() != 4) return std::nullopt;
    const std::size_t at = shape.rank() - 3;
    PictureShape found;
    found.hasCount = at == 1;
    found.count = found.hasCount ? shape[0] : 1;
    if (isChannelCount(shape[at]) && shape[at + 1] >= kMinSide && shape[at + 2] >= kMinSide) {
        found.channels = shape[at], found.height = shape[at + 1], found.width = shape[at + 2];
    } else if (isChannelCount(shape[at + 2]) && shape[at] >= kMinSide && shape[at + 1] >= kMinSide) {
        found.channels = shape[at + 2], found.height = shape[at], found.width = shape[at + 1];
        found.isChannelsFirst = false;
    } else {
        return std::nullopt;
    }
    return found.count > 0 ? std::optional(found) : std::nullopt;
}

std::int64_t Facts::dim(int axis) const {
    const std::ptrdiff_t at = axis < 0 ? static_cast<std::ptrdiff_t>(tensor.rank()) + axis : axis;
    return at >= 0 && at < static_cast<std::ptrdiff_t>(tensor.rank()) ? tensor.dim(static_cast<std::size_t>(at)) : 0;
}

bool Facts::isWithin(double low, double high) const {
    return stats.count > 0 && stats.finiteCount() == stats.count && stats.minimum >= low && stats.maximum <= high;
}

bool Facts::isNamed(std::initializer_list<std::string_view> words) const {
    const std::string lower = base::lowerCase(std::string_view(name));
    return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::int64_t Facts::batch() const {
    for (const InputFact& input : inputs)
        if (input.tensor.defined() && input.tensor.rank() > 0) return input.tensor.dim(0);
    return 1;
}

const InputFact* Facts::pictureInput() const {
    for (const InputFact& input : inputs) {
        const tensor::Tensor& each = input.tensor;
        if (!each.defined() || each.numel() == 0) continue;
        if ((tensor::isFloating(each.dtype()) || tensor::isInteger(each.dtype())) && pictureShape(each.shape()))
            return &input;
    }
    return nullptr;
}

const InputFact* Facts::tokenInput() const {
    for (const InputFact& input : inputs) {
        const tensor::Tensor& each = input.tensor;
        if (each.defined() && tensor::isInteger(each.dtype()) && each.rank() >= 1 && each.rank() <= 2) return &input;
    }
    return nullptr;
}

const InputFact* Facts::signalInput() const {
    for (const InputFact& input : inputs) {
        const tensor::Tensor& each = input.tensor;
        if (!each.defined() || !tensor::isFloating(each.dtype()) || each.rank() < 1 || each.rank() > 3) continue;
        const std::int64_t length = each.dim(each.rank() - 1);
        if (length >= kMinSignal && each.numel() == length) return &input;
    }
    return nullptr;
}

std::optional<std::int64_t> rowLength(const tensor::Shape& shape) {
    if (shape.rank() == 0) return std::nullopt;
    if (shape.rank() == 1) return shape[0];
    for (std::size_t i = 2; i < shape.rank(); ++i)
        if (shape[i] != 1) return std::nullopt;
    return shape[1];
}

}  // namespace sonde::session::outputs
