#include "core/session/diff/stored_tensors.h"

#include <cstring>

namespace sonde::session::diff {

using tensor::Tensor;

StoredMemory memoryOf(const Tensor& tensor) {
    return {tensor.storage().get(), tensor.offsetElements(), tensor.dtype(), tensor.numel()};
}

bool areEqual(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
    if (a.dtype() == tensor::DType::String) return tensor::identical(a, b);
    const auto one = a.contiguous(), other = b.contiguous();
    const auto bytes = static_cast<std::size_t>(a.numel()) * tensor::itemSize(a.dtype());
    return one && other && (bytes == 0 || std::memcmp(one->bytes(), other->bytes(), bytes) == 0);
}

}  // namespace sonde::session::diff
