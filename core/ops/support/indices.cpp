#include "core/ops/support/indices.h"

#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

base::Result<void> checkWithin(const tensor::Tensor& indices, std::int64_t least, std::int64_t size) {
    if (!tensor::isInteger(indices.dtype())) return opError("indices are " + indices.typeText() + ", and not integers");
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
        const std::int64_t index = indices.toInt64(i);
        if (index >= least && index < size) continue;
        return opError("index out of range in self: element " + std::to_string(i) + " is " + std::to_string(index) +
                       ", and there are " + std::to_string(size) + " rows");
    }
    return {};
}

}  // namespace

base::Result<void> checkFromStart(const tensor::Tensor& indices, std::int64_t size) {
    return checkWithin(indices, 0, size);
}

base::Result<tensor::Tensor> countedFromStart(const tensor::Tensor& indices, std::int64_t size) {
    SONDE_TRY(checkWithin(indices, -size, size));
    SONDE_ASSIGN(tensor::Tensor from, tensor::Tensor::allocate(tensor::DType::Int64, indices.shape()));
    std::int64_t* at = from.mutableData<std::int64_t>();
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
        const std::int64_t index = indices.toInt64(i);
        at[i] = index < 0 ? index + size : index;
    }
    return from;
}

}  // namespace sonde::ops
