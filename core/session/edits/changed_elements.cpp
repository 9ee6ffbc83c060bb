#include "core/session/edits/changed_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "core/base/number_text.h"
#include "core/base/random.h"
#include "core/tensor/dispatch.h"
#include "core/tensor/exact_cast.h"

namespace sonde::session {

using tensor::DType;
using tensor::Tensor;
using tensor::Value;

namespace {

template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

base::Error noArithmetic(const Edit& edit, const Tensor& tensor) {
    const std::string of = edit.kind == Edit::Kind::Noise ? "floating-point numbers" : "numbers";
    return base::usageError(std::string(name(edit.kind)) + " is for " + of + ", but the value is " + tensor.typeText(),
                            {}, "set it: NODE = EXPRESSION, or zero");
}

base::Result<Tensor> scaled(const Edit& edit, Tensor elements) {
    const bool isFloat = tensor::dispatchFloating(elements.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto factor = static_cast<Computed<T>>(T(static_cast<Computed<T>>(edit.number)));
        for (T& x : elements.mutableSpan<T>()) x = T(static_cast<Computed<T>>(x) * factor);
    });
    if (isFloat) return elements;
    if (!tensor::isInteger(elements.dtype())) return noArithmetic(edit, elements);
    if (edit.number != std::nearbyint(edit.number) || std::abs(edit.number) > 0x1p53)
        return base::usageError("a factor of " + base::shortestText(edit.number) + " does not keep " +
                                elements.typeText() + " integers");
    std::optional<std::int64_t> beyond;
    tensor::dispatchIntegers(elements.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const auto factor = static_cast<std::int64_t>(edit.number);
        const std::span<T> all = elements.mutableSpan<T>();
        for (std::size_t i = 0; i < all.size() && !beyond; ++i) {
            T product{};
            if (__builtin_mul_overflow(all[i], factor, &product)) beyond = static_cast<std::int64_t>(i);
            else all[i] = product;
        }
    });
    if (beyond)
        return base::usageError("element " + std::to_string(*beyond) + " of the value, " +
                                    elements.elementText(*beyond) + ", times " + base::shortestText(edit.number) +
                                    " is " + tensor::lossText(tensor::Loss::Range, elements.dtype()),
                                {}, "scale less, or the float value that it is made of");
    return elements;
}

base::Result<Tensor> noisy(const Edit& edit, Tensor elements) {
    base::Random random(edit.seed);
    const bool isFloat = tensor::dispatchFloating(elements.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (T& x : elements.mutableSpan<T>()) {
            const auto noise = T(static_cast<Computed<T>>(edit.number * random.normal()));
            x = T(static_cast<Computed<T>>(x) + static_cast<Computed<T>>(noise));
        }
    });
    if (!isFloat) return noArithmetic(edit, elements);
    return elements;
}

/// An axis that is divided into parts: how often it comes, and the bytes of one part.
struct Parts {
    std::size_t outer = 1, count = 0, bytes = 0;
};

base::Result<Parts> partsOf(const Edit& edit, const Tensor& elements) {
    const auto axis = tensor::normalizedAxis(edit.axis, elements.rank());
    if (!axis)
        return base::usageError("axis " + std::to_string(edit.axis) + " is out of bounds for " + elements.typeText());
    const std::int64_t size = elements.dim(*axis), count = edit.parts > 0 ? edit.parts : size;
    if (count <= 0 || size % count != 0)
        return base::usageError("axis " + std::to_string(edit.axis) + " of " + elements.typeText() +
                                " cannot be divided into " + std::to_string(edit.parts) + " equal parts");
    for (const std::int64_t index : edit.indices)
        if (index < 0 || index >= count)
            return base::usageError("index " + std::to_string(index) + " is out of bounds for axis " +
                                    std::to_string(edit.axis) + " of " + elements.typeText() +
                                    (edit.parts > 0 ? " in " + std::to_string(count) + " parts" : ""));
    Parts parts;
    parts.count = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < *axis; ++i) parts.outer *= static_cast<std::size_t>(elements.dim(i));
    parts.bytes = elements.numel() == 0 ? 0 : elements.sizeBytes() / parts.outer / parts.count;
    return parts;
}

