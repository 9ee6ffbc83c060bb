#pragma once

#include "core/tensor/value.h"

namespace sonde::tensor {

/// `...` in an index: as many full axes as are needed.
class EllipsisValue final : public ObjectBase {
  public:
    std::string typeName() const override { return "ellipsis"; }
};

}  // namespace sonde::tensor
