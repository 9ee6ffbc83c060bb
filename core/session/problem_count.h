#pragma once

#include <span>
#include <string>

#include "core/analysis/problem.h"

namespace sonde::session {

/// "2 origins, 14 carriers"; empty if there is no problem.
std::string problemCountText(std::span<const analysis::Problem> problems);

}  // namespace sonde::session
