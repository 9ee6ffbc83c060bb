#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Whether a tensor may be the weight of a convolution [filters, inputs, height, width]: two filters or more, kernels
/// of 2 to 64 × 64 elements.
bool isFilterBank(const tensor::Tensor& tensor);
/// Whether its filters read red, green and blue: three inputs.
bool readsColours(const tensor::Tensor& filters);

/// One filter of a bank, or what of it reads one input.
struct FilterPicture {
    std::int64_t channels = 1, rows = 0, columns = 0;
    std::vector<double> values;  ///< [channels, rows, columns]
    double low = 0, high = 0;    ///< minimum and maximum of the finite elements; 0 without any

    double at(std::int64_t channel, std::int64_t row, std::int64_t column) const {
        return values[static_cast<std::size_t>((channel * rows + row) * columns + column)];
    }
};

/// Without an input all of them, as of three colours.
FilterPicture filterPicture(const tensor::Tensor& filters, std::int64_t filter, std::optional<std::int64_t> input);

}  // namespace sonde::analysis
