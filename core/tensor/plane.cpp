#include "core/tensor/plane.h"

#include <complex>

#include "core/tensor/dispatch.h"

namespace sonde::tensor {

Tensor plane(const Tensor& tensor, int rowAxis, int columnAxis, std::span<const std::int64_t> index) {
    const int rank = static_cast<int>(tensor.rank());
    assert(rowAxis >= -1 && rowAxis < rank && columnAxis >= -1 && columnAxis < rank);
    assert(rowAxis < 0 || rowAxis != columnAxis);
    assert(static_cast<int>(index.size()) == rank);
    Tensor view = tensor;
    for (int axis = rank - 1; axis >= 0; --axis) {
        if (axis == rowAxis || axis == columnAxis) continue;
        if (tensor.dim(static_cast<std::size_t>(axis)) == 0)
            return Tensor::onStorage(tensor.dtype(), Shape{0, 0}, tensor.storage());
        view = view.selected(static_cast<std::size_t>(axis), index[static_cast<std::size_t>(axis)]);
    }
    if (columnAxis < 0) view = view.unsqueezed(view.rank());
    if (rowAxis < 0) view = view.unsqueezed(0);
    return rowAxis > columnAxis && columnAxis >= 0 ? view.transposed(0, 1) : view;
}

std::function<double(std::int64_t, std::int64_t)> planeReader(const Tensor& plane) {
    assert(plane.rank() == 2);
    std::function<double(std::int64_t, std::int64_t)> reader;
    const auto down = plane.strides()[0], across = plane.strides()[1];
    const bool plain = plane.defined() && dispatchNumbers(plane.dtype(), [&](auto tag) {
                           using T = typename decltype(tag)::type;
                           reader = [data = plane.data<T>(), down, across, keep = plane.storage()](
                                        std::int64_t row, std::int64_t column) {
                               return static_cast<double>(data[row * down + column * across]);
                           };
                       });
    if (plain) return reader;
    return [plane](std::int64_t row, std::int64_t column) { return plane.toDouble(row * plane.dim(1) + column); };
}

}  // namespace sonde::tensor
