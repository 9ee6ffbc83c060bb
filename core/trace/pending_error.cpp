#include "core/trace/pending_error.h"

#include <utility>

namespace sonde::trace {

TraceError PendingError::refusal(TraceErrorKind kind, const std::string& text) {
    TraceError error(kind, text);
    if (!m_error) m_error = error;
    return error;
}

void PendingError::note() {
    if (!m_error) m_error = TraceError::ofCurrentException();
}

void PendingError::throwIfCaught() {
    if (!m_error) return;
    const TraceError raised = *std::exchange(m_error, std::nullopt);
    const bool isForeign = raised.isOwnException();
    throw TraceError(isForeign ? TraceErrorKind::Runtime : raised.kind(),
                     (isForeign ? raised.message() : raised.what()) +
                         (raised.module().empty() ? std::string() : ", thrown in " + raised.module()) +
                         ": the model's own code caught this and went on, which a trace cannot follow");
}

}  // namespace sonde::trace
