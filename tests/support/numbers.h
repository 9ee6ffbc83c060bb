#pragma once

#include <vector>

#include "core/tensor/value.h"

namespace sonde::test {

/// Elements of a tensor, of all tensors in a container one after the other; a number as one element.
inline std::vector<double> numbers(const tensor::Value& value) {
    std::vector<double> result;
    if (value.isNumber()) return {value.number()};
    if (value.isListLike()) {
        for (const tensor::Value& item : value.items()) {
            for (double number : numbers(item)) result.push_back(number);
        }
    } else if (value.isTensor()) {
        const tensor::Tensor packed = *value.tensor().contiguous();
        for (std::int64_t i = 0; i < packed.numel(); ++i) result.push_back(packed.toDouble(i));
    }
    return result;
}

}  // namespace sonde::test
