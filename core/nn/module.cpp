#include "core/nn/module.h"

#include <algorithm>

namespace sonde::nn {

namespace {

Tensor made(base::Result<Tensor> result) {
    if (!result) throw trace::TraceError(trace::TraceErrorKind::Runtime, result.error().text());
    return std::move(*result);
}

}  // namespace

Tensor zeros(const tensor::Shape& shape) { return made(Tensor::zeros(tensor::DType::Float32, shape)); }

Tensor ones(const tensor::Shape& shape) {
    Tensor tensor = made(Tensor::allocate(tensor::DType::Float32, shape));
    std::ranges::fill(tensor.mutableSpan<float>(), 1.0F);
    return tensor;
}

Ints repeated(std::int64_t value, std::size_t n) { return Ints(n, value); }

}  // namespace sonde::nn
