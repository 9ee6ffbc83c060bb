#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::base {

/// What memory is for.
enum class MemoryKind : std::uint8_t {
    Value,    ///< of a tensor
    Block,    ///< that a run keeps for tensors, used or not
    Lease,    ///< a tensor in a Block: no memory of its own
    Packed,   ///< weights in the layout that a kernel reads
    Scratch,  ///< working memory of kernels
    Weights,  ///< stored weights that were read (or made) for the first time
};
inline constexpr std::size_t kMemoryKinds = 6;

/// Takes down what happens on the threads that it is current on: memory that is taken and given back, and when a thread
/// works on a piece of a parallel loop. A ThreadPool makes it current on its workers for the loops that were begun
/// under it. Memory is taken down as long as it lives, whichever thread gives it back. Thread-safe.
class ActivityLog {
  public:
    /// Memory that is taken (bytes above 0) or given back (below). Nanoseconds of the steady clock.
    struct Memory {
        std::int64_t atNs;
        std::int64_t bytes;
        std::uint64_t block;  ///< the same when it is given back
        MemoryKind kind;
        const void* owner;  ///< the tensor::Storage of Value and Lease; of what is given back null
    };
    struct Work {
        std::size_t thread;  ///< of the pool, from 1: the one that runs the loop (0) always works
        std::int64_t beginNs, endNs;
    };

    struct Records {
        std::vector<Memory> memory;
        std::vector<Work> work;
    };

    /// Memory whose end is taken down with this. Keeps no log alive.
    class Block {
      public:
        Block() = default;
        Block(std::weak_ptr<ActivityLog> log, std::uint64_t block) : m_log(std::move(log)), m_block(block) {}
        Block(Block&& other) noexcept = default;
        Block& operator=(Block&& other) noexcept {
            std::swap(m_log, other.m_log);
            std::swap(m_block, other.m_block);
            return *this;
        }
        ~Block() {
            if (const auto log = m_log.lock()) log->freed(m_block);
        }

      private:
        std::weak_ptr<ActivityLog> m_log;
        std::uint64_t m_block = 0;
    };

    /// While it lives, the log is current on this thread. Null: none is. Scopes nest.
    class Scope {
      public:
        explicit Scope(const std::shared_ptr<ActivityLog>& log);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        std::shared_ptr<ActivityLog> m_before;
    };
    /// While it lives, Value memory that this thread takes is of another kind.
    class KindScope {
      public:
        explicit KindScope(MemoryKind kind);
        ~KindScope();
        KindScope(const KindScope&) = delete;
        KindScope& operator=(const KindScope&) = delete;

      private:
        MemoryKind m_before;
    };

    /// Of this thread; null mostly.
    static const std::shared_ptr<ActivityLog>& current();
    /// The kind that memory of tensors is of, see KindScope.
    static MemoryKind valueKind();
    /// Memory that is taken now, if a log is current.
    static Block taken(MemoryKind kind, std::size_t bytes, const void* owner = nullptr) {
        return current() ? current()->add(kind, bytes, owner) : Block();
    }
    /// The same of memory whose end nobody needs to know.
    static void read(MemoryKind kind, std::size_t bytes);
    void worked(std::size_t thread, std::int64_t beginNs, std::int64_t endNs);

    static std::shared_ptr<ActivityLog> make();
    static std::int64_t nowNs();

    /// What was taken down since the last time, in order: whoever asks keeps it. What stays here is what is in use.
    Records take();
    std::size_t pending() const { return m_pending.load(std::memory_order_relaxed); }  ///< records that take() returns
    /// Bytes in use that were taken under this log, by MemoryKind.
    std::array<std::int64_t, kMemoryKinds> bytesInUse() const;
    /// The block that an owner has now. Empty if it has none.
    std::optional<std::uint64_t> blockOf(const void* owner) const;

  private:
    struct Taken {
        std::int64_t bytes;
        MemoryKind kind;
        const void* owner;
    };

    Block add(MemoryKind kind, std::size_t bytes, const void* owner);
    void freed(std::uint64_t block);
    void record(const Memory& memory);  ///< with the lock

    mutable std::mutex m_mutex;
    Records m_records;
    std::atomic<std::size_t> m_pending{0};
    std::uint64_t m_nextBlock = 0;
    std::unordered_map<std::uint64_t, Taken> m_inUse;  ///< by block
    std::unordered_map<const void*, std::uint64_t> m_blockOf;
    std::array<std::int64_t, kMemoryKinds> m_bytesInUse{};
    std::weak_ptr<ActivityLog> m_self;
};

}  // namespace sonde::base
