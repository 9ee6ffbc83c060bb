#pragma once

// What the parts of the interpreter ask of each other.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/io/torchscript/script_value.h"
#include "core/trace/error.h"

namespace sonde::io::script {

class Archive;

/// What a model raises and what is not supported: ends the call.
[[noreturn]] inline void fail(trace::TraceErrorKind kind, const std::string& text) {
    throw trace::TraceError(kind, text);
}

/// The operator torch.NAME (or ops.NAMESPACE.NAME): first what works on numbers, strings, lists and dicts, then the
/// registry's overloads of aten::NAME by the types of the arguments.
ScriptValue callOperator(const std::string& name, std::vector<ScriptValue> arguments,
                         std::vector<std::pair<std::string, ScriptValue>> keywords);

/// The overload of aten::NAME that takes these arguments: a node if one of them is symbolic, else computed at once.
Var recordCall(const std::string& name, const std::vector<ScriptValue>& arguments,
               const std::vector<std::pair<std::string, ScriptValue>>& keywords);
/// A number that met a tensor while tracing is a constant tensor in the archive, as torch.tensor(2) of the model is. As
/// an operand it is taken for the plain number, which does not raise the other one's type; everywhere else it is the
/// tensor.
void takeConstantsAsNumbers(const std::string& name, std::vector<ScriptValue>& arguments,
                            const std::vector<std::pair<std::string, ScriptValue>>& keywords);
/// unsqueeze_ and the like: gives a tensor the shape of a view of it.
bool isViewInPlace(const std::string& name);
/// The first argument of the operator; a node that the operator writes to, or takes a view of, is a tensor.
ScriptValue asReceiver(const std::string& name, const std::vector<ScriptValue>& arguments);

/// Operators that change their first argument and are no tensor operators.
bool changesContainer(const std::string& name);

/// Operators on plain values. False: not one of them, `result` is untouched.
bool callBuiltin(const std::string& name, std::vector<ScriptValue>& arguments, ScriptValue& result);

/// Operators on proxies that are no tensors and on lists that only a run knows: logic, comparison of lists, length,
/// elements. Only where control flow may be recorded. False: not one of them.
bool callSymbolic(const std::string& name, std::vector<ScriptValue>& arguments, ScriptValue& result);

/// sum() of numbers of which a run knows some, or the list. Nothing: the argument is something else.
std::optional<ScriptValue> sumOfNumbers(const ScriptValue& list);

/// Is a node of the graph that is recorded, or becomes one when it is used.
bool isSymbolic(const ScriptValue& value);
/// A tracer runs that records branches and loops on such values.
bool recordsControlFlow();
/// Bounds what a script does. Throws TraceError: too many statements, or a stop was asked for.
void countStatement();
/// The same for an operation that takes as long as so many statements.
void countWork(std::size_t statements);
/// The same for one that makes so many elements of a list or characters of a string.
void countElements(std::size_t count);
void countCharacters(std::size_t count);

/// range(stop), range(start, stop), range(start, stop, step).
struct Range {
    std::int64_t start;
    std::int64_t step;
    std::uint64_t count;
    std::int64_t at(std::uint64_t i) const {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + i * static_cast<std::uint64_t>(step));
    }
};
/// Throws TraceError for a step of 0 and for proxies.
Range rangeOf(const std::vector<ScriptValue>& arguments);

/// Member `name` of the enumeration `path`, an object with `name` and `value`; none if the path is no enumeration, or
/// has no such member.
ScriptValue enumMember(Archive& archive, const std::string& path, const std::string& name);
/// The same for the member that has this value: pickles name members by it.
ScriptValue enumMemberOf(Archive& archive, const std::string& path, const tensor::Value& value);

/// Whether something is true. Throws for proxies.
bool toBool(const ScriptValue& value);

}  // namespace sonde::io::script
