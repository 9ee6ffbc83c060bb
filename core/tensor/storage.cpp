#include "core/tensor/storage.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/activity_log.h"
#include "core/tensor/allocation_limit.h"

namespace sonde::tensor {

namespace {

std::size_t defaultLimit() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long pageSize = sysconf(_SC_PAGE_SIZE);
    if (pages <= 0 || pageSize <= 0) return std::size_t{4} << 30;
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(pageSize) / 4 * 3;
}

std::atomic<std::size_t>& limit() {
    static std::atomic<std::size_t> value{defaultLimit()};
    return value;
}

constexpr std::size_t kAlignment = 64;

/// Of this thread, set by AllocationLimit: a kernel that is tried out before a run allocates where no limit is passed,
/// and a run on another thread has all of the memory meanwhile.
thread_local std::size_t threadLimit = std::numeric_limits<std::size_t>::max();

base::Result<void> checkSize(std::size_t sizeBytes) {
    if (sizeBytes > threadLimit)
        return base::runError("a tensor of " + std::to_string(sizeBytes) + " bytes is not allocated before a run");
    if (sizeBytes <= memoryLimit()) return {};
    return base::runError("a tensor of " + std::to_string(sizeBytes) + " bytes is more than the memory limit of " +
                          std::to_string(memoryLimit()) + " bytes");
}

base::Error noMemory(std::size_t sizeBytes) {
    return base::runError("out of memory for a tensor of " + std::to_string(sizeBytes) + " bytes");
}

}  // namespace

AllocationLimit::AllocationLimit(std::size_t sizeBytes) : m_before(threadLimit) {
    threadLimit = std::min(m_before, sizeBytes);
}
AllocationLimit::~AllocationLimit() { threadLimit = m_before; }
std::size_t AllocationLimit::current() { return threadLimit; }

struct Storage::Deferred {
    std::once_flag filled;
    std::function<void(std::byte*)> fill;
};

std::size_t memoryLimit() { return limit().load(std::memory_order_relaxed); }
void setMemoryLimit(std::size_t sizeBytes) { limit().store(sizeBytes, std::memory_order_relaxed); }

base::Result<std::shared_ptr<Storage>> Storage::allocate(std::size_t sizeBytes) {
    SONDE_TRY(checkSize(sizeBytes));
    void* memory = ::operator new (std::max(sizeBytes, kAlignment), std::align_val_t{kAlignment}, std::nothrow);
    if (!memory) return noMemory(sizeBytes);
    auto storage = std::make_shared<Storage>();
    storage->m_data = static_cast<std::byte*>(memory);
    storage->m_sizeBytes = sizeBytes;
    storage->m_writable = true;
    const auto free = [](const void* pointer) {
        ::operator delete (const_cast<void*>(pointer), std::align_val_t{kAlignment});
    };
    if (!base::ActivityLog::current()) {
        storage->m_owner = std::shared_ptr<const void>(memory, free);
        return storage;
    }
    auto logged = std::make_shared<base::ActivityLog::Block>(
        base::ActivityLog::taken(base::ActivityLog::valueKind(), sizeBytes, storage.get()));
    storage->m_owner =
        std::shared_ptr<const void>(memory, [free, logged = std::move(logged)](const void* pointer) { free(pointer); });
    return storage;
}

std::shared_ptr<Storage> Storage::view(const std::byte* data, std::size_t sizeBytes, std::shared_ptr<const void> owner,
                                       bool writable) {
    auto storage = std::make_shared<Storage>();
    storage->m_data = const_cast<std::byte*>(data);
    storage->m_sizeBytes = sizeBytes;
    storage->m_writable = writable;
    storage->m_owner = std::move(owner);
    return storage;
}

base::Result<std::shared_ptr<Storage>> Storage::deferred(std::size_t sizeBytes, std::function<void(std::byte*)> fill) {
    SONDE_TRY(checkSize(sizeBytes));
    const std::size_t mapped = std::max(sizeBytes, kAlignment);
    void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return noMemory(sizeBytes);
    auto storage = view(static_cast<std::byte*>(memory), sizeBytes,
                        std::shared_ptr<const void>(
                            memory, [mapped](const void* pointer) { munmap(const_cast<void*>(pointer), mapped); }),
                        true);
    if (fill) {
        storage->m_deferred = std::make_shared<Deferred>();
        storage->m_deferred->fill = std::move(fill);
    }
    return storage;
}

void Storage::fillOnce() const {
    std::call_once(m_deferred->filled, [this] {
        base::ActivityLog::read(base::MemoryKind::Weights, m_sizeBytes);
        m_deferred->fill(m_data);
        m_deferred->fill = {};
    });
}

std::shared_ptr<Storage> Storage::ofStrings(std::vector<std::string> strings) {
    auto storage = std::make_shared<Storage>();
    storage->m_strings = std::move(strings);
    storage->m_writable = true;
    return storage;
}

}  // namespace sonde::tensor
