#include <algorithm>

#include "core/nn/activation.h"

#include "core/nn/functional.h"

namespace sonde::nn {

Var ActivationLayer::forward(std::span<const Var> in) {
    std::vector<Var> arguments{in[0]};
    arguments.insert(arguments.end(), m_settings.begin(), m_settings.end());
    return trace::callFunction(trace::Function{m_op, m_display, m_display}, std::move(arguments));
}

Var Tanhshrink::forward(std::span<const Var> in) { return in[0] - tanh(in[0]); }

Var Softsign::forward(std::span<const Var> in) {
    return in[0] / (trace::callFunction(trace::Function{"abs", "abs", "torch.abs"}, {in[0]}) + 1);
}

Var Softmin::forward(std::span<const Var> in) { return softmax(-in[0], m_dim); }

PReLU::PReLU(std::int64_t parameters) : Layer("PReLU"), m_weight(addParameter("weight", zeros({parameters}))) {
    std::ranges::fill(m_weight.slot()->value.mutableSpan<float>(), 0.25F);
}

Var PReLU::forward(std::span<const Var> in) {
    const Var weight = m_weight;
    return trace::callFunction(trace::Function{"prelu", "prelu", "torch.nn.functional.prelu"}, {in[0], weight});
}

Var Dropout::forward(std::span<const Var> in) { return dropout(in[0], m_p, isTraining()); }

}  // namespace sonde::nn
