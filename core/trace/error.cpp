#include "core/trace/error.h"

#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <new>
#include <typeinfo>

#include "core/base/exception_text.h"
#include "core/base/unicode.h"

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
        case TraceErrorKind::Memory: return "MemoryError";
        case TraceErrorKind::Depth: return "RecursionError";
        case TraceErrorKind::Foreign: return "Exception";
    }
    return "RuntimeError";
}

namespace {

/// "std::logic_error", "int": the type of the exception that is being handled.
std::string currentExceptionType() {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (!type) return {};
    if (*type == typeid(std::string)) return "std::string";
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? text.get() : type->name();
}

/// What the calls of models on this thread have thrown. Of the thread, as the exception that it belongs to is: the
/// code between a throw and its handlers is the model's own, and passes nothing.
struct FailedCall {
    std::size_t depth = 0;         ///< calls of models, one inside the other
    std::exception_ptr exception;  ///< what left one of them last
    std::string qualname, className;
};
thread_local FailedCall tFailed;

/// Exceptions that are thrown again are the same object, and a handler that throws something else throws another one.
bool isNoted(const std::exception_ptr& exception) { return exception && exception == tFailed.exception; }

TraceError described() {
    std::string text = "thrown by the model's own code, not a std::exception";
    try {
        throw;
    } catch (const TraceError& error) {
        return error;
    } catch (const std::bad_alloc&) {
        return {TraceErrorKind::Memory, "out of memory"};
    } catch (const std::exception& exception) {
        text = base::exceptionText(exception, {});
    } catch (const std::string& thrown) {
        text = base::thrownText(thrown);
    } catch (const char* thrown) {
        if (thrown) text = base::thrownText(thrown);
    } catch (...) {
    }
    return TraceError::ofType(currentExceptionType(), text);
}

}  // namespace

ModelCall::ModelCall() { ++tFailed.depth; }
ModelCall::~ModelCall() {
    if (--tFailed.depth == 0 && std::uncaught_exceptions() == 0) tFailed.exception = nullptr;
}

void ModelCall::noteFailed(const std::string& qualname, const std::string& className) {
    std::exception_ptr exception = std::current_exception();
    if (isNoted(exception)) return;
    tFailed.exception = std::move(exception);
    tFailed.qualname = qualname;
    tFailed.className = className;
}

TraceError TraceError::ofType(std::string type, const std::string& text) {
    TraceError error(TraceErrorKind::Foreign, text);
    error.m_foreignType = std::move(type);
    return error;
}

TraceError TraceError::ofCurrentException() {
    TraceError error = described();
    if (!isNoted(std::current_exception())) return error;
    if (error.m_module.empty()) error.setModule(tFailed.qualname, tFailed.className);
    if (tFailed.depth == 0) tFailed.exception = nullptr;
    return error;
}

std::string TraceError::message() const {
    const std::string text = what();
    return (m_foreignType.empty() ? std::string(typeName(m_kind)) : m_foreignType) + (text.empty() ? "" : ": " + text);
}

void TraceError::setModule(const std::string& qualname, const std::string& className) {
    constexpr std::size_t kMaxLength = 200;  // of modules thousands of levels deep beginning and end are enough
    const bool isLong = qualname.size() > kMaxLength;
    const std::string path = isLong ? std::string(base::utf8Prefix(qualname, kMaxLength / 2)) + " … " +
                                          std::string(base::utf8Suffix(qualname, kMaxLength / 2))
                                    : qualname;
    m_module = path.empty() ? className : path + ", class " + className;
}

bool TraceError::isTracingError() const {
    return m_kind == TraceErrorKind::ControlFlow || m_kind == TraceErrorKind::Iteration ||
           m_kind == TraceErrorKind::IntConversion || m_kind == TraceErrorKind::Type;
}

base::Error TraceError::toRunError(std::string where) const {
    return base::runError(message(), m_module.empty() ? std::move(where) : m_module);
}

base::Error TraceError::toError(std::string where) const {
    if (!m_module.empty()) where = m_module;
    if (m_kind == TraceErrorKind::Memory) return base::runError("out of memory while tracing", std::move(where));
    base::Error error = base::unreadable(message(), std::move(where));
    switch (m_kind) {
        case TraceErrorKind::ControlFlow:
        case TraceErrorKind::Iteration:
        case TraceErrorKind::IntConversion:
        case TraceErrorKind::Length:
            error.withHint(
                "make the module a leaf (--leaf CLASS), trace with --tracer robust, or provide an example to follow (--example)");
            break;
        case TraceErrorKind::Depth:
            error.withHint("make a module on the path a leaf (--leaf CLASS): it is then not traced into");
            break;
        case TraceErrorKind::Foreign:
            error.withHint(
                "the exception comes from the model's own code; where a forward throws it, --tracer robust makes the module a leaf and traces the rest");
            break;
        default: break;
    }
    return error;
}

}  // namespace sonde::trace
