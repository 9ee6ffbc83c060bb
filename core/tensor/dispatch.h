#pragma once

#include <complex>
#include <cstdint>

#include "core/tensor/dtype.h"
#include "core/tensor/float_types.h"

namespace sonde::tensor {

/// A type as a value, for generic lambdas: `[](auto tag) { using T = typename decltype(tag)::type; … }`.
template <typename T>
struct TypeTag {
    using type = T;
};

/// Calls f with the tag of the dtype's C++ type; false if the dtype is not in the group.
template <typename F>
bool dispatchFloating(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Float32: f(TypeTag<float>{}); return true;
        case DType::Float64: f(TypeTag<double>{}); return true;
        case DType::Float16: f(TypeTag<Half>{}); return true;
        case DType::BFloat16: f(TypeTag<BFloat16>{}); return true;
        default: return false;
    }
}

template <typename F>
bool dispatchIntegers(DType dtype, F&& f) {
    switch (dtype) {
        case DType::UInt8: f(TypeTag<std::uint8_t>{}); return true;
        case DType::Int8: f(TypeTag<std::int8_t>{}); return true;
        case DType::UInt16: f(TypeTag<std::uint16_t>{}); return true;
        case DType::Int16: f(TypeTag<std::int16_t>{}); return true;
        case DType::UInt32: f(TypeTag<std::uint32_t>{}); return true;
        case DType::Int32: f(TypeTag<std::int32_t>{}); return true;
        case DType::UInt64: f(TypeTag<std::uint64_t>{}); return true;
        case DType::Int64: f(TypeTag<std::int64_t>{}); return true;
        default: return false;
    }
}

/// Floating point and integers of the dtypes that have a C++ type.
template <typename F>
bool dispatchNumbers(DType dtype, F&& f) {
    return dispatchFloating(dtype, f) || dispatchIntegers(dtype, f);
}

/// Numbers, bool and complex: every dtype that has a C++ type.
template <typename F>
bool dispatchAll(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Bool: f(TypeTag<bool>{}); return true;
        case DType::Complex64: f(TypeTag<std::complex<float>>{}); return true;
        case DType::Complex128: f(TypeTag<std::complex<double>>{}); return true;
        default: return dispatchNumbers(dtype, f);
    }
}

/// By the size of an element alone, for kernels that only move data; strings are not moved as bytes.
template <typename F>
bool dispatchSize(DType dtype, F&& f) {
    switch (itemSize(dtype)) {
        case 1: f(TypeTag<std::uint8_t>{}); return true;
        case 2: f(TypeTag<std::uint16_t>{}); return true;
        case 4: f(TypeTag<std::uint32_t>{}); return true;
        case 8: f(TypeTag<std::uint64_t>{}); return true;
        case 16: f(TypeTag<std::complex<double>>{}); return true;
        default: return false;
    }
}

}  // namespace sonde::tensor
