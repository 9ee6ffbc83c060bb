#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/archive.h"
#include "core/io/torchscript/language.h"
#include "core/io/torchscript/script_value.h"
#include "core/io/torchscript/views.h"

namespace sonde::io::script {

/// Executes the serialised language on values and on proxies (torch/csrc/jit/docs/serialization.md). Operators are
/// those of the registry; work on numbers, strings, lists and dicts is done here. Throws TraceError: what a model
/// raises, what is not supported, and conditions that depend on proxies, unless the tracer records control flow: then
/// they become prim::If and prim::Loop with bodies (control_flow.cpp). If one of the branches does nothing but raise,
/// the other one is taken, and the condition becomes an assertion. Recursion and the number of statements are bounded;
/// a stop that was asked for is obeyed (base::stopRequested).
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
    void enter(const Statement& statement, Environment& env);
    Flow runIf(const Statement& statement, Environment& env, ScriptValue& result);
    Flow runWhile(const Statement& statement, Environment& env, ScriptValue& result);
    Flow runFor(const Statement& statement, Environment& env, ScriptValue& result);
    Flow recordIf(const Statement& statement, const ScriptValue& condition, Environment& env, ScriptValue& result);
    /// `trips` and `condition` are those of prim::Loop; a For has the first one, a While the second.
    void recordLoop(const Statement& statement, const Var& trips, const Var& condition, Environment& env);
    struct LoopPlan;
    bool recordPass(const Statement& statement, const Var& trips, const Var& condition, Environment& env,
                    LoopPlan& plan);
    void recordAssertion(const ScriptValue& condition, bool wanted, const std::vector<Statement>& raising,
                         Environment& env);
    void assign(const Expression& target, ScriptValue value, Environment& env);
    void assignAll(const Statement& statement, Environment& env);

    ScriptValue evaluate(const Expression& expression, Environment& env);
    ScriptValue evaluateCall(const Expression& expression, Environment& env);
    ScriptValue callNamed(const std::string& name, const Expression& expression, Environment& env);
    ScriptValue callGlobal(const std::string& path, const Expression& expression, std::vector<ScriptValue> arguments,
                           std::vector<std::pair<std::string, ScriptValue>> keywords);
    ScriptValue callMethod(const ScriptValue& object, const std::string& name, std::vector<ScriptValue> arguments,
                           std::vector<std::pair<std::string, ScriptValue>> keywords);
    ScriptValue attribute(const ScriptValue& object, const std::string& name);
    ScriptValue subscript(const ScriptValue& object, const ScriptValue& index);
    std::vector<ScriptValue> unpacked(const ScriptValue& value, std::size_t n);
    ScriptValue made(ScriptValue container, std::string_view op);
    ScriptValue callTorch(const std::string& name, const Expression& expression, std::vector<ScriptValue> arguments,
                          std::vector<std::pair<std::string, ScriptValue>> keywords);
    bool recordsAll() const;
    /// x.size() taken apart, if that is what the call for dimension 0 is part of.
    std::optional<ScriptValue> sizeOfUnpacked(const Expression& expression, const ScriptValue& tensor);

    /// What is known of a tensor's form without a run: its number of dimensions inside of a leaf; parts of its size.
    std::optional<ScriptValue> formOf(const std::string& name, const std::vector<ScriptValue>& arguments);
    std::unordered_map<graph::NodeId, std::int64_t> m_ranks;  ///< asserted already
    Archive& m_archive;
    std::unordered_map<const Expression*, ScriptValue> m_sizes;  ///< of calls size(x, i), recorded with the one for 0
    std::vector<Var>
        m_numberTensors;  ///< nodes NumToTensor of the calls that go on; those that nothing uses are taken back
};

}  // namespace sonde::io::script
