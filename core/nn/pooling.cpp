#include "core/nn/pooling.h"

namespace sonde::nn {

using trace::callFunction;
using trace::Function;

namespace {

Ints strideOr(const Sizes& stride, const Ints& kernel) { return stride.values.empty() ? kernel : stride.of(2); }

}  // namespace

MaxPool2d::MaxPool2d(Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceilMode)
    : Layer("MaxPool2d"),
      m_kernel(kernel.of(2)),
      m_stride(strideOr(stride, m_kernel)),
      m_padding(padding.of(2)),
      m_dilation(dilation.of(2)),
      m_ceilMode(ceilMode) {}

Var MaxPool2d::forward(std::span<const Var> in) {
    return callFunction(Function{"max_pool2d", "max_pool2d", "torch.nn.functional.max_pool2d"},
                        {in[0], m_kernel, m_stride, m_padding, m_dilation, m_ceilMode});
}

AvgPool2d::AvgPool2d(Sizes kernel, Sizes stride, Sizes padding, bool ceilMode, bool countPadding)
    : Layer("AvgPool2d"),
      m_kernel(kernel.of(2)),
      m_stride(strideOr(stride, m_kernel)),
      m_padding(padding.of(2)),
      m_ceilMode(ceilMode),
      m_countPadding(countPadding) {}

Var AvgPool2d::forward(std::span<const Var> in) {
    return callFunction(Function{"avg_pool2d", "avg_pool2d", "torch.nn.functional.avg_pool2d"},
                        {in[0], m_kernel, m_stride, m_padding, m_ceilMode, m_countPadding});
}

Var AdaptiveAvgPool2d::forward(std::span<const Var> in) {
    return callFunction(Function{"adaptive_avg_pool2d", "adaptive_avg_pool2d", "torch.nn.functional.adaptive_avg_pool2d"},
                        {in[0], m_size});
}

}  // namespace sonde::nn
