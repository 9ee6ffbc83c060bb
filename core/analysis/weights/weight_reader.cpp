#include "core/analysis/weights/weight_reader.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/dispatch.h"

namespace sonde::analysis {

using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::int64_t kPiece = 1 << 13;  ///< elements: 64 KiB, which stay in the cache for all that is asked of them

template <typename T>
void convert(const T* from, std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        if constexpr (tensor::dtypeOf<T> == DType::Complex64 || tensor::dtypeOf<T> == DType::Complex128)
            to[i] = std::abs(from[i]);
        else if constexpr (tensor::dtypeOf<T> == DType::Float16 || tensor::dtypeOf<T> == DType::BFloat16)
            to[i] = static_cast<float>(from[i]);
        else to[i] = static_cast<double>(from[i]);
    }
}

bool hasNumbers(const Tensor& tensor) {
    return tensor.defined() && tensor.dtype() != DType::String && tensor.dtype() != DType::Undefined;
}

}  // namespace

WeightReader::WeightReader(Tensor tensor, std::shared_ptr<const WeightScale> scale)
    : m_tensor(std::move(tensor)), m_scale(std::move(scale)), m_count(hasNumbers(m_tensor) ? m_tensor.numel() : 0),
      m_isContiguous(m_count > 0 && m_tensor.isContiguous()) {}

void WeightReader::read(std::int64_t first, std::span<double> out) const {
    const bool isRead = m_isContiguous && tensor::dispatchAll(m_tensor.dtype(), [&](auto tag) {
                            using T = typename decltype(tag)::type;
                            convert(m_tensor.data<T>() + first, out);
                        });
    // Views in another order, and the float types of a byte or less.
    if (!isRead)
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = m_tensor.toDouble(first + static_cast<std::int64_t>(i));
    if (m_scale) applyScale(first, out);
}

void WeightReader::applyScale(std::int64_t first, std::span<double> out) const {
    const WeightScale& scale = *m_scale;
    const auto apply = [&scale](double& x, std::size_t at) {
        x = (x - (scale.zeros.empty() ? 0.0 : scale.zeros[at])) * scale.scales[at];
    };
    if (scale.scales.size() == 1) {
        for (double& x : out) apply(x, 0);
        return;
    }
    const std::int64_t blocks = (scale.dim + scale.block - 1) / scale.block;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t index = first + static_cast<std::int64_t>(i);
        const std::int64_t along = index / scale.inner % scale.dim;
        const std::int64_t at =
            scale.isBlocked
                ? (index / scale.inner / scale.dim * blocks + along / scale.block) * scale.inner + index % scale.inner
                : along;
        apply(out[i], static_cast<std::size_t>(at));
    }
}

bool WeightReader::forEachPiece(const std::stop_token& stop,
                                const std::function<void(std::span<const double>, std::int64_t)>& visit) const {
    std::vector<double> piece(static_cast<std::size_t>(std::min(kPiece, m_count)));
    for (std::int64_t first = 0; first < m_count; first += kPiece) {
        if (stop.stop_requested()) return false;
        const std::span<double> part(piece.data(), static_cast<std::size_t>(std::min(kPiece, m_count - first)));
        read(first, part);
        visit(part, first);
    }
    return !stop.stop_requested();
}

}  // namespace sonde::analysis
