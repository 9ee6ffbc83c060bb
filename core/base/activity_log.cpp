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

ActivityLog::Block ActivityLog::add(MemoryKind kind, std::size_t bytes, const void* owner) {
    const std::scoped_lock lock(m_mutex);
    const auto block = static_cast<std::uint32_t>(m_takenAt.size());
    m_takenAt.push_back(m_memory.size());
    m_memory.push_back({nowNs(), static_cast<std::int64_t>(bytes), block, kind, owner});
    if (owner) m_blockOf[owner] = block;
    return {m_self, block};
}

void ActivityLog::freed(std::uint32_t block) {
    const std::scoped_lock lock(m_mutex);
    const Memory& taken = m_memory[m_takenAt[block]];
    m_memory.push_back({nowNs(), -taken.bytes, block, taken.kind, nullptr});
}

void ActivityLog::read(MemoryKind kind, std::size_t bytes) {
    const auto& log = current();
    if (!log) return;
    const std::scoped_lock lock(log->m_mutex);
    log->m_takenAt.push_back(log->m_memory.size());
    log->m_memory.push_back({nowNs(), static_cast<std::int64_t>(bytes),
                             static_cast<std::uint32_t>(log->m_takenAt.size() - 1), kind, nullptr});
}

void ActivityLog::worked(std::size_t thread, std::int64_t beginNs, std::int64_t endNs) {
    const std::scoped_lock lock(m_mutex);
    m_work.push_back({thread, beginNs, endNs});
}

std::vector<ActivityLog::Memory> ActivityLog::memory() const {
    const std::scoped_lock lock(m_mutex);
    return m_memory;
}

std::vector<ActivityLog::Work> ActivityLog::work() const {
    const std::scoped_lock lock(m_mutex);
    return m_work;
}

std::optional<std::uint32_t> ActivityLog::blockOf(const void* owner) const {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_blockOf.find(owner);
    return found == m_blockOf.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sonde::base
