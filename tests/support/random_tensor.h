#pragma once

#include <random>
#include <utility>

#include "core/tensor/tensor.h"

namespace sonde::test {

/// float32 numbers between -range and range, the same for one seed.
inline tensor::Tensor randomTensor(tensor::Shape shape, unsigned seed, float range = 1) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> numbers(-range, range);
    tensor::Tensor x = tensor::Tensor::allocate(tensor::DType::Float32, std::move(shape)).value();
    for (float& value : x.mutableSpan<float>()) value = numbers(engine);
    return x;
}

}  // namespace sonde::test
