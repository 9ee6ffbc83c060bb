#include "core/nn/padding.h"

#include "core/nn/functional.h"

namespace sonde::nn {

PadLayer::PadLayer(std::string className, std::size_t axes, const Sizes& padding, std::string mode, Var value)
    : Layer(std::move(className)), m_padding(padding.of(2 * axes)), m_mode(std::move(mode)), m_value(std::move(value)) {
}

Var PadLayer::forward(std::span<const Var> in) { return pad(in[0], m_padding, m_mode, m_value); }

std::string PadLayer::extraText() const {
    return "padding=" + Var(m_padding).value().text() + (m_value.isNone() ? "" : ", value=" + m_value.value().text());
}

}  // namespace sonde::nn
