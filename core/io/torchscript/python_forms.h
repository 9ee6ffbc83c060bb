#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/torchscript/script_value.h"
#include "core/trace/record.h"

namespace sonde::io::script {

/// x[index] of a tensor.
inline constexpr trace::Function kGetItem{"getitem", "getitem", "operator.getitem", true, "prim"};

/// The stop of a slice that has none.
inline constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

/// One part alone, several as a tuple.
Var pythonIndex(const std::vector<Var>& parts);

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
