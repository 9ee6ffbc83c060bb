#include "core/analysis/element_readings.h"

#include <algorithm>
#include <complex>
#include <fmt/format.h>
#include <string>

namespace sonde::analysis {

namespace {

using base::Result;
using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kPiece = 1 << 16;  ///< elements between two looks at the stop token

bool isComplexTensor(const Tensor& tensor, const Quantization*) { return tensor::isComplex(tensor.dtype()); }
bool isQuantizedTensor(const Tensor& tensor, const Quantization* quantization) {
    return quantization && isQuantizedType(tensor.dtype());
}

/// More than kMaxReadBytes of `bytes` for each element.
Result<void> checkSize(const Tensor& tensor, std::int64_t bytes) {
    if (tensor.numel() <= kMaxReadBytes / bytes) return {};
    return base::usageError(
        fmt::format("{} is too large to be shown in another way", tensor.typeText()), {},
        fmt::format("up to {} elements are; see it as it is stored, or in a table", kMaxReadBytes / bytes));
}

/// Real numbers of complex ones by `part`, of the dtype of their parts.
template <typename Part>
Result<Tensor> realNumbers(const Tensor& tensor, const std::stop_token& stop, Part part) {
    SONDE_TRY(checkSize(tensor, static_cast<std::int64_t>(sizeof(double))));
    SONDE_ASSIGN(const Tensor from, tensor.contiguous());
    const auto compute = [&](auto zero) -> Result<Tensor> {
        using T = decltype(zero);
        SONDE_ASSIGN(Tensor made, Tensor::allocate(tensor::dtypeOf<T>, tensor.shape()));
        const auto* const in = from.data<std::complex<T>>();
        auto* const out = made.mutableData<T>();
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            if (i % kPiece == 0 && stop.stop_requested()) return base::cancelled();
            out[i] = part(in[i]);
        }
        return made;
    };
    return tensor.dtype() == DType::Complex64 ? compute(float{}) : compute(double{});
}

Result<Tensor> magnitude(const Tensor& tensor, const Quantization*, const std::stop_token& stop) {
    return realNumbers(tensor, stop, [](auto number) { return std::abs(number); });
}
Result<Tensor> phase(const Tensor& tensor, const Quantization*, const std::stop_token& stop) {
    return realNumbers(tensor, stop, [](auto number) { return std::arg(number); });
}

/// Every second number of the memory that the complex numbers are in.
Tensor partOf(const Tensor& tensor, std::int64_t part) {
    std::vector<std::int64_t> strides = tensor.strides();
    for (std::int64_t& stride : strides) stride *= 2;
    return Tensor::onStorage(tensor.dtype() == DType::Complex64 ? DType::Float32 : DType::Float64, tensor.shape(),
                             std::move(strides), tensor.storage(), 2 * tensor.offsetElements() + part);
}
Result<Tensor> realPart(const Tensor& tensor, const Quantization*, const std::stop_token&) { return partOf(tensor, 0); }
Result<Tensor> imaginaryPart(const Tensor& tensor, const Quantization*, const std::stop_token&) {
    return partOf(tensor, 1);
}

Result<Tensor> realValues(const Tensor& tensor, const Quantization* quantization, const std::stop_token& stop) {
    SONDE_TRY(checkSize(tensor, static_cast<std::int64_t>(sizeof(float))));
    return dequantized(tensor, *quantization, stop);
}

}  // namespace

const std::vector<ElementReading>& elementReadings() {
    static const std::vector<ElementReading> readings{
        {"real-values", "Real values", "(stored number − zero point) · scale", isQuantizedTensor, realValues},
        {"magnitude", "Magnitude", "√(real² + imaginary²)", isComplexTensor, magnitude},
        {"phase", "Phase", "atan2(imaginary, real) in radians, −π to π", isComplexTensor, phase},
        {"real", "Real part", "the real parts", isComplexTensor, realPart},
        {"imaginary", "Imaginary part", "the imaginary parts", isComplexTensor, imaginaryPart},
    };
    return readings;
}

std::vector<const ElementReading*> readingsOf(const Tensor& tensor, const Quantization* quantization) {
    std::vector<const ElementReading*> found;
    for (const ElementReading& reading : elementReadings())
        if (tensor.defined() && reading.accepts(tensor, quantization)) found.push_back(&reading);
    return found;
}

Result<Tensor> readElements(const Tensor& tensor, std::string_view id, const Quantization* quantization,
                            const std::stop_token& stop) {
    const auto& all = elementReadings();
    const auto reading = std::ranges::find(all, id, &ElementReading::id);
    if (reading == all.end()) {
        std::string words;
        for (const ElementReading& one : all) words += (words.empty() ? "" : ", ") + std::string(one.id);
        return base::usageError("elements cannot be shown as '" + std::string(id.substr(0, 80)) + "'", {}, words);
    }
    if (!tensor.defined() || !reading->accepts(tensor, quantization)) {
        std::string words = "as it is stored";
        for (const ElementReading* one : readingsOf(tensor, quantization)) words += ", " + std::string(one->id);
        return base::usageError("a tensor of " + std::string(tensor::name(tensor.dtype())) + " has no " +
                                    std::string(reading->id) +
                                    (reading->accepts == isQuantizedTensor ? ": no operator gives its scale" : ""),
                                {}, words);
    }
    return reading->read(tensor, quantization, stop);
}

}  // namespace sonde::analysis
