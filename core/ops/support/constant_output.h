#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// The prepared state of an operator whose only output was computed of constants once and for all: consumers of it may
/// prepare for it as for a constant (exec::PreparedCache).
class ConstantOutput : public PreparedState {
  public:
    ConstantOutput(Value value, bool isFinite) : value(std::move(value)), isFinite(isFinite) {}

    const Value value;
    const bool isFinite;  ///< neither NaN nor infinity: nothing to be counted in each run
};

}  // namespace sonde::ops
