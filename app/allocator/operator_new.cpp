// operator new and delete on mimalloc. Its own, in a library that is built as C (Debian's is), end the process where
// memory is short; C++ says: ask the new handler, then throw std::bad_alloc. What the program defines serves the
// libraries it loads, too.

#include <cstddef>
#include <mimalloc.h>
#include <new>

namespace {

constexpr std::size_t kDefaultAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* allocated(std::size_t size, std::size_t alignment) {
    return alignment <= kDefaultAlignment ? mi_malloc(size) : mi_malloc_aligned(size, alignment);
}

/// [new.delete.single]: again after each call of the handler, until there is none. Apart, so that an operator new that
/// gets its memory at once costs little more than mimalloc.
[[gnu::noinline, gnu::cold]] void* allocateOrThrow(std::size_t size, std::size_t alignment) {
    while (true) {
        if (void* memory = allocated(size, alignment)) return memory;
        const std::new_handler handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
}

void* allocateOrNull(std::size_t size, std::size_t alignment) noexcept {
    try {
        return allocateOrThrow(size, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

std::size_t bytes(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t size) {
    if (void* memory = mi_malloc(size)) [[likely]]
        return memory;
    return allocateOrThrow(size, kDefaultAlignment);
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocateOrNull(size, kDefaultAlignment); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocateOrNull(size, kDefaultAlignment);
}
void* operator new(std::size_t size, std::align_val_t alignment) { return allocateOrThrow(size, bytes(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocateOrThrow(size, bytes(alignment)); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocateOrNull(size, bytes(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocateOrNull(size, bytes(alignment));
}

// mimalloc finds size and alignment of a block by itself: every form of delete is the same.
void operator delete(void* memory) noexcept { mi_free(memory); }
void operator delete[](void* memory) noexcept { mi_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { mi_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { mi_free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { mi_free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { mi_free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { mi_free(memory); }
