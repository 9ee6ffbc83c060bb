#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/io/torchscript/script_value.h"

namespace sonde::io::script {

/// Throws TraceError where PyTorch raises: an operator in place (or with out=) writes to `written` and reads another
/// part of the same memory that meets it. What lies apart for sure may be read, and so may the very same elements,
/// except by operators that pick places (operators::refusesAnyOverlap). Where sizes decide that only a run knows, a
/// check is recorded that ends the run. Parts whose bounds only a run knows are let through.
void checkWriteOverlap(const std::string& name, const ScriptValue& written, const std::vector<ScriptValue>& arguments,
                       const std::vector<std::pair<std::string, ScriptValue>>& keywords);

}  // namespace sonde::io::script
