#pragma once

#include <cstddef>

#include "core/exec/plan.h"

namespace sonde::session::debug {

/// Count of the operations with nothing inside that a plan does; 0 if branches or loops decide it.
std::size_t operationCount(const exec::Plan& plan);

}  // namespace sonde::session::debug
