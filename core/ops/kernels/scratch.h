#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/base/activity_log.h"

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
            m_logged = {};
            m_memory.reset(::operator new(bytes, kAlignment));
            m_bytes = bytes;
            m_logged = base::ActivityLog::taken(base::MemoryKind::Scratch, bytes);
        }
        return m_memory.get();
    }

    std::unique_ptr<void, Free> m_memory;
    std::size_t m_bytes = 0;
    base::ActivityLog::Block m_logged;
};

/// The same for memory with an owner.
template <typename T>
class AlignedBuffer {
  public:
    AlignedBuffer() = default;
    explicit AlignedBuffer(std::size_t count, base::MemoryKind kind = base::MemoryKind::Packed)
        : m_memory(static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64}))), m_size(count),
          m_logged(base::ActivityLog::taken(kind, count * sizeof(T))) {}
    T* data() { return m_memory.get(); }
    const T* data() const { return m_memory.get(); }
    std::size_t size() const { return m_size; }

  private:
    struct Free {
        void operator()(T* memory) const { ::operator delete (memory, std::align_val_t{64}); }
    };
    std::unique_ptr<T, Free> m_memory;
    std::size_t m_size = 0;
    base::ActivityLog::Block m_logged;
};

/// Working memory of one call that any thread may touch: taken from what the calling thread gave back before, because
/// fresh memory costs a page fault every 4 KiB. Not initialised, 64-byte aligned. Throws std::bad_alloc.
template <typename T>
class WorkBuffer {
  public:
    WorkBuffer() = default;
    explicit WorkBuffer(std::size_t count) {
        std::vector<AlignedBuffer<std::byte>>& kept = unused();
        const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(T);
        std::size_t best = kept.size();
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (kept[i].size() >= bytes && (best == kept.size() || kept[i].size() < kept[best].size())) best = i;
        }
        if (best < kept.size()) {
            m_memory = std::move(kept[best]);
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
        } else {
            if (!kept.empty()) kept.erase(kept.begin());  // too small by now
            m_memory = AlignedBuffer<std::byte>(bytes, base::MemoryKind::Scratch);
        }
        m_count = count;
    }
    WorkBuffer(WorkBuffer&& other) noexcept
        : m_memory(std::move(other.m_memory)), m_count(std::exchange(other.m_count, 0)) {}
    WorkBuffer& operator=(WorkBuffer&& other) noexcept {
        std::swap(m_memory, other.m_memory);
        std::swap(m_count, other.m_count);
        return *this;
    }
    ~WorkBuffer() {
        std::vector<AlignedBuffer<std::byte>>& kept = unused();
        if (m_memory.data() && kept.size() < kMaxKept) kept.push_back(std::move(m_memory));
    }

    T* data() { return reinterpret_cast<T*>(m_memory.data()); }
    const T* data() const { return reinterpret_cast<const T*>(m_memory.data()); }
    std::size_t size() const { return m_count; }

  private:
    static constexpr std::size_t kMaxKept = 4;
    /// Stay with the thread, as of Scratch: kernels on several threads take and give them back without a lock.
    static std::vector<AlignedBuffer<std::byte>>& unused() {
        thread_local std::vector<AlignedBuffer<std::byte>> buffers = [] {
            std::vector<AlignedBuffer<std::byte>> none;
            none.reserve(kMaxKept);  // giving back may not throw
            return none;
        }();
        return buffers;
    }

    AlignedBuffer<std::byte> m_memory;
    std::size_t m_count = 0;
};

}  // namespace sonde::ops::kernels
