#include "core/nn/linear.h"

#include "core/nn/functional.h"

namespace sonde::nn {

Linear::Linear(std::int64_t inFeatures, std::int64_t outFeatures, bool bias)
    : Linear("Linear", inFeatures, outFeatures, bias) {}

Linear::Linear(std::string className, std::int64_t inFeatures, std::int64_t outFeatures, bool bias)
    : Layer(std::move(className)), m_weight(addParameter("weight", zeros({outFeatures, inFeatures}))) {
    if (bias) m_bias = addParameter("bias", zeros({outFeatures}));
}

Var Linear::forward(std::span<const Var> in) {
    const Var weight = m_weight;
    return linear(in[0], weight, m_bias.read());
}

std::string Linear::extraText() const {
    const tensor::Shape& shape = m_weight.value().shape();
    return "in_features=" + std::to_string(shape[1]) + ", out_features=" + std::to_string(shape[0]) +
           (m_bias.defined() ? "" : ", bias=False");
}

void Linear::setWeight(const Attribute& weight) {
    m_weight = weight;
    addSlot("weight", weight.slot());
}

Bilinear::Bilinear(std::int64_t in1, std::int64_t in2, std::int64_t out, bool bias)
    : Layer("Bilinear"), m_weight(addParameter("weight", zeros({out, in1, in2}))) {
    if (bias) m_bias = addParameter("bias", zeros({out}));
}

Var Bilinear::forward(std::span<const Var> in) {
    const Var weight = m_weight;
    return bilinear(in[0], in[1], weight, m_bias.read());
}

}  // namespace sonde::nn
