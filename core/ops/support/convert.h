#pragma once

#include <string>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

struct CastOptions {
    bool saturate = true;          ///< to float8: values outside the range become the largest finite one
    std::string roundMode = "up";  ///< to float8_e8m0: "up", "down" or "nearest"
};

/// Sets output 0 to x converted to `to`.
base::Result<void> convertTo(KernelContext& context, const Tensor& x, DType to, const CastOptions& options = {});

}  // namespace sonde::ops
