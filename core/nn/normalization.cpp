#include "core/nn/normalization.h"

#include "core/nn/functional.h"

namespace sonde::nn {

namespace {

tensor::Shape shapeOf(const Ints& dims) { return tensor::Shape(dims); }
std::string text(const Var& value) { return value.value().text(); }

}  // namespace

ChannelNorm::ChannelNorm(std::string className, std::int64_t channels, double eps, double momentum, bool affine,
                         bool tracks)
    : Layer(std::move(className)), m_channels(channels), m_eps(eps), m_momentum(momentum) {
    if (affine) {
        m_weight = addParameter("weight", ones({channels}));
        m_bias = addParameter("bias", zeros({channels}));
    }
    if (tracks) {
        m_mean = addBuffer("running_mean", zeros({channels}));
        m_var = addBuffer("running_var", ones({channels}));
        m_batches = addBuffer("num_batches_tracked", Tensor::scalar<std::int64_t>(0));
    }
}

std::string ChannelNorm::extraText() const {
    return std::to_string(m_channels) + ", eps=" + text(m_eps) + ", momentum=" + text(m_momentum) +
           (m_weight.defined() ? "" : ", affine=False") + (m_mean.defined() ? "" : ", track_running_stats=False");
}

Var BatchNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight.read();
    const Var bias = m_bias.read();
    return batchNorm(in[0], m_mean.read(), m_var.read(), weight, bias, isTraining() || !m_mean.defined(), m_momentum,
                     m_eps);
}

Var InstanceNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight.read();
    const Var bias = m_bias.read();
    return instanceNorm(in[0], m_mean.read(), m_var.read(), weight, bias, isTraining() || !m_mean.defined(), m_momentum,
                        m_eps);
}

LayerNorm::LayerNorm(Ints shape, double eps, bool affine, bool bias)
    : Layer("LayerNorm"), m_shape(std::move(shape)), m_eps(eps) {
    if (affine) m_weight = addParameter("weight", ones(shapeOf(m_shape)));
    if (affine && bias) m_bias = addParameter("bias", zeros(shapeOf(m_shape)));
}

Var LayerNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight.read();
    return layerNorm(in[0], m_shape, weight, m_bias.read(), m_eps);
}

std::string LayerNorm::extraText() const {
    return text(m_shape) + ", eps=" + text(m_eps) + (m_weight.defined() ? "" : ", elementwise_affine=False");
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double eps, bool affine)
    : Layer("GroupNorm"), m_groups(groups), m_channels(channels), m_eps(eps) {
    if (!affine) return;
    m_weight = addParameter("weight", ones({channels}));
    m_bias = addParameter("bias", zeros({channels}));
}

Var GroupNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight.read();
    return groupNorm(in[0], m_groups, weight, m_bias.read(), m_eps);
}

std::string GroupNorm::extraText() const {
    return std::to_string(m_groups) + ", " + std::to_string(m_channels) + ", eps=" + text(m_eps) +
           (m_weight.defined() ? "" : ", affine=False");
}

RMSNorm::RMSNorm(Ints shape, Var eps, bool affine)
    : Layer("RMSNorm"), m_shape(std::move(shape)), m_eps(std::move(eps)) {
    if (affine) m_weight = addParameter("weight", ones(shapeOf(m_shape)));
}

Var RMSNorm::forward(std::span<const Var> in) { return rmsNorm(in[0], m_shape, m_weight.read(), m_eps); }

std::string RMSNorm::extraText() const {
    return text(m_shape) + ", eps=" + text(m_eps) + (m_weight.defined() ? "" : ", elementwise_affine=False");
}

std::string ResponseNorm::extraText() const {
    return std::to_string(m_size) + ", alpha=" + text(m_alpha) + ", beta=" + text(m_beta) + ", k=" + text(m_k);
}

Var LocalResponseNorm::forward(std::span<const Var> in) {
    return localResponseNorm(in[0], m_size, m_alpha, m_beta, m_k);
}

Var CrossMapLRN2d::forward(std::span<const Var> in) {
    const std::int64_t reach = (m_size + 1) / 2 - 1, window = 2 * reach + 1;
    const Var squares = unsqueeze(flatten(in[0] * in[0], 2), 1);
    const Var all = Var::slice({}, {}, {});
    const Var first = squares[Var::tuple({all, all, Var::slice(0, 1, {})})];
    const Var others =
        pad(squares[Var::tuple({all, all, Var::slice(1, {}, {})})], {0, 0, 1 + reach, reach}, "constant", 0.0);
    const Var sums = squeeze(avgPool(2, others, Ints{window, 1}, 1) * static_cast<double>(window) + first, 1);
    return in[0] / pow(reshapeTo(sums, nn::size(in[0])) * (m_alpha / static_cast<double>(m_size)) + m_k, m_beta);
}

}  // namespace sonde::nn
