#include "core/expression/workspace.h"

#include <algorithm>

#include "core/expression/syntax.h"

namespace sonde::expression {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

void Workspace::checkStop() const {
    if (m_work.cancelled()) throw Cancelled{};
}

void Workspace::checkRoom(DType dtype, const Shape& shape) {
    const auto count = shape.checkedNumel();
    if (!count || *count > m_limits.elements) throw Problem{"an array of shape " + shape.text() + " is too large"};
    std::erase_if(m_made, [](const auto& each) { return each.expired(); });
    std::size_t bytes = static_cast<std::size_t>(*count) * tensor::itemSize(dtype);
    for (const auto& each : m_made)
        if (const auto storage = each.lock()) bytes += storage->sizeBytes();
    if (bytes > m_limits.bytes)
        throw Problem{"the arrays of the expression take more than " + std::to_string(m_limits.bytes >> 20) + " MiB"};
}

Tensor Workspace::kept(base::Result<Tensor> made) {
    if (!made) throw Problem{made.error().what, made.error().hint};
    m_made.emplace_back(made->storage());
    return std::move(*made);
}

Tensor Workspace::allocate(DType dtype, const Shape& shape) {
    checkRoom(dtype, shape);
    return kept(Tensor::allocate(dtype, shape));
}

Tensor Workspace::cast(const Tensor& tensor, DType dtype) {
    if (tensor.dtype() == dtype) return tensor;
    checkRoom(dtype, tensor.shape());
    return kept(tensor.cast(dtype));
}

Tensor Workspace::contiguous(const Tensor& tensor) {
    if (tensor.isContiguous()) return tensor;
    checkRoom(tensor.dtype(), tensor.shape());
    return kept(tensor.contiguous());
}

Tensor Workspace::broadcast(const Tensor& tensor, const Shape& shape) {
    if (tensor.shape() == shape) return contiguous(tensor);
    base::Result<Tensor> expanded = tensor.expanded(shape);
    if (!expanded) throw Problem{expanded.error().what};
    return contiguous(*expanded);
}

Tensor Workspace::reshape(const Tensor& tensor, const Shape& shape) {
    base::Result<Tensor> reshaped = contiguous(tensor).reshaped(shape);
    if (!reshaped) throw Problem{reshaped.error().what};
    return std::move(*reshaped);
}

}  // namespace sonde::expression
