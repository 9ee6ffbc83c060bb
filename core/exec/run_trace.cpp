#include "core/exec/run_trace.h"

#include <algorithm>
#include <utility>

#include "core/base/resident_memory.h"

namespace sonde::exec {

namespace {

/// Less memory is not worth the look.
constexpr std::size_t kMinRead = std::size_t{16} << 10;

template <typename Visit>
void forEachStorage(const tensor::Value& value, const Visit& visit) {
    if (value.isTensor() && value.tensor().storage()) visit(*value.tensor().storage());
    if (value.isListLike())
        for (const tensor::Value& item : value.items()) forEachStorage(item, visit);
    if (value.kind() == tensor::ValueKind::Dict)
        for (const auto& [key, item] : value.dictItems()) forEachStorage(item, visit);
}

/// A run of this thread is begun behind calls that pass no trace.
thread_local RunTrace* nextTrace = nullptr;

}  // namespace

RunTrace::Scope::Scope(RunTrace* trace) : m_before(std::exchange(nextTrace, trace)) {}
RunTrace::Scope::~Scope() { nextTrace = m_before; }
RunTrace* RunTrace::current() { return nextTrace; }

void RunTrace::begin(const graph::InternalGraph& graph, std::size_t unusedBytes) {
    const auto inUse = m_log->bytesInUse();
    for (std::size_t kind = 0; kind < inUse.size(); ++kind)
        if (kind != static_cast<std::size_t>(base::MemoryKind::Value) &&
            kind != static_cast<std::size_t>(base::MemoryKind::Lease))
            m_bytesBefore[kind] += inUse[kind];
    m_bytesBefore[static_cast<std::size_t>(base::MemoryKind::Block)] = static_cast<std::int64_t>(unusedBytes);
    m_log = base::ActivityLog::make();
    m_sums.assign(graph.exprCount(), {});
    m_bodyRuns.assign(graph.bodyCount(), 0);
    m_steps.clear();
    m_marks.clear();
    m_holdings.clear();
    m_held.clear();
    m_count = 0;
    m_readNs = m_endNs = 0;
    m_beginNs = base::ActivityLog::nowNs();
    m_reader.begin(*this);
}

/// Its time is in the total of what is running, and in nobody's own.
void RunTrace::readChunk() {
    const std::int64_t begin = base::ActivityLog::nowNs();
    auto [memory, work] = m_log->take();
    m_reader.read({std::exchange(m_marks, {}), std::exchange(m_holdings, {}), std::move(memory), std::move(work)});
    const std::int64_t elapsed = base::ActivityLog::nowNs() - begin;
    if (m_endNs == 0) m_readNs += elapsed;
    if (!m_open.empty()) m_open.back().insideNs += elapsed;
}

void RunTrace::end() {
    while (!m_open.empty()) leave();  // of a run that has failed
    m_endNs = base::ActivityLog::nowNs();
}

void RunTrace::enter(graph::ExprId expr) {
    if (m_marks.size() + m_holdings.size() + m_log->pending() >= m_chunk) readChunk();
    std::uint32_t step = kNone;
    const std::int64_t now = base::ActivityLog::nowNs();
    if (m_steps.size() < kMaxSteps) {
        step = static_cast<std::uint32_t>(m_steps.size());
        m_steps.push_back(
            {expr, now, now, m_open.empty() ? kNone : m_open.back().step, static_cast<std::uint32_t>(m_open.size())});
    }
    ++m_count;
    m_marks.push_back({now, expr, true});
    m_open.push_back({expr, now, 0, step});
}

void RunTrace::leave() {
    const Open open = m_open.back();
    m_open.pop_back();
    const std::int64_t now = base::ActivityLog::nowNs();
    const std::int64_t elapsed = now - open.beginNs;
    m_marks.push_back({now, open.expr, false});
    if (open.step != kNone) m_steps[open.step].endNs = now;
    if (!m_open.empty()) m_open.back().insideNs += elapsed;
    Sum& sum = m_sums[open.expr.index()];
    if (sum.count++ == 0) sum.firstNs = open.beginNs;
    sum.lastNs = now;
    sum.totalNs += elapsed;
    sum.selfNs += elapsed - open.insideNs;
}

/// What is made when it is first read (see Storage::deferred) is taken down there.
void RunTrace::reads(const tensor::Value& weights) {
    forEachStorage(weights, [this](const tensor::Storage& storage) {
        if (storage.writable() || storage.sizeBytes() < kMinRead || !m_read.insert(&storage).second) return;
        const std::size_t absent = base::absentBytes(storage.data(), storage.sizeBytes());
        if (absent > 0) base::ActivityLog::read(base::MemoryKind::Weights, absent);
    });
}

void RunTrace::holds(graph::NodeId node, const tensor::Value& value) {
    releases(node);
    forEachStorage(value, [&](const tensor::Storage& storage) {
        const auto block = m_log->blockOf(&storage);
        if (!block) return;
        auto& held = m_held[node];
        if (std::ranges::find(held, *block) != held.end()) return;
        held.push_back(*block);
        m_holdings.push_back({base::ActivityLog::nowNs(), node, *block, true});
    });
}

void RunTrace::releases(graph::NodeId node) {
    const auto found = m_held.find(node);
    if (found == m_held.end()) return;
    for (const std::uint64_t block : found->second)
        m_holdings.push_back({base::ActivityLog::nowNs(), node, block, false});
    m_held.erase(found);
}

}  // namespace sonde::exec
