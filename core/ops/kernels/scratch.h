#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace sonde::ops::kernels {

/// Uninitialised, 64-byte aligned working memory of one thread that stays with the thread: fresh memory costs a page
/// fault every 4 KiB. `slot` tells buffers apart that are in use at the same time. Throws std::bad_alloc.
class Scratch {
  public:
    static constexpr int kSlots = 4;

    template <typename T>
    static T* of(int slot, std::size_t count) {
        thread_local Scratch buffers[kSlots];
        return static_cast<T*>(buffers[slot].atLeast(count * sizeof(T)));
    }

  private:
    static constexpr std::align_val_t kAlignment{64};

    struct Free {
        void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
    };

    void* atLeast(std::size_t bytes) {
        if (bytes > m_bytes) {
            m_memory.reset();
            m_bytes = 0;
            m_memory.reset(::operator new(bytes, kAlignment));
            m_bytes = bytes;
        }
        return m_memory.get();
    }

    std::unique_ptr<void, Free> m_memory;
    std::size_t m_bytes = 0;
};

/// The same for memory with an owner.
template <typename T>
class AlignedBuffer {
  public:
    AlignedBuffer() = default;
    explicit AlignedBuffer(std::size_t count)
        : m_memory(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}))), m_size(count) {}
    T* data() { return m_memory.get(); }
    const T* data() const { return m_memory.get(); }
    std::size_t size() const { return m_size; }

  private:
    struct Free {
        void operator()(T* memory) const { ::operator delete(memory, std::align_val_t{64}); }
    };
    std::unique_ptr<T, Free> m_memory;
    std::size_t m_size = 0;
};

}  // namespace sonde::ops::kernels
