#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/io/torchscript/python_index.h"
#include "core/io/torchscript/script_value.h"

namespace sonde::io::script {

/// The archive's operators come from Python forms that had other names: `x[:, :6]` is two slices, `a / b` a div,
/// `x.shape` a size. While a tracer records for people (not Archive::asWritten), they become one node again, as in a
/// trace of the Python model. What the archive knows of the source of `expression`, the call, decides; where it knows
/// nothing, the form that is usual is taken. Nothing: the operator has no such form here, or no tracer runs.
std::optional<ScriptValue> asPython(const std::string& op, const std::vector<ScriptValue>& arguments,
                                    const Expression& expression);

/// Tracing makes `b, c, h, w = x.size()` a call size(x, i) for each name. They are told from sizes that are asked for
/// one by one by having the same line and stack. Given the call for dimension 0: those for all dimensions, in order;
/// empty if it is alone or the code was not traced.
std::vector<const Expression*> unpackedSizes(const FunctionDef& function, const Expression& first);

}  // namespace sonde::io::script
