#include "core/tensor/storage.h"

#include <algorithm>
#include <atomic>
#include <new>

#include <unistd.h>

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

}  // namespace

std::size_t memoryLimit() { return limit().load(std::memory_order_relaxed); }
void setMemoryLimit(std::size_t sizeBytes) { limit().store(sizeBytes, std::memory_order_relaxed); }

base::Result<std::shared_ptr<Storage>> Storage::allocate(std::size_t sizeBytes) {
    if (sizeBytes > memoryLimit()) {
        return base::runError("a tensor of " + std::to_string(sizeBytes) + " bytes is more than the memory limit of " +
                              std::to_string(memoryLimit()) + " bytes");
    }
    void* memory = ::operator new(std::max(sizeBytes, kAlignment), std::align_val_t{kAlignment}, std::nothrow);
    if (!memory) return base::runError("no memory for a tensor of " + std::to_string(sizeBytes) + " bytes");
    auto storage = std::make_shared<Storage>();
    storage->m_data = static_cast<std::byte*>(memory);
    storage->m_sizeBytes = sizeBytes;
    storage->m_writable = true;
    storage->m_owner = std::shared_ptr<const void>(memory, [](const void* pointer) {
        ::operator delete(const_cast<void*>(pointer), std::align_val_t{kAlignment});
    });
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

std::shared_ptr<Storage> Storage::ofStrings(std::vector<std::string> strings) {
    auto storage = std::make_shared<Storage>();
    storage->m_strings = std::move(strings);
    storage->m_writable = true;
    return storage;
}

}  // namespace sonde::tensor
