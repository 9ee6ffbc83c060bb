#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/io/torchscript/script_value.h"

namespace sonde::trace {
class Tracer;
}

namespace sonde::io::script {

/// Tells the caller of a module which of its arguments were changed in place. The caller makes one around the call; the
/// innermost one is the called module's.
class ChangedArguments {
  public:
    explicit ChangedArguments(const std::vector<ScriptValue>& arguments);
    ~ChangedArguments();
    ChangedArguments(const ChangedArguments&) = delete;
    ChangedArguments& operator=(const ChangedArguments&) = delete;

    /// The module's side: `inner` are its own cells, `result` what it returns.
    static void report(const std::vector<ScriptValue>& inner, const Var& result);
    /// The caller's side: its cells take what happened to them. `result`: the call's. Gives the argument that is what
    /// the module returns (relu in place), or nothing.
    std::optional<ScriptValue> apply(const Var& result) const;

  private:
    struct Change {
        std::size_t argument;
        Var value;
        bool isResult;  ///< it is what the module returns
    };
    const std::vector<ScriptValue>& m_arguments;
    const trace::Tracer* m_tracer;
    std::size_t m_body = 0;
    std::size_t m_innerBody = 0;
    std::vector<Change> m_changes;
    ChangedArguments* m_before;
};

}  // namespace sonde::io::script
