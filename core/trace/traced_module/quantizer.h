#pragma once

#include <memory>

#include "core/trace/module.h"
#include "core/trace/traced_module/node.h"

namespace sonde::trace {

/// What observers and fake quantisers of quantisation-aware modules are, beside being modules. They are built-in
/// modules for traces.
class Quantizer {
  public:
    virtual ~Quantizer() = default;
    virtual QuantParams quantParams() const = 0;
    /// Traced modules keep it; any other is replaced by a FixedFakeQuantize of the same parameters.
    virtual bool isStandard() const { return false; }
};

/// x -> (clamp(round(x / scale) + zeroPoint, low, high) - zeroPoint) * scale, of any shape; the limits are those of the
/// parameters' dtype (signed 8 bit: -128 and 127, "quint8": 0 and 255, "qint4": -8 and 7, "quint4": 0 and 15).
class FixedFakeQuantize final : public Module, public Quantizer {
  public:
    explicit FixedFakeQuantize(QuantParams params) : m_params(std::move(params)) {}
    std::string className() const override { return "FixedFakeQuantize"; }
    bool isLibrary() const override { return true; }
    Var forward(std::span<const Var> in) override;
    QuantParams quantParams() const override { return m_params; }
    bool isStandard() const override { return true; }

  private:
    QuantParams m_params;
};

/// The module itself, or what stands for it in a traced module if it is a quantiser that is not a standard one.
std::shared_ptr<Module> settledQuantizer(const std::shared_ptr<Module>& module);

}  // namespace sonde::trace
