#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace sonde::base {

enum class Severity { Info, Warning, Error };

/// One finding about a model that does not stop it from being seen: an unsupported operator, a shape that disagrees.
struct Diagnostic {
    Severity severity = Severity::Warning;
    std::string what;
    std::string where;  ///< node name, qualname, or place in the file
    std::string hint;
};

/// Findings are collected, all of them and not just the first.
using Diagnostics = std::vector<Diagnostic>;

}  // namespace sonde::base
