#include "core/nn/fold.h"

#include "core/nn/functional.h"

namespace sonde::nn {

namespace {

std::string windowText(const Ints& kernel, const Ints& dilation, const Ints& padding, const Ints& stride) {
    return "kernel_size=" + Var(kernel).value().text() + ", dilation=" + Var(dilation).value().text() +
           ", padding=" + Var(padding).value().text() + ", stride=" + Var(stride).value().text();
}

}  // namespace

Var Unfold::forward(std::span<const Var> in) { return unfold(in[0], m_kernel, m_dilation, m_padding, m_stride); }
std::string Unfold::extraText() const { return windowText(m_kernel, m_dilation, m_padding, m_stride); }

Var Fold::forward(std::span<const Var> in) { return fold(in[0], m_size, m_kernel, m_dilation, m_padding, m_stride); }
std::string Fold::extraText() const {
    return "output_size=" + Var(m_size).value().text() + ", " + windowText(m_kernel, m_dilation, m_padding, m_stride);
}

}  // namespace sonde::nn
