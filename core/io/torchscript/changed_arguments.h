#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/io/torchscript/script_value.h"

namespace sonde::trace {
class Tracer;
}

namespace sonde::io::script {

/// What a call of a module means to the tensors that its caller has. The caller makes one around the call; the
/// innermost one is the called module's.
class ChangedArguments {
  public:
    explicit ChangedArguments(const std::vector<ScriptValue>& arguments);
    ~ChangedArguments();
    ChangedArguments(const ChangedArguments&) = delete;
    ChangedArguments& operator=(const ChangedArguments&) = delete;

    /// The module's side, before it runs: `inner` are its own cells. Arguments that share memory share it inside.
    static void link(std::vector<ScriptValue>& inner);
    /// The module's side, after it ran; `returned` is what it gives, `result` the same as a value.
    static void report(const std::vector<ScriptValue>& inner, const ScriptValue& returned, const Var& result);
    /// A tracer's caller waits for what this thread runs on values: it is told what happens to its arguments.
    static bool isAwaited();
    /// The caller's side: its cells take what happened to them. Gives what the call gives, which may share their
    /// memory.
    ScriptValue apply(const Var& result);
    /// Roots whose memory the result may show.
    std::vector<CellPtr> roots() const;

  private:
    struct Change {
        std::size_t argument;
        Var value;
        bool isResult;  ///< it is what the module returns
    };
    std::optional<ScriptValue> inlined(const Var& result);
    ScriptValue withMemory(const Var& result) const;
    ScriptValue withMemory(ScriptValue value, const std::vector<CellPtr>& roots) const;

    const std::vector<ScriptValue>& m_arguments;
    const trace::Tracer* m_tracer;
    std::size_t m_body = 0;
    std::size_t m_innerBody = 0;
    bool m_isReported = false;
    bool m_sharesInside = false;        ///< tensors of the result share memory with each other
    std::vector<std::size_t> m_shared;  ///< arguments that the result may show
    std::vector<CellPtr> m_outer;       ///< tensors of modules that it may show
    std::vector<Change> m_changes;
    std::vector<ScriptValue> m_inner;  ///< the module's own cells
    ScriptValue m_returned;
    ChangedArguments* m_before;
};

}  // namespace sonde::io::script
