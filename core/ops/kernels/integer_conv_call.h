#pragma once

#include <cstdint>

#include "core/ops/kernels/integer_kernels.h"
#include "core/ops/registry/registry.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// Takes sums of channel `channel` of the result [N, K, D…], from element `at` of the whole tensor on: sums[j] + offset
/// modulo 2^32. Called from several threads.
class SumsOfBytes {
  public:
    virtual ~SumsOfBytes() = default;
    virtual void take(std::int64_t channel, std::int64_t at, std::int64_t count, const std::int32_t* sums,
                      std::int32_t offset) const = 0;
    /// Where take() writes the bytes of its Requantisation, for those who do that while the sums are in registers; null
    /// if it does anything else.
    virtual std::uint8_t* bytes() const { return nullptr; }
    virtual Requantisation requantisation(std::int64_t /*channel*/) const { return {}; }
};

/// x [N, C, D…] of bytes, w [K, C/groups, kernel…] of bytes, zero points with one element (w: or one for each of K) or
/// none.
struct IntegerConv {
    const Tensor &x, &w;
    const Value &zeroX, &zeroW;
    const Window& window;
    std::int64_t groups = 1;
};

}  // namespace sonde::ops::kernels