base::Result<Tensor> rearranged(const Edit& edit, Tensor elements) {
    if (edit.kind == Edit::Kind::Swap && edit.indices.size() != 2)
        return base::usageError("swap takes two indices, not " + std::to_string(edit.indices.size()));
    if (edit.indices.empty()) return base::usageError("remove takes an index");
    SONDE_ASSIGN(const Parts parts, partsOf(edit, elements));
    if (parts.bytes == 0) return elements;
    std::byte* const first = elements.mutableBytes();
    for (std::size_t i = 0; i < parts.outer; ++i) {
        const auto part = [&](std::int64_t index) {
            return first + (i * parts.count + static_cast<std::size_t>(index)) * parts.bytes;
        };
        if (edit.kind == Edit::Kind::Swap && edit.indices[0] != edit.indices[1])
            std::swap_ranges(part(edit.indices[0]), part(edit.indices[0]) + parts.bytes, part(edit.indices[1]));
        if (edit.kind == Edit::Kind::Remove)
            for (const std::int64_t index : edit.indices) std::memset(part(index), 0, parts.bytes);
    }
    return elements;
}

}  // namespace

base::Result<Tensor> fittingElements(const Tensor& elements, DType dtype, const tensor::Shape& shape) {
    // Leading axes of size 1 may be more than there are.
    Tensor fitting = elements;
    while (fitting.rank() > shape.rank() && fitting.dim(0) == 1) fitting = fitting.selected(0, 0);
    auto expanded = fitting.expanded(shape);
    if (!expanded)
        return base::usageError(elements.typeText() + " cannot be broadcast to the slice, " +
                                std::string(tensor::name(dtype)) + shape.text());
    const auto isNumber = [](DType type) { return type != DType::String && !tensor::isComplex(type); };
    const bool isWider = tensor::isComplex(dtype) && isNumber(elements.dtype());
    if (isNumber(dtype) != isNumber(elements.dtype()) && !isWider)
        return base::usageError(elements.typeText() + " does not fit into " + std::string(tensor::name(dtype)));
    SONDE_ASSIGN(const Tensor narrow, fitting.contiguous());
    SONDE_ASSIGN(const Tensor converted, narrow.cast(dtype));
    if (isNumber(dtype) && dtype != narrow.dtype()) {
        const auto lost = tensor::firstLost(narrow, converted);
        if (lost && lost->loss != tensor::Loss::Precision)
            return base::usageError("element " + std::to_string(lost->index) + " of the value, " +
                                    narrow.elementText(lost->index) + ", is " + tensor::lossText(lost->loss, dtype));
    }
    SONDE_ASSIGN(const Tensor wide, converted.expanded(shape));
    return wide.contiguous();
}

base::Result<Tensor> changedElements(const Edit& edit, Tensor elements) {
    switch (edit.kind) {
        case Edit::Kind::Zero:
            if (elements.numel() > 0) std::memset(elements.mutableBytes(), 0, elements.sizeBytes());
            return elements;
        case Edit::Kind::Noise: return noisy(edit, std::move(elements));
        case Edit::Kind::Scale: return scaled(edit, std::move(elements));
        case Edit::Kind::Swap:
        case Edit::Kind::Remove: return rearranged(edit, std::move(elements));
        case Edit::Kind::Expression:
        case Edit::Kind::File: break;
    }
    return base::usageError("nothing to change");
}

base::Result<Value> changedNumber(const Value& value, const Tensor& element) {
    if (element.numel() != 1 || element.dtype() == DType::String || tensor::isComplex(element.dtype()))
        return base::usageError(element.typeText() + " is no " + std::string(name(value.kind())));
    const DType dtype = value.kind() == tensor::ValueKind::Int    ? DType::Int64
                        : value.kind() == tensor::ValueKind::Bool ? DType::Bool
                                                                  : DType::Float64;
    SONDE_ASSIGN(const Tensor one, fittingElements(element, dtype, {}));
    if (dtype == DType::Int64) return Value::ofInt(one.toInt64(0));
    if (dtype == DType::Bool) return Value::ofBool(one.toDouble(0) != 0);
    return Value::ofFloat(one.toDouble(0));
}

}  // namespace sonde::session
