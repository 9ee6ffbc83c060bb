#pragma once

#include <nlohmann/json.hpp>

#include "core/session/problem_report.h"

namespace sonde::session {

/// The list under "problems" of ProblemReport::json().
nlohmann::ordered_json problemsJson(const ProblemReport& report);

}  // namespace sonde::session
