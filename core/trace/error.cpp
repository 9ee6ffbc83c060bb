#include "core/trace/error.h"

namespace sonde::trace {

std::string_view typeName(TraceErrorKind kind) {
    switch (kind) {
        case TraceErrorKind::ControlFlow:
        case TraceErrorKind::Iteration: return "TraceError";
        case TraceErrorKind::IntConversion:
        case TraceErrorKind::Type: return "TypeError";
        case TraceErrorKind::Length:
        case TraceErrorKind::Runtime: return "RuntimeError";
        case TraceErrorKind::Name: return "NameError";
        case TraceErrorKind::Attribute: return "AttributeError";
        case TraceErrorKind::NotImplemented: return "NotImplementedError";
        case TraceErrorKind::Assertion: return "AssertionError";
        case TraceErrorKind::Value: return "ValueError";
        case TraceErrorKind::Key: return "KeyError";
    }
    return "RuntimeError";
}

bool TraceError::isTracingError() const {
    return m_kind == TraceErrorKind::ControlFlow || m_kind == TraceErrorKind::Iteration ||
           m_kind == TraceErrorKind::IntConversion || m_kind == TraceErrorKind::Type;
}

base::Error TraceError::toError(std::string where) const {
    base::Error error = base::unreadable(message(), std::move(where));
    if (m_kind == TraceErrorKind::ControlFlow || m_kind == TraceErrorKind::Iteration ||
        m_kind == TraceErrorKind::IntConversion || m_kind == TraceErrorKind::Length) {
        error.withHint("make the module a leaf (--leaf CLASS), trace with --tracer robust, or give an example to follow (--example)");
    }
    return error;
}

}  // namespace sonde::trace
