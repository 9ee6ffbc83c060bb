#pragma once

#include <cstdint>
#include <memory>

#include "core/trace/record.h"

namespace sonde::trace {

/// An evaluator whose random operators draw what a seed decides.
class SeedableEvaluator {
  public:
    virtual ~SeedableEvaluator() = default;
    /// One whose calls, one after the other, draw other numbers each.
    virtual std::shared_ptr<const Evaluator> withSeed(std::uint64_t seed) const = 0;
};

}  // namespace sonde::trace
