#include "core/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/activity_log.h"
#include "core/base/parallel_scope.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sonde::base {

namespace {

/// Workers look for new work that long before they sleep: kernels of one model follow each other within microseconds,
/// and waking costs about fifteen; but a debugger shares the machine with a browser and a compiler.
constexpr std::chrono::microseconds kSpinTime{100};
constexpr int kSpinsBetweenLooks = 64;

void relax() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

/// Calls isDone until it is true or the time is over.
template <typename F>
void spinUntil(F isDone) {
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < kSpinsBetweenLooks; ++i) {
            if (isDone()) return;
            relax();
        }
    } while (std::chrono::steady_clock::now() < end);
}

/// The chunks [begin, end) that one thread begins with. Kernels of one model cut their work alike, so that a thread
/// finds what it made before in its own cache. Who has finished takes from the end of somebody else's range.
class ChunkRange {
  public:
    void set(std::uint32_t begin, std::uint32_t end) { m_bounds.store(pack(begin, end)); }
    bool takeFirst(std::size_t& chunk) {
        std::uint64_t bounds = m_bounds.load();
        while (begin(bounds) < end(bounds)) {
            if (!m_bounds.compare_exchange_weak(bounds, pack(begin(bounds) + 1, end(bounds)))) continue;
            chunk = begin(bounds);
            return true;
        }
        return false;
    }
    bool takeLast(std::size_t& chunk) {
        std::uint64_t bounds = m_bounds.load();
        while (begin(bounds) < end(bounds)) {
            if (!m_bounds.compare_exchange_weak(bounds, pack(begin(bounds), end(bounds) - 1))) continue;
            chunk = end(bounds) - 1;
            return true;
        }
        return false;
    }

  private:
    static std::uint64_t pack(std::uint32_t begin, std::uint32_t end) { return std::uint64_t{begin} << 32 | end; }
    static std::uint32_t begin(std::uint64_t bounds) { return static_cast<std::uint32_t>(bounds >> 32); }
    static std::uint32_t end(std::uint64_t bounds) { return static_cast<std::uint32_t>(bounds); }

    alignas(64) std::atomic<std::uint64_t> m_bounds{0};
};

/// Set while a thread works on a chunk, so that a nested loop runs in place: the thread itself is what is busy.
thread_local bool insideChunk = false;

}  // namespace

bool insideParallelLoop() { return insideChunk; }

struct ThreadPool::State {
    std::vector<std::thread> workers;
    std::mutex oneLoop;  ///< held by the thread whose loop is running

    std::mutex mutex;
    std::condition_variable wake;      ///< workers: a new loop, or the end
    std::condition_variable finished;  ///< caller: nobody is inside any more
    std::atomic<std::uint64_t> generation{0};
    bool open = false;  ///< workers may join the current loop
    bool stopping = false;
    std::atomic<std::size_t> inside{0};

    const std::function<void(std::size_t, std::size_t)>* body = nullptr;
    std::size_t count = 0;
    std::size_t grain = 1;
    std::vector<ChunkRange> ranges;  ///< by thread; the caller is 0
    std::atomic<bool> failed{false};
    std::exception_ptr failure;        ///< the first that a chunk threw
    std::shared_ptr<ActivityLog> log;  ///< of the thread whose loop it is; null mostly

    void share(std::size_t chunks) {
        for (std::size_t t = 0; t < ranges.size(); ++t) {
            ranges[t].set(static_cast<std::uint32_t>(chunks * t / ranges.size()),
                          static_cast<std::uint32_t>(chunks * (t + 1) / ranges.size()));
        }
    }

    bool take(std::size_t thread, std::size_t& chunk) {
        if (failed.load(std::memory_order_relaxed)) return false;
        if (ranges[thread].takeFirst(chunk)) return true;
        for (std::size_t i = 1; i < ranges.size(); ++i) {
            if (ranges[(thread + i) % ranges.size()].takeLast(chunk)) return true;
        }
        return false;
    }

    void runChunks(std::size_t thread) {
        if (!log) return runPlain(thread);
        const ActivityLog::Scope scope(log);
        const std::int64_t begin = ActivityLog::nowNs();
        runPlain(thread);
        log->worked(thread, begin, ActivityLog::nowNs());
    }

    void runPlain(std::size_t thread) {
        insideChunk = true;
        for (std::size_t chunk = 0; take(thread, chunk);) {
            const std::size_t begin = chunk * grain;
            try {
                (*body)(begin, std::min(begin + grain, count));
            } catch (...) {
                std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                failed = true;
            }
        }
        insideChunk = false;
    }

    void work(std::size_t thread) {
        std::uint64_t seen = 0;
        for (;;) {
            spinUntil([&] { return generation.load(std::memory_order_acquire) != seen; });
            std::unique_lock lock(mutex);
            wake.wait(lock, [&] { return stopping || generation.load() != seen; });
            if (stopping) return;
            seen = generation.load();
            if (!open) continue;  // came too late: the others have done it all
            ++inside;
            lock.unlock();
            runChunks(thread);
            lock.lock();
            if (--inside == 0) finished.notify_one();
        }
    }

    /// No worker may join any more; waits for those inside.
    void close() {
        spinUntil([&] { return inside.load(std::memory_order_acquire) == 0; });
        std::unique_lock lock(mutex);
        open = false;
        finished.wait(lock, [&] { return inside.load() == 0; });
        body = nullptr;
        log = nullptr;
    }
};

ThreadPool::ThreadPool(std::size_t threads) : m_state(std::make_unique<State>()) {
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    State* state = m_state.get();
    state->ranges = std::vector<ChunkRange>(threads);
    for (std::size_t i = 1; i < threads; ++i) state->workers.emplace_back([state, i] { state->work(i); });
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard lock(m_state->mutex);
        m_state->stopping = true;
        ++m_state->generation;
    }
    m_state->wake.notify_all();
    for (std::thread& worker : m_state->workers) worker.join();
}

std::size_t ThreadPool::threads() const { return m_state->workers.size() + 1; }

void ThreadPool::parallelFor(std::size_t count, std::size_t grain,
                             const std::function<void(std::size_t, std::size_t)>& body) {
    if (count == 0) return;
    grain = std::max<std::size_t>({grain, 1, count >> 31});  // chunks are numbered in 32 bits
    State& state = *m_state;
    std::unique_lock loop(state.oneLoop, std::defer_lock);
    if (state.workers.empty() || insideChunk || count <= grain || !loop.try_lock()) {
        for (std::size_t begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count));
        return;
    }
    {
        std::lock_guard lock(state.mutex);
        state.body = &body;
        state.count = count;
        state.grain = grain;
        state.share((count + grain - 1) / grain);
        state.failed = false;
        state.log = ActivityLog::current();
        state.open = true;
        ++state.generation;
    }
    state.wake.notify_all();
    state.runChunks(0);
    state.close();
    if (state.failure) std::rethrow_exception(std::exchange(state.failure, nullptr));
}

}  // namespace sonde::base
