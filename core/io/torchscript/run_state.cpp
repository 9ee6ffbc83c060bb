#include "core/io/torchscript/run_state.h"

namespace sonde::io::script {

RunState& runState() {
    // One for each thread, as one trace goes on for each thread (trace::threadState). run_state.h says why it is not
    // passed along.
    thread_local RunState state;
    return state;
}

}  // namespace sonde::io::script
