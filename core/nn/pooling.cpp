#include "core/nn/pooling.h"

#include "core/nn/functional.h"

namespace sonde::nn {

namespace {

std::string windowSetting(const char* name, const Var& value) {
    return std::string(", ") + name + '=' + value.toValue().text();
}

std::string windowText(const Ints& kernel, const Ints& stride, const Ints& padding) {
    return "kernel_size=" + Var(kernel).value().text() + windowSetting("stride", stride) +
           windowSetting("padding", padding);
}

}  // namespace

MaxPool::MaxPool(std::string className, std::size_t axes, const Sizes& kernel, const Sizes& stride,
                 const Sizes& padding, const Sizes& dilation, bool returnIndices, bool ceilMode)
    : Layer(std::move(className)), m_kernel(kernel.of(axes)), m_stride(strideOr(stride, m_kernel)),
      m_padding(padding.of(axes)), m_dilation(dilation.of(axes)), m_returnIndices(returnIndices), m_ceilMode(ceilMode) {
}

Var MaxPool::forward(std::span<const Var> in) {
    const auto pool = m_returnIndices ? &maxPoolWithIndices : &maxPool;
    return pool(m_kernel.size(), in[0], m_kernel, m_stride, m_padding, m_dilation, m_ceilMode);
}

std::string MaxPool::extraText() const {
    return windowText(m_kernel, m_stride, m_padding) + windowSetting("dilation", m_dilation) +
           windowSetting("ceil_mode", m_ceilMode);
}

MaxUnpool::MaxUnpool(std::string className, std::size_t axes, const Sizes& kernel, const Sizes& stride,
                     const Sizes& padding)
    : Layer(std::move(className)), m_kernel(kernel.of(axes)), m_stride(strideOr(stride, m_kernel)),
      m_padding(padding.of(axes)) {}

std::vector<ForwardParameter> MaxUnpool::signature() const {
    return {{"input", {}, false, true}, {"indices", {}, false, true}, {"output_size", tensor::Value()}};
}

Var MaxUnpool::forward(std::span<const Var> in) {
    const std::size_t axes = m_kernel.size();
    Var outputSize = in[2];
    if (outputSize.isNone()) {
        std::vector<Var> dimSizes;
        for (std::size_t i = 0; i < axes; ++i) {
            const Var dimSize = size(in[0], static_cast<std::int64_t>(i) - static_cast<std::int64_t>(axes));
            dimSizes.push_back((dimSize - 1) * m_stride[i] + (m_kernel[i] - 2 * m_padding[i]));
        }
        outputSize = Var::list(std::move(dimSizes));
    } else {
        outputSize =
            outputSize[Var::slice(-static_cast<std::int64_t>(axes), Var())];  // may come with batch and channels
    }
    return maxUnpool(axes, in[0], in[1], outputSize);
}

std::string MaxUnpool::extraText() const { return windowText(m_kernel, m_stride, m_padding); }

AvgPool::AvgPool(std::string className, std::size_t axes, const Sizes& kernel, const Sizes& stride,
                 const Sizes& padding, bool ceilMode, bool countPadding, Var divisor)
    : Layer(std::move(className)), m_kernel(kernel.of(axes)), m_stride(strideOr(stride, m_kernel)),
      m_padding(padding.of(axes)), m_ceilMode(ceilMode), m_countPadding(countPadding), m_divisor(std::move(divisor)) {}

Var AvgPool::forward(std::span<const Var> in) {
    return avgPool(m_kernel.size(), in[0], m_kernel, m_stride, m_padding, m_ceilMode, m_countPadding, m_divisor);
}

std::string AvgPool::extraText() const { return windowText(m_kernel, m_stride, m_padding); }

LPPool::LPPool(std::string className, std::size_t axes, double norm, const Sizes& kernel, const Sizes& stride,
               bool ceilMode)
    : Layer(std::move(className)), m_norm(norm), m_kernel(kernel.of(axes)), m_stride(strideOr(stride, m_kernel)),
      m_ceilMode(ceilMode) {}

Var LPPool::forward(std::span<const Var> in) {
    return lpPool(m_kernel.size(), in[0], m_norm, m_kernel, m_stride, m_ceilMode);
}

std::string LPPool::extraText() const {
    return "norm_type=" + Var(m_norm).value().text() + windowSetting("kernel_size", m_kernel) +
           windowSetting("stride", m_stride) + windowSetting("ceil_mode", m_ceilMode);
}

AdaptivePool::AdaptivePool(std::string className, std::size_t axes, const Var& size)
    : Layer(std::move(className)), m_axes(axes),
      m_size(size.kind() == Var::Kind::Value && !size.value().isListLike() ? Var::list(std::vector<Var>(axes, size))
                                                                           : size) {}

Var AdaptiveAvgPool::forward(std::span<const Var> in) { return adaptiveAvgPool(m_axes, in[0], m_size); }

Var AdaptiveMaxPool::forward(std::span<const Var> in) {
    return m_returnIndices ? adaptiveMaxPoolWithIndices(m_axes, in[0], m_size) : adaptiveMaxPool(m_axes, in[0], m_size);
}

}  // namespace sonde::nn
