#include "core/base/activity_log.h"

#include <chrono>

namespace sonde::base {

namespace {

/// Memory is taken where no log is passed; each thread writes to the log of the run that it works for.
std::shared_ptr<ActivityLog>& currentLog() {
    thread_local std::shared_ptr<ActivityLog> log;
    return log;
}

/// Of what this thread takes: a kernel that packs weights allocates them as any tensor.
thread_local MemoryKind kindOfValues = MemoryKind::Value;

}  // namespace

ActivityLog::Scope::Scope(const std::shared_ptr<ActivityLog>& log) : m_before(std::exchange(currentLog(), log)) {}
ActivityLog::Scope::~Scope() { currentLog() = std::move(m_before); }

ActivityLog::KindScope::KindScope(MemoryKind kind) : m_before(std::exchange(kindOfValues, kind)) {}
ActivityLog::KindScope::~KindScope() { kindOfValues = m_before; }

std::shared_ptr<ActivityLog> ActivityLog::make() {
    auto log = std::make_shared<ActivityLog>();
    log->m_self = log;
    return log;
}

const std::shared_ptr<ActivityLog>& ActivityLog::current() { return currentLog(); }
MemoryKind ActivityLog::valueKind() { return kindOfValues; }

std::int64_t ActivityLog::nowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void ActivityLog::record(const Memory& memory) {
    m_records.memory.push_back(memory);
    m_bytesInUse[static_cast<std::size_t>(memory.kind)] += memory.bytes;
    m_pending.fetch_add(1, std::memory_order_relaxed);
}

ActivityLog::Block ActivityLog::add(MemoryKind kind, std::size_t bytes, const void* owner) {
    if (bytes == 0) return {};
    const std::scoped_lock lock(m_mutex);
    const std::uint64_t block = m_nextBlock++;
    m_inUse[block] = {static_cast<std::int64_t>(bytes), kind, owner};
    if (owner) m_blockOf[owner] = block;
    record({nowNs(), static_cast<std::int64_t>(bytes), block, kind, owner});
    return {m_self, block};
}

void ActivityLog::freed(std::uint64_t block) {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_inUse.find(block);
    const Taken taken = found->second;
    m_inUse.erase(found);
    // Another block may be at the address of the owner by now.
    if (const auto owned = m_blockOf.find(taken.owner); owned != m_blockOf.end() && owned->second == block)
        m_blockOf.erase(owned);
    record({nowNs(), -taken.bytes, block, taken.kind, nullptr});
}

void ActivityLog::read(MemoryKind kind, std::size_t bytes) {
    const auto& log = current();
    if (!log) return;
    const std::scoped_lock lock(log->m_mutex);
    log->record({nowNs(), static_cast<std::int64_t>(bytes), log->m_nextBlock++, kind, nullptr});
}

void ActivityLog::worked(std::size_t thread, std::int64_t beginNs, std::int64_t endNs) {
    if (thread == 0) return;
    const std::scoped_lock lock(m_mutex);
    m_records.work.push_back({thread, beginNs, endNs});
    m_pending.fetch_add(1, std::memory_order_relaxed);
}

ActivityLog::Records ActivityLog::take() {
    const std::scoped_lock lock(m_mutex);
    m_pending.store(0, std::memory_order_relaxed);
    return std::exchange(m_records, {});
}

std::array<std::int64_t, kMemoryKinds> ActivityLog::bytesInUse() const {
    const std::scoped_lock lock(m_mutex);
    return m_bytesInUse;
}

std::optional<std::uint64_t> ActivityLog::blockOf(const void* owner) const {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_blockOf.find(owner);
    return found == m_blockOf.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sonde::base
