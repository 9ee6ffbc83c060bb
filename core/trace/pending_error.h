#pragma once

#include <optional>
#include <string>

#include "core/trace/error.h"

namespace sonde::trace {

/// The first error that was thrown into a forward of the trace and that no tracer has handled. A forward may catch it,
/// but not keep it from ending the trace of its module: what it does then was not decided by the values.
class PendingError {
  public:
    /// An error to be thrown into a forward.
    TraceError refusal(TraceErrorKind kind, const std::string& text);
    /// The exception that is being handled ends the trace, whoever catches it.
    void note();
    /// `call`, whose error is noted.
    template <typename Call>
    decltype(auto) noting(Call&& call) {
        try {
            return call();
        } catch (...) {
            note();
            throw;
        }
    }
    /// To be called when a forward has returned: throws what was raised in it and caught by the model's own code.
    void throwIfCaught();

    const std::optional<TraceError>& get() const { return m_error; }
    /// Back to what was noted before, where what raised more is recorded in another way.
    void reset(std::optional<TraceError> error = std::nullopt) { m_error = std::move(error); }

  private:
    std::optional<TraceError> m_error;
};

}  // namespace sonde::trace
