#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/interpreter.h"
#include "core/trace/error.h"

namespace sonde::io::script {

// What the files of builtins share. Each operator gets its arguments and says whether it is defined for them.

using Arguments = std::vector<ScriptValue>;
using Builtin = bool (*)(Arguments&, ScriptValue&);
using BuiltinTable = std::unordered_map<std::string, Builtin>;

/// An element count that no model needs, before memory is asked for.
inline constexpr std::size_t kMaxElements = 50'000'000;

inline std::int64_t intOf(const ScriptValue& value) { return toVar(value).toInt(); }
inline bool isInt(const ScriptValue& value) {
    return value.isNumber() && value.plain()->value().kind() != tensor::ValueKind::Float;
}
inline double numberOf(const ScriptValue& value) { return value.plain()->value().number(); }
inline const std::string& stringOf(const ScriptValue& value) { return value.plain()->value().toString(); }
/// The tensor of a cell that holds a value; null for proxies and anything else.
inline const tensor::Tensor* tensorOf(const ScriptValue& value) {
    const TensorCell* cell = value.cell();
    return cell && cell->var.kind() == Var::Kind::Value ? &cell->var.value().tensor() : nullptr;
}
/// Elements of a list or tuple, else null.
inline std::vector<ScriptValue>* itemsOf(const ScriptValue& value) {
    if (value.list()) return &value.list()->items;
    return value.tuple() ? &value.tuple()->items : nullptr;
}
bool hasTensorOrProxy(const ScriptValue& value);
/// As str() has it: 1.0 is "1.", text inside of containers is quoted.
std::string textOf(const ScriptValue& value, bool quoted = false);
/// Counted from the end if negative. Throws if it is out of range.
std::size_t checkedIndex(std::int64_t index, std::size_t size);

/// Methods of str, and text of other things.
const BuiltinTable& textBuiltins();
/// Lists, tuples and dicts.
const BuiltinTable& containerBuiltins();
/// Module math.
const BuiltinTable& mathBuiltins();

}  // namespace sonde::io::script
