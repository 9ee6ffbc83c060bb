#include "core/trace/paused_tracing.h"

#include <utility>

#include "core/trace/thread_state.h"

namespace sonde::trace {

PausedTracing::PausedTracing() : m_before(std::exchange(threadState().tracer, nullptr)) {}
PausedTracing::~PausedTracing() { threadState().tracer = m_before; }

}  // namespace sonde::trace
