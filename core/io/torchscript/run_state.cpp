#include "core/io/torchscript/run_state.h"

namespace sonde::io::script {

RunState& runState() {
    // One for each thread, as one trace goes on for each thread: see above.
    thread_local RunState state;
    return state;
}

}  // namespace sonde::io::script
