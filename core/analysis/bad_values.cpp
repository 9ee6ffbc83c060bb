#include "core/analysis/bad_values.h"

#include <cmath>
#include <complex>

#include "core/tensor/dispatch.h"

namespace sonde::analysis {

using tensor::Tensor;

namespace {

constexpr std::int64_t kCountPiece = 1 << 16;  ///< elements between two looks at the stop token

template <typename T>
bool isBad(const T& element) {
    return !std::isfinite(static_cast<float>(element));
}
template <>
bool isBad(const double& element) {
    return !std::isfinite(element);
}
template <>
bool isBad(const std::complex<float>& element) {
    return !std::isfinite(element.real()) || !std::isfinite(element.imag());
}
template <>
bool isBad(const std::complex<double>& element) {
    return !std::isfinite(element.real()) || !std::isfinite(element.imag());
}

/// Collects every index for which bad(index) holds.
template <typename Bad>
std::vector<std::int64_t> collect(std::int64_t count, std::size_t most, const std::stop_token& stop, Bad&& bad) {
    std::vector<std::int64_t> found;
    for (std::int64_t begin = 0; begin < count && !stop.stop_requested(); begin += kCountPiece) {
        const std::int64_t end = std::min(count, begin + kCountPiece);
        for (std::int64_t i = begin; i < end && found.size() < most; ++i)
            if (bad(i)) found.push_back(i);
        if (found.size() >= most) break;
    }
    return found;
}

}  // namespace

std::vector<std::int64_t> badElements(const Tensor& tensor, std::size_t most, const std::stop_token& stop) {
    if (!tensor.defined() || (!tensor::isFloating(tensor.dtype()) && !tensor::isComplex(tensor.dtype()))) return {};
    std::vector<std::int64_t> found;
    const bool contiguous = tensor.isContiguous();
    const bool typed = tensor::dispatchAll(tensor.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* data = tensor.data<T>();
        found = collect(tensor.numel(), most, stop,
                        [&](std::int64_t i) { return isBad(data[contiguous ? i : tensor.elementOffset(i)]); });
    });
    if (typed) return found;
    return collect(tensor.numel(), most, stop, [&](std::int64_t i) { return !std::isfinite(tensor.toDouble(i)); });
}

}  // namespace sonde::analysis
