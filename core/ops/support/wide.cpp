#include "core/ops/support/wide.h"

namespace sonde::ops {

base::Result<Tensor> wide(const Tensor& tensor) {
    SONDE_ASSIGN(const Tensor packed, tensor.contiguous());
    return packed.cast(DType::Float64);
}

base::Result<Tensor> wideZeros(const Shape& shape) { return Tensor::zeros(DType::Float64, shape); }

namespace {

template <typename Output>
base::Result<void> setNarrowAt(KernelContext& context, Output output, const Tensor& wide, DType dtype) {
    if (!context.wants(output)) return {};
    SONDE_ASSIGN(Tensor narrow, wide.cast(dtype));
    context.setOutput(output, Value(std::move(narrow)));
    return {};
}

}  // namespace

base::Result<void> setNarrow(KernelContext& context, std::size_t output, const Tensor& wide, DType dtype) {
    return setNarrowAt(context, output, wide, dtype);
}

base::Result<void> setNarrow(KernelContext& context, Name output, const Tensor& wide, DType dtype) {
    return setNarrowAt(context, output, wide, dtype);
}

std::vector<std::int64_t> broadcastStrides(const Shape& own, const Shape& full) {
    std::vector<std::int64_t> strides(full.rank(), 0);
    const std::vector<std::int64_t> steps = own.contiguousStrides();
    const std::size_t lead = full.rank() - own.rank();
    for (std::size_t i = 0; i < own.rank(); ++i) strides[lead + i] = own[i] == 1 ? 0 : steps[i];
    return strides;
}

}  // namespace sonde::ops
