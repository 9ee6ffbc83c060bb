#pragma once

#include <string>
#include <utility>

#include "core/session/bisection/bisection.h"

namespace sonde::session::bisection {

/// Both values with as many digits as tell them apart: "0.25" and "0.5", "0.174281657" and "0.174281672".
std::pair<std::string, std::string> valueTexts(const FarthestElement& at);

}  // namespace sonde::session::bisection
