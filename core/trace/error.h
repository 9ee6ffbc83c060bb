#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace sonde::trace {

/// What a model did that tracing cannot follow. The names are those that users of fx know from its messages.
enum class TraceErrorKind : std::uint8_t {
    ControlFlow,     ///< "TraceError": a symbolic value used as a condition
    Iteration,       ///< "TraceError": a symbolic value iterated
    IntConversion,   ///< "TypeError": int(x), range(x)
    Type,            ///< "TypeError": wrong or missing argument
    Length,          ///< "RuntimeError": len(x)
    Runtime,         ///< "RuntimeError": an operator failed or cannot be evaluated while tracing
    Name,            ///< "NameError": a module or parameter that is not part of the root
    Attribute,       ///< "AttributeError"
    NotImplemented,  ///< "NotImplementedError": a module without a forward
    Assertion,       ///< "AssertionError"
    Value,           ///< "ValueError"
    Key,             ///< "KeyError"
    Memory,          ///< "MemoryError": no memory left
    Depth,           ///< "RecursionError": modules call each other too deeply for the stack
    Foreign,         ///< what a model's own code threw, under the name of its type: "std::logic_error", "int"
};

/// "TraceError", "TypeError", "RuntimeError" …
std::string_view typeName(TraceErrorKind kind);

/// Thrown inside a module's forward and by the proxies in it; never leaves the trace functions, which return a Result.
class TraceError : public std::runtime_error {
  public:
    TraceError(TraceErrorKind kind, const std::string& text) : std::runtime_error(text), m_kind(kind) {}
    /// The exception that is being handled, whatever its type, as a TraceError that names the module if it came through
    /// callModel; one that is a TraceError keeps its kind and text. To be called in a catch block.
    static TraceError ofCurrentException();
    /// An exception of the model's own code, of the type of that name.
    static TraceError ofType(std::string type, const std::string& text);
    TraceErrorKind kind() const { return m_kind; }
    /// "TraceError: symbolically traced variables cannot be used as inputs to control flow", "std::logic_error: not
    /// today".
    std::string message() const;
    /// Thrown by the model's own code: a caller's handler may be waiting for just that.
    bool isOwnException() const { return m_kind == TraceErrorKind::Foreign || m_kind == TraceErrorKind::Memory; }
    /// True for what a robust tracer answers by making the module a leaf (robust-trace.md, "One attempt"): trace and
    /// type errors.
    bool isTracingError() const;
    /// The innermost module whose code failed: "layer1.0, class Block", or the class alone for the root. Empty: not
    /// known.
    const std::string& module() const { return m_module; }
    void setModule(const std::string& qualname, const std::string& className);
    /// `where` is in the error if the module is not known.
    base::Error toError(std::string where) const;
    /// The same of a run: the exit status is that of a run that failed.
    base::Error toRunError(std::string where) const;

  private:
    TraceErrorKind m_kind;
    std::string m_foreignType;
    std::string m_module;
};

/// What callModel keeps on this thread: the exception that is on its way and the module whose code it left first.
class ModelCall {
  public:
    ModelCall();
    ~ModelCall();  ///< the outermost call that ends well forgets what was handled inside of it
    ModelCall(const ModelCall&) = delete;
    ModelCall& operator=(const ModelCall&) = delete;
    /// To be called in a catch block that throws the exception again.
    static void noteFailed(const std::string& qualname, const std::string& className);
};

/// Calls code of a model (a forward, a signature, a branch function). Whatever it throws leaves as it came, for the
/// caller may be a forward that handles just that type; the module stands beside it, and TraceError::ofCurrentException
/// names it.
template <typename Call>
decltype(auto) callModel(const std::string& qualname, const std::string& className, Call&& call) {
    const ModelCall here;
    try {
        return call();
    } catch (...) {
        ModelCall::noteFailed(qualname, className);
        throw;
    }
}

/// The two texts that users search for (robust-trace.md, "Error texts").
inline constexpr const char* kControlFlowText =
    "symbolically traced variables cannot be used as inputs to control flow";
inline constexpr const char* kIterationText =
    "Proxy object cannot be iterated. The number of its elements is not known while tracing; unpack() takes a number";

}  // namespace sonde::trace
