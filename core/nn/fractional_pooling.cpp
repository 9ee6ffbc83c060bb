#include "core/nn/fractional_pooling.h"

#include "core/nn/functional.h"

namespace sonde::nn {

using trace::callFunction;
using trace::Function;

FractionalMaxPool::FractionalMaxPool(std::string className, std::size_t axes, const Sizes& kernel,
                                     FractionalPoolOptions options)
    : Layer(std::move(className)), m_kernel(kernel.of(axes)), m_options(std::move(options)) {
    if (m_options.outputSize.empty() == m_options.outputRatio.empty()) {
        throw trace::TraceError(trace::TraceErrorKind::Value,
                                this->className() + " needs either an output size or an output ratio");
    }
    for (const double ratio : m_options.outputRatio) {
        if (!(ratio > 0 && ratio < 1))
            throw trace::TraceError(trace::TraceErrorKind::Value, "an output ratio must be between 0 and 1");
    }
    if (!m_options.outputSize.empty()) m_options.outputSize = Sizes(m_options.outputSize).of(axes);
    if (!m_options.outputRatio.empty()) m_options.outputRatio.resize(axes, m_options.outputRatio.front());
    if (m_options.samples.defined()) m_samples = addBuffer("_random_samples", m_options.samples);
}

Var FractionalMaxPool::forward(std::span<const Var> in) {
    const Var& x = in[0];
    const auto axes = static_cast<std::int64_t>(m_kernel.size());
    Var output = Var(m_options.outputSize);
    if (m_options.outputSize.empty()) {
        std::vector<Var> dimSizes;
        for (std::int64_t i = 0; i < axes; ++i) {
            const Var share = size(x, i - axes) * m_options.outputRatio[static_cast<std::size_t>(i)];
            dimSizes.push_back(callFunction(Function{"Int", "int", "int", false, "prim"}, {share}));
        }
        output = Var::list(std::move(dimSizes));
    }
    Var samples = m_samples.read();
    if (samples.isNone()) {
        // One example alone gets more numbers than it has planes: its channels count for the batch, too.
        samples =
            callFunction(Function{"rand", "rand", "torch.rand"}, {Var::list({size(x, 0), size(x, -axes - 1), axes})});
    }
    const std::string_view name = axes == 2 ? "fractional_max_pool2d" : "fractional_max_pool3d";
    const Var both = callFunction(Function{name, name, name, true, "aten", 2}, {x, m_kernel, output, samples});
    return m_options.returnIndices ? both : both[0];
}

}  // namespace sonde::nn
