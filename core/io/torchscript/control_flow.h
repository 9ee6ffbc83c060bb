#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/script_value.h"

// What branches (control_flow.cpp) and loops (loops.cpp) that are recorded have in common.

namespace sonde::io::script {

/// Throws a TraceError of kind ControlFlow.
[[noreturn]] void refuseFlow(const std::string& text);

/// Variables that a block gives values to, in the order of the source.
std::vector<std::string> assignedNames(const std::vector<Statement>& body);

/// The same node, the same module's tensor, or equal plain values.
bool sameVar(const Var& a, const Var& b);

/// Brings all tensors that the variables lead to up to date with writes through views, where that is possible: what is
/// recorded next starts from what is there.
void settleAll(const std::unordered_map<std::string, ScriptValue>& variables);

}  // namespace sonde::io::script
