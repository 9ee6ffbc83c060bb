#pragma once

#include <stop_token>
#include <string_view>
#include <vector>

#include "core/analysis/quantization.h"

namespace sonde::analysis {

/// One way to see the elements of a tensor as other numbers.
struct ElementReading {
    std::string_view id;           ///< "magnitude": the word of commands; the choice is kept by it
    std::string_view title;        ///< "Magnitude"
    std::string_view description;  ///< what is shown, with the formula
    bool (*accepts)(const tensor::Tensor& tensor, const Quantization* quantization);
    base::Result<tensor::Tensor> (*read)(const tensor::Tensor& tensor, const Quantization* quantization,
                                         const std::stop_token& stop);
};

/// All of them in the order in which they are offered: a row in element_readings.cpp adds one.
const std::vector<ElementReading>& elementReadings();
/// Those that a tensor has. `quantization` is null where none is known.
std::vector<const ElementReading*> readingsOf(const tensor::Tensor& tensor, const Quantization* quantization);

/// More bytes are not made to show a tensor in another way.
inline constexpr std::int64_t kMaxReadBytes = std::int64_t{512} << 20;

/// The tensor [d0, …, dn] in that way: of the same shape. Blocks, on any thread; parts of
/// complex numbers share the memory of the tensor. Errors (Usage): no such reading, not of this tensor, more than
/// kMaxReadBytes; cancelled.
base::Result<tensor::Tensor> readElements(const tensor::Tensor& tensor, std::string_view id,
                                          const Quantization* quantization, const std::stop_token& stop = {});

}  // namespace sonde::analysis
