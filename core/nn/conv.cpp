#include "core/nn/conv.h"

#include <algorithm>

#include "core/nn/functional.h"

namespace sonde::nn {

namespace {

/// Throws for channels that cannot be grouped, before a weight of a wrong size is made.
std::int64_t perGroup(std::int64_t channels, std::int64_t groups, const char* name) {
    if (groups < 1 || channels % groups != 0) {
        throw trace::TraceError(trace::TraceErrorKind::Value, std::string(name) + " must be divisible by groups");
    }
    return channels / groups;
}

std::string convSetting(const char* name, const Var& value) {
    return std::string(", ") + name + '=' + value.value().text();
}

/// Of a convolution [K, C / groups, kernel…], of a transposed one [C, K / groups, kernel…].
tensor::Shape weightShape(std::int64_t in, std::int64_t out, const Ints& kernel, std::int64_t groups, bool transposed) {
    tensor::Shape shape = transposed ? tensor::Shape{in, perGroup(out, groups, "out_channels")}
                                     : tensor::Shape{out, perGroup(in, groups, "in_channels")};
    for (std::int64_t dimSize : kernel) shape.push_back(dimSize);
    return shape;
}

}  // namespace

ConvPadding::ConvPadding(const char* name) : same(std::string_view(name) == "same") {
    if (!same && std::string_view(name) != "valid") {
        throw trace::TraceError(trace::TraceErrorKind::Value,
                                "padding is 'valid', 'same' or numbers, not '" + std::string(name) + "'");
    }
}

ConvLayer::ConvLayer(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels,
                     const Sizes& kernel, const ConvOptions& options, bool transposed)
    : Layer(std::move(className)), m_axes(axes), m_inChannels(inChannels), m_outChannels(outChannels),
      m_kernel(kernel.of(axes)), m_options(options),
      m_weight(
          addParameter("weight", zeros(weightShape(inChannels, outChannels, m_kernel, options.groups, transposed)))) {
    (void)perGroup(transposed ? inChannels : outChannels, options.groups, transposed ? "in_channels" : "out_channels");
    if (options.bias) m_bias = addParameter("bias", zeros({outChannels}));
}

std::string ConvLayer::extraText() const {
    const ConvOptions& options = m_options;
    std::string text = std::to_string(m_inChannels) + ", " + std::to_string(m_outChannels) +
                       convSetting("kernel_size", m_kernel) + convSetting("stride", options.stride.of(m_axes));
    if (options.padding.same) text += ", padding=same";
    else if (options.padding.sizes.of(m_axes) != Ints(m_axes, 0))
        text += convSetting("padding", options.padding.sizes.of(m_axes));
    if (options.dilation.of(m_axes) != Ints(m_axes, 1)) text += convSetting("dilation", options.dilation.of(m_axes));
    if (options.outputPadding.of(m_axes) != Ints(m_axes, 0))
        text += convSetting("output_padding", options.outputPadding.of(m_axes));
    if (options.groups != 1) text += ", groups=" + std::to_string(options.groups);
    if (!options.bias) text += ", bias=False";
    if (options.paddingMode != "zeros") text += ", padding_mode=" + options.paddingMode;
    return text;
}

Ints Conv::edges() const {
    const Ints padding = m_options.padding.sizes.of(m_axes);
    const Ints dilation = m_options.dilation.of(m_axes);
    Ints result;
    for (std::size_t i = m_axes; i-- > 0;) {
        const std::int64_t both = m_options.padding.same ? dilation[i] * (m_kernel[i] - 1) : 2 * padding[i];
        result.push_back(both / 2);
        result.push_back(both - both / 2);
    }
    return result;
}

Var Conv::forward(std::span<const Var> in) {
    Var x = in[0];
    const Ints around = edges();
    Ints padding;
    bool symmetric = true;
    for (std::size_t i = m_axes; i-- > 0;) {
        padding.push_back(around[2 * i]);
        symmetric = symmetric && around[2 * i] == around[2 * i + 1];
    }
    if (m_options.paddingMode != "zeros" || !symmetric) {
        x = m_options.paddingMode == "zeros" ? pad(x, around, "constant", 0.0) : pad(x, around, m_options.paddingMode);
        padding = Ints(m_axes, 0);
    }
    const Var weight = m_weight.read();
    return conv(m_axes, x, weight, m_bias.read(), m_options.stride, padding, m_options.dilation, m_options.groups);
}

std::vector<ForwardParameter> ConvTranspose::signature() const {
    return {{"input", {}, false, true}, {"output_size", tensor::Value()}};
}

Var ConvTranspose::outputPadding(const Var& x, const Var& outputSize) const {
    if (outputSize.isNone()) return m_options.outputPadding.of(m_axes);
    const Ints stride = m_options.stride.of(m_axes);
    const Ints padding = m_options.padding.sizes.of(m_axes);
    const Ints dilation = m_options.dilation.of(m_axes);
    std::vector<Var> result;
    for (std::size_t i = 0; i < m_axes; ++i) {
        const std::int64_t axis = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(m_axes);
        const Var least = (size(x, axis) - 1) * stride[i] + (dilation[i] * (m_kernel[i] - 1) + 1 - 2 * padding[i]);
        result.push_back(outputSize[axis] - least);
    }
    return Var::list(std::move(result));
}

Var ConvTranspose::forward(std::span<const Var> in) {
    const Var weight = m_weight.read();
    return convTranspose(m_axes, in[0], weight, m_bias.read(), m_options.stride, m_options.padding.sizes.of(m_axes),
                         outputPadding(in[0], in[1]), m_options.groups, m_options.dilation);
}

}  // namespace sonde::nn
