#include "core/nn/normalization.h"

namespace sonde::nn {

using trace::callFunction;
using trace::Function;

BatchNorm::BatchNorm(std::string className, std::int64_t channels, double eps, double momentum)
    : Layer(std::move(className)),
      m_eps(eps),
      m_momentum(momentum),
      m_weight(addParameter("weight", ones({channels}))),
      m_bias(addParameter("bias", zeros({channels}))),
      m_mean(addBuffer("running_mean", zeros({channels}))),
      m_var(addBuffer("running_var", ones({channels}))),
      m_batches(addBuffer("num_batches_tracked", Tensor::scalar<std::int64_t>(0))) {}

Var BatchNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight;
    const Var bias = m_bias;
    return callFunction(Function{"batch_norm", "batch_norm", "torch.nn.functional.batch_norm"},
                        {in[0], weight, bias, m_mean.read(), m_var.read(), isTraining(), m_momentum, m_eps, false});
}

namespace {

tensor::Shape shapeOf(const Ints& dims) { return tensor::Shape(dims); }

}  // namespace

LayerNorm::LayerNorm(Ints shape, double eps)
    : Layer("LayerNorm"),
      m_shape(std::move(shape)),
      m_eps(eps),
      m_weight(addParameter("weight", ones(shapeOf(m_shape)))),
      m_bias(addParameter("bias", zeros(shapeOf(m_shape)))) {}

Var LayerNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight;
    const Var bias = m_bias;
    return callFunction(Function{"layer_norm", "layer_norm", "torch.nn.functional.layer_norm"},
                        {in[0], m_shape, weight, bias, m_eps});
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double eps)
    : Layer("GroupNorm"),
      m_groups(groups),
      m_eps(eps),
      m_weight(addParameter("weight", ones({channels}))),
      m_bias(addParameter("bias", zeros({channels}))) {}

Var GroupNorm::forward(std::span<const Var> in) {
    const Var weight = m_weight;
    const Var bias = m_bias;
    return callFunction(Function{"group_norm", "group_norm", "torch.nn.functional.group_norm"},
                        {in[0], m_groups, weight, bias, m_eps});
}

}  // namespace sonde::nn
