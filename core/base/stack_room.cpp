#include "core/base/stack_room.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <pthread.h>

namespace sonde::base {

namespace {

struct Stack {
    std::uintptr_t low = 0;  ///< the last usable address; stacks grow downwards
    std::size_t size = 0;    ///< 0: not known
};

Stack ofThisThread() {
    Stack stack;
#ifdef __linux__
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) stack = {reinterpret_cast<std::uintptr_t>(low), size};
    pthread_attr_destroy(&attributes);
#endif
    return stack;
}

/// Asking the system is slow on a program's first thread (it reads the table of mappings), so each thread asks once.
const Stack& stack() {
    thread_local const Stack known = ofThisThread();
    return known;
}

}  // namespace

std::size_t stackLeft() {
    if (stack().size == 0) return std::numeric_limits<std::size_t>::max();
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here > stack().low ? here - stack().low : 0;
}

bool stackIsLow() { return stackLeft() < std::min<std::size_t>(stack().size / 16, std::size_t{512} << 10); }

}  // namespace sonde::base
