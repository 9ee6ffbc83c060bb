#include "core/tensor/complex_pairs.h"

namespace sonde::tensor {

Tensor pairsOf(const Tensor& complex) {
    Shape shape = complex.shape();
    std::vector<std::int64_t> strides;
    for (const std::int64_t stride : complex.strides()) strides.push_back(2 * stride);
    shape.push_back(2);
    strides.push_back(1);
    return Tensor::onStorage(realOf(complex.dtype()), shape, strides, complex.storage(), 2 * complex.offsetElements());
}

base::Result<Tensor> complexOf(const Tensor& pairs) {
    const bool isReal = pairs.dtype() == DType::Float32 || pairs.dtype() == DType::Float64;
    if (pairs.rank() == 0 || pairs.dim(pairs.rank() - 1) != 2 || !isReal)
        return base::runError("expected pairs of real numbers, not " + pairs.typeText());
    SONDE_ASSIGN(Tensor x, pairs.contiguous());
    if (x.offsetElements() % 2 != 0) {
        SONDE_ASSIGN(x, x.clone());
    }
    const Shape shape(std::vector<std::int64_t>(x.shape().begin(), x.shape().end() - 1));
    return Tensor::onStorage(complexOf(x.dtype()), shape, shape.contiguousStrides(), x.storage(),
                             x.offsetElements() / 2);
}

}  // namespace sonde::tensor
