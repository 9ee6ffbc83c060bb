#include "core/exec/block_cache.h"

#include <iterator>
#include <sys/mman.h>

#include "core/base/activity_log.h"

namespace sonde::exec {

namespace {

/// Smaller tensors are as quick from the heap.
constexpr std::size_t kMinSize = std::size_t{16} << 10;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Who goes to and fro between two inputs finds the blocks of both.
constexpr std::uint64_t kKeptRuns = 2;

/// Sizes are rounded up to an eighth of their power of two, so that runs with slightly different shapes share blocks.
std::size_t roundedSize(std::size_t size) {
    std::size_t power = kMinSize;
    while (power < size / 2) power *= 2;
    const std::size_t step = power / 8;
    return (size + step - 1) / step * step;
}

}  // namespace

BlockCache::BlockCache() : m_pool(std::make_shared<Pool>()) {}

base::Result<tensor::Tensor> BlockCache::allocate(std::size_t, tensor::DType dtype, const tensor::Shape& shape) {
    const auto count = shape.checkedNumel();
    const std::size_t itemSize = tensor::itemSize(dtype);
    if (!count || itemSize == 0 || static_cast<std::size_t>(*count) < kMinSize / itemSize ||
        static_cast<std::size_t>(*count) > tensor::memoryLimit() / itemSize) {
        return tensor::Tensor::allocate(dtype, shape);  // also makes the errors
    }
    const std::size_t size = roundedSize(static_cast<std::size_t>(*count) * itemSize);
    std::shared_ptr<tensor::Storage> block;
    std::uint64_t run = 0;
    {
        const std::scoped_lock lock(m_pool->mutex);
        run = m_pool->run;
        auto found = m_pool->unused.lower_bound(size);
        // Of blocks of one size the one that came back last: it is still in the cache.
        if (found != m_pool->unused.end()) found = std::prev(m_pool->unused.upper_bound(found->first));
        if (found != m_pool->unused.end() && found->first <= size + size / 4) {
            block = std::move(found->second.storage);
            m_pool->unused.erase(found);
        }
    }
    if (!block) {
        const base::ActivityLog::KindScope kind(base::MemoryKind::Block);
        SONDE_ASSIGN(block, tensor::Storage::allocate(size));
        if (size >= kHugePage) ::madvise(block->mutableData(), size, MADV_HUGEPAGE);
    }
    std::byte* data = block->mutableData();
    // The lease puts the block back when the last tensor on it goes; the pool lives as long as any lease.
    auto logged = base::ActivityLog::current() ? std::make_shared<base::ActivityLog::Block>() : nullptr;
    std::shared_ptr<const void> lease(data, [pool = m_pool, block, run, logged](const void*) {
        if (logged) *logged = {};
        const std::scoped_lock lock(pool->mutex);
        pool->unused.emplace(block->sizeBytes(), Block{block, run});
    });
    auto storage = tensor::Storage::view(data, size, std::move(lease), true);
    if (logged) *logged = base::ActivityLog::taken(base::MemoryKind::Lease, size, storage.get());
    return tensor::Tensor::onStorage(dtype, shape, std::move(storage));
}

void BlockCache::nextRun() {
    const std::scoped_lock lock(m_pool->mutex);
    ++m_pool->run;
    std::erase_if(m_pool->unused, [this](const auto& entry) { return entry.second.run + kKeptRuns < m_pool->run; });
}

void BlockCache::trim(std::size_t keptBytes) {
    std::vector<Block> freed;  // after the lock: giving memory back takes long
    const std::scoped_lock lock(m_pool->mutex);
    std::size_t bytes = 0;
    for (const auto& [size, block] : m_pool->unused) bytes += size;
    while (bytes > keptBytes) {
        const auto largest = std::prev(m_pool->unused.end());
        bytes -= largest->first;
        freed.push_back(std::move(largest->second));
        m_pool->unused.erase(largest);
    }
}

std::size_t BlockCache::unusedBytes() const {
    const std::scoped_lock lock(m_pool->mutex);
    std::size_t bytes = 0;
    for (const auto& [size, block] : m_pool->unused) bytes += size;
    return bytes;
}

}  // namespace sonde::exec
