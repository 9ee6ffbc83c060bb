#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/io/torchscript/script_value.h"
#include "core/trace/record.h"

namespace sonde::io::script {

/// x[index] of a tensor.
inline constexpr trace::Function kGetItem{"getitem", "getitem", "operator.getitem", true, "prim"};

/// The stop of a slice that has none.
inline constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

/// One part alone, several as a tuple.
inline Var pythonIndex(const std::vector<Var>& parts) { return parts.size() == 1 ? parts.front() : Var::tuple(parts); }

}  // namespace sonde::io::script
