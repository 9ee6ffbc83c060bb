#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace sonde::trace {

/// What a model did that tracing cannot follow. The names are those that users of fx know from its messages.
enum class TraceErrorKind : std::uint8_t {
    ControlFlow,      ///< "TraceError": a symbolic value used as a condition
    Iteration,        ///< "TraceError": a symbolic value iterated
    IntConversion,    ///< "TypeError": int(x), range(x)
    Type,             ///< "TypeError": wrong or missing argument
    Length,           ///< "RuntimeError": len(x)
    Runtime,          ///< "RuntimeError": an operator failed or cannot be evaluated while tracing
    Name,             ///< "NameError": a module or parameter that is not part of the root
    Attribute,        ///< "AttributeError"
    NotImplemented,   ///< "NotImplementedError": a module without a forward
    Assertion,        ///< "AssertionError"
    Value,            ///< "ValueError"
    Key,              ///< "KeyError"
};

/// "TraceError", "TypeError", "RuntimeError" …
std::string_view typeName(TraceErrorKind kind);

/// Thrown inside a module's forward and by the proxies in it; never leaves the trace functions, which return a Result.
class TraceError : public std::runtime_error {
  public:
    TraceError(TraceErrorKind kind, const std::string& text) : std::runtime_error(text), m_kind(kind) {}
    TraceErrorKind kind() const { return m_kind; }
    /// "TraceError: symbolically traced variables cannot be used as inputs to control flow".
    std::string message() const { return std::string(typeName(m_kind)) + ": " + what(); }
    /// True for what a robust tracer answers by making the module a leaf (reference 2, c1): trace and type errors.
    bool isTracingError() const;
    base::Error toError(std::string where) const;

  private:
    TraceErrorKind m_kind;
};

/// The two texts that users search for (reference 2, (e)).
inline constexpr const char* kControlFlowText = "symbolically traced variables cannot be used as inputs to control flow";
inline constexpr const char* kIterationText =
    "Proxy object cannot be iterated. The number of its elements is not known while tracing; unpack() takes a number";

}  // namespace sonde::trace
