#include "core/trace/thread_state.h"

namespace sonde::trace {

ThreadState& threadState() {
    // One for each thread: traces on several threads know nothing of each other.
    thread_local ThreadState state;
    return state;
}

}  // namespace sonde::trace
