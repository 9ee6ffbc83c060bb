#include "core/trace/traced_module/quantizer.h"

#include "core/trace/record.h"

namespace sonde::trace {

Var FixedFakeQuantize::forward(std::span<const Var> in) {
    const bool isUnsigned = m_params.dtype.starts_with("qu");
    const double levels = m_params.dtype.ends_with("4") ? 16 : 256;
    const double low = isUnsigned ? 0 : -levels / 2;
    const Var steps =
        callFunction(Function{"round", "round", "torch.round"}, {in[0] / m_params.scale}) + m_params.zeroPoint;
    const Var limited =
        callFunction(Function{"clamp", "clamp", "torch.clamp"}, {steps}, {{"min", low}, {"max", low + levels - 1}});
    return (limited - m_params.zeroPoint) * m_params.scale;
}

std::shared_ptr<Module> settledQuantizer(const std::shared_ptr<Module>& module) {
    const auto* quantizer = dynamic_cast<const Quantizer*>(module.get());
    if (!quantizer || quantizer->isStandard()) return module;
    return std::make_shared<FixedFakeQuantize>(quantizer->quantParams());
}

}  // namespace sonde::trace
