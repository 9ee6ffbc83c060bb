#pragma once

#include <cstdint>

#include "core/trace/var.h"

namespace sonde::io::script {

/// What is known for sure of a proxy while a script is recorded. Any other one may be a tensor as well.
enum class NumberKind : std::uint8_t { Unknown, Number, Whole };

/// Whole: a dim size, a length, and what integers give together. Number: an item, a quotient, int() and its kin.
/// Looks a few operations back, not further.
NumberKind numberKindOf(const trace::Var& var);

}  // namespace sonde::io::script
