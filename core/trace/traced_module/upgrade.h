#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/traced_module/module_graph.h"

namespace sonde::trace {

/// Kinds of exprs that can be brought up to date when a file of an older library is read.
enum class UpgradeKind : std::uint8_t { Operator, Function, Module, Method };

/// Changes an expr of a file of `fileVersion` so that it means now what it meant then. It may change the arguments and
/// add exprs to the graph with an editor.
using UpgradeHook = std::function<void(TracedExpr& expr, std::string_view fileVersion)>;

/// Registers a hook for an operator, function or tensor method (by its name) or a call of a module (by class). Error:
/// there is one for that key.
base::Result<void> registerUpgrade(UpgradeKind kind, std::string identity, UpgradeHook hook);
/// Takes a hook back. False: there was none.
bool unregisterUpgrade(UpgradeKind kind, std::string_view identity);

/// Runs the hooks over a module and everything in it, then names and numbers anew what they added. Throws what hooks
/// throw. Returns how many exprs were changed.
std::size_t upgradeModule(TracedModule& module, std::string_view fileVersion);

}  // namespace sonde::trace
