#include "core/analysis/tensor_views/element_bits.h"

#include <cassert>
#include <cstring>

namespace sonde::analysis {

bool hasBits(const tensor::Tensor& tensor) {
    return tensor.defined() && (tensor::isInteger(tensor.dtype()) || tensor.dtype() == tensor::DType::Bool);
}

std::string elementBits(const tensor::Tensor& tensor, std::int64_t index) {
    assert(hasBits(tensor) && index >= 0 && index < tensor.numel());
    constexpr std::size_t kGroup = 8;
    const std::size_t size = tensor::itemSize(tensor.dtype());
    const std::byte* const element = tensor.bytes() + tensor.elementOffset(index) * static_cast<std::int64_t>(size);
    std::uint64_t value = 0;
    // The engine is for processors whose first byte is the least significant.
    std::memcpy(&value, element, size);
    const std::size_t count = tensor.dtype() == tensor::DType::Bool ? 1 : tensor::bitsInFile(tensor.dtype());
    std::string text;
    for (std::size_t bit = count; bit-- > 0;) {
        text += (value >> bit & 1) != 0 ? '1' : '0';
        if (bit > 0 && bit % kGroup == 0) text += ' ';
    }
    return text;
}

}  // namespace sonde::analysis
