#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// The prepared state of an operator whose only output was computed of constants once and for all: consumers of it may
/// prepare for it as for a constant (exec::PreparedCache).
class ConstantOutput : public PreparedState {
  public:
    explicit ConstantOutput(Value value) : value(std::move(value)) {}

    const Value value;
};

}  // namespace sonde::ops
