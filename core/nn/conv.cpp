#include "core/nn/conv.h"

namespace sonde::nn {

namespace {

tensor::Shape weightShape(std::int64_t first, std::int64_t second, const Ints& kernel) {
    tensor::Shape shape{first, second};
    for (std::int64_t extent : kernel) shape.push_back(extent);
    return shape;
}

constexpr std::string_view kConv[] = {"conv1d", "conv2d", "conv3d"};
constexpr std::string_view kTransposed[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};
constexpr std::string_view kTransposedOp[] = {"conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"};

}  // namespace

Conv::Conv(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels, const Sizes& kernel,
           const ConvOptions& options)
    : Layer(std::move(className)),
      m_axes(axes),
      m_inChannels(inChannels),
      m_outChannels(outChannels),
      m_kernel(kernel.of(axes)),
      m_options(options),
      m_weight(addParameter("weight", zeros(weightShape(outChannels, inChannels / options.groups, m_kernel)))) {
    if (options.bias) m_bias = addParameter("bias", zeros({outChannels}));
}

Var Conv::forward(std::span<const Var> in) {
    const std::string_view name = kConv[m_axes - 1];
    const Var weight = m_weight;
    return trace::callFunction(trace::Function{name, name, name}, {in[0], weight, m_bias.read(), m_options.stride.of(m_axes),
                                                                   m_options.padding.of(m_axes),
                                                                   m_options.dilation.of(m_axes), m_options.groups});
}

std::string Conv::extraText() const {
    return std::to_string(m_inChannels) + ", " + std::to_string(m_outChannels) + ", kernel_size=" + Var(m_kernel).value().text() +
           ", stride=" + Var(m_options.stride.of(m_axes)).value().text();
}

ConvTranspose::ConvTranspose(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels,
                             const Sizes& kernel, const ConvOptions& options)
    : Layer(std::move(className)),
      m_axes(axes),
      m_options(options),
      m_weight(addParameter("weight", zeros(weightShape(inChannels, outChannels / options.groups, kernel.of(axes))))) {
    if (options.bias) m_bias = addParameter("bias", zeros({outChannels}));
}

Var ConvTranspose::forward(std::span<const Var> in) {
    const std::string_view name = kTransposed[m_axes - 1];
    const Var weight = m_weight;
    return trace::callFunction(trace::Function{kTransposedOp[m_axes - 1], name, name},
                               {in[0], weight, m_bias.read(), m_options.stride.of(m_axes), m_options.padding.of(m_axes),
                                m_options.outputPadding.of(m_axes), m_options.groups, m_options.dilation.of(m_axes)});
}

}  // namespace sonde::nn
