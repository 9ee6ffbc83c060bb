#include "core/analysis/tensor_views/filter_pictures.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/plane.h"

namespace sonde::analysis {

bool isFilterBank(const tensor::Tensor& tensor) {
    constexpr std::int64_t kMaxKernel = 64;
    if (!tensor.defined() || tensor.dtype() == tensor::DType::String || tensor.rank() != 4) return false;
    const std::int64_t rows = tensor.dim(2), columns = tensor.dim(3);
    return tensor.dim(0) > 1 && tensor.dim(1) > 0 && rows * columns > 1 && rows <= kMaxKernel && columns <= kMaxKernel;
}

bool readsColours(const tensor::Tensor& filters) { return filters.rank() == 4 && filters.dim(1) == 3; }

FilterPicture filterPicture(const tensor::Tensor& filters, std::int64_t filter, std::optional<std::int64_t> input) {
    FilterPicture picture;
    picture.channels = input ? 1 : filters.dim(1);
    picture.rows = filters.dim(2);
    picture.columns = filters.dim(3);
    bool found = false;
    for (std::int64_t channel = 0; channel < picture.channels; ++channel) {
        const std::int64_t index[] = {filter, input.value_or(channel), 0, 0};
        const auto read = tensor::planeReader(tensor::plane(filters, 2, 3, index));
        for (std::int64_t row = 0; row < picture.rows; ++row)
            for (std::int64_t column = 0; column < picture.columns; ++column) {
                const double value = read(row, column);
                picture.values.push_back(value);
                if (!std::isfinite(value)) continue;
                picture.low = found ? std::min(picture.low, value) : value;
                picture.high = found ? std::max(picture.high, value) : value;
                found = true;
            }
    }
    return picture;
}

}  // namespace sonde::analysis
