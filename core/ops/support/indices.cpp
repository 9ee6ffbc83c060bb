#include "core/ops/support/indices.h"

#include "core/ops/support/shapes.h"

namespace sonde::ops {

base::Result<void> checkFromStart(const tensor::Tensor& indices, std::int64_t size) {
    if (!tensor::isInteger(indices.dtype())) return opError("indices are " + indices.typeText() + ", and not integers");
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
        const std::int64_t index = indices.toInt64(i);
        if (index < 0 || index >= size) {
            return opError("index out of range in self: element " + std::to_string(i) + " is " + std::to_string(index) +
                           ", and there are " + std::to_string(size) + " rows");
        }
    }
    return {};
}

}  // namespace sonde::ops
