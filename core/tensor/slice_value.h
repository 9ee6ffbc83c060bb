#pragma once

#include "core/tensor/value.h"

namespace sonde::tensor {

/// `start:stop:step` as a value: an argument of getitem. Each part is an int or None.
class SliceValue final : public ObjectBase {
  public:
    SliceValue(Value start, Value stop, Value step)
        : m_start(std::move(start)), m_stop(std::move(stop)), m_step(std::move(step)) {}
    std::string typeName() const override { return "slice"; }
    const Value& start() const { return m_start; }
    const Value& stop() const { return m_stop; }
    const Value& step() const { return m_step; }

  private:
    Value m_start;
    Value m_stop;
    Value m_step;
};

}  // namespace sonde::tensor
