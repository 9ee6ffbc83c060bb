#include "core/nn/module.h"

#include <algorithm>
#include <optional>

namespace sonde::nn {

namespace {

Tensor made(base::Result<Tensor> result) {
    if (!result) throw trace::TraceError(trace::TraceErrorKind::Runtime, result.error().text());
    return std::move(*result);
}

}  // namespace

Tensor deferred(const tensor::Shape& shape, std::function<void(std::span<float>)> fill) {
    const std::optional<std::int64_t> count = shape.checkedNumel();
    const auto numel = static_cast<std::size_t>(count.value_or(0));
    if (!count || numel > tensor::memoryLimit() / sizeof(float))
        return made(Tensor::allocate(tensor::DType::Float32, shape));
    std::function<void(std::byte*)> fillBytes;
    if (fill) {
        fillBytes = [fill = std::move(fill), numel](std::byte* bytes) {
            fill({reinterpret_cast<float*>(bytes), numel});
        };
    }
    auto storage = tensor::Storage::deferred(numel * sizeof(float), std::move(fillBytes));
    if (!storage) throw trace::TraceError(trace::TraceErrorKind::Runtime, storage.error().text());
    return Tensor::onStorage(tensor::DType::Float32, shape, std::move(*storage));
}

Tensor zeros(const tensor::Shape& shape) {
    // Address space alone: the weights of a large model may be replaced, or never be read.
    if (shape.checkedNumel().value_or(0) >= kDeferredNumel) return deferred(shape, {});
    return made(Tensor::zeros(tensor::DType::Float32, shape));
}

Tensor ones(const tensor::Shape& shape) {
    Tensor tensor = made(Tensor::allocate(tensor::DType::Float32, shape));
    std::ranges::fill(tensor.mutableSpan<float>(), 1.0F);
    return tensor;
}

Ints repeated(std::int64_t value, std::size_t n) { return Ints(n, value); }

}  // namespace sonde::nn
