#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/archive.h"
#include "core/io/torchscript/script_value.h"

namespace sonde::io::script {

/// Executes the serialised language on values and on proxies (torch/csrc/jit/docs/serialization.md). Operators are those
/// of the registry; work on numbers, strings, lists and dicts is done here. Throws TraceError: what a model raises, what
/// is not supported, and conditions that depend on proxies. A condition on a proxy is followed in one case: if one of the
/// branches does nothing but raise, the other one is taken.
/// Recursion and the number of statements are bounded.
class Interpreter {
  public:
    explicit Interpreter(Archive& archive) : m_archive(archive) {}

    /// Runs a function; `withSelf`: the first argument is the receiver.
    ScriptValue call(const FunctionDef& function, std::vector<ScriptValue> arguments, bool withSelf,
                     const std::vector<std::pair<std::string, ScriptValue>>& keywords = {});
    /// A default value or a class constant.
    ScriptValue evaluateConstant(const Expression& expression);

  private:
    using Environment = std::unordered_map<std::string, ScriptValue>;
    enum class Flow : std::uint8_t { Next, Return };

    Flow run(const std::vector<Statement>& body, Environment& env, ScriptValue& result);
    Flow runIf(const Statement& statement, Environment& env, ScriptValue& result);
    Flow runFor(const Statement& statement, Environment& env, ScriptValue& result);
    void assign(const Expression& target, ScriptValue value, Environment& env);
    void assignAll(const Statement& statement, Environment& env);

    ScriptValue evaluate(const Expression& expression, Environment& env);
    ScriptValue evaluateCall(const Expression& expression, Environment& env);
    ScriptValue callNamed(const std::string& name, const Expression& expression, Environment& env);
    ScriptValue callGlobal(const std::string& path, std::vector<ScriptValue> arguments,
                           std::vector<std::pair<std::string, ScriptValue>> keywords);
    ScriptValue callMethod(const ScriptValue& object, const std::string& name, std::vector<ScriptValue> arguments,
                           std::vector<std::pair<std::string, ScriptValue>> keywords);
    ScriptValue attribute(const ScriptValue& object, const std::string& name);
    ScriptValue subscript(const ScriptValue& object, const ScriptValue& index);
    std::vector<ScriptValue> unpacked(const ScriptValue& value, std::size_t n);

    Archive& m_archive;
};

/// The operator torch.NAME (or ops.NAMESPACE.NAME): first what works on numbers, strings, lists and dicts, then the
/// registry's overloads of aten::NAME by the types of the arguments.
ScriptValue callOperator(const std::string& name, std::vector<ScriptValue> arguments,
                         std::vector<std::pair<std::string, ScriptValue>> keywords);

/// Operators on plain values. False: not one of them, `result` is untouched.
bool callBuiltin(const std::string& name, std::vector<ScriptValue>& arguments, ScriptValue& result);

/// Whether something is true. Throws for proxies.
bool truth(const ScriptValue& value);

}  // namespace sonde::io::script
