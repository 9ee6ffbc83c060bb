#pragma once

#include <cstddef>

namespace sonde::base {

/// Bytes of this thread's stack that are left below the caller. Linux; elsewhere "much".
std::size_t stackLeft();

/// Too little of the stack is left to go deeper: what recurses over a model's own nesting asks this first and ends with
/// an error. A sixteenth of the stack is kept (at most 512 KiB), so that errors can still be dealt with where they are
/// caught.
bool stackIsLow();

}  // namespace sonde::base
