#include "core/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sonde::base {

namespace {

/// Workers look for new work this many times before they sleep: kernels of one model follow each other within
/// microseconds, but a debugger shares the machine with a browser and a compiler.
constexpr int kSpins = 2000;

void relax() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

/// Set while a thread works on a chunk, so that a nested loop runs in place.
thread_local bool insideChunk = false;

}  // namespace

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
    std::atomic<std::size_t> next{0};  ///< number of the next chunk
    std::exception_ptr failure;        ///< the first that a chunk threw

    void runChunks() {
        insideChunk = true;
        const std::size_t chunks = (count + grain - 1) / grain;
        for (std::size_t chunk = next.fetch_add(1); chunk < chunks; chunk = next.fetch_add(1)) {
            const std::size_t begin = chunk * grain;
            try {
                (*body)(begin, std::min(begin + grain, count));
            } catch (...) {
                std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next.store(chunks);
            }
        }
        insideChunk = false;
    }

    void work() {
        std::uint64_t seen = 0;
        for (;;) {
            for (int i = 0; i < kSpins && generation.load(std::memory_order_acquire) == seen; ++i) relax();
            std::unique_lock lock(mutex);
            wake.wait(lock, [&] { return stopping || generation.load() != seen; });
            if (stopping) return;
            seen = generation.load();
            if (!open) continue;  // came too late: the others have done it all
            ++inside;
            lock.unlock();
            runChunks();
            lock.lock();
            if (--inside == 0) finished.notify_one();
        }
    }

    /// No worker may join any more; waits for those inside.
    void close() {
        for (int i = 0; i < kSpins && inside.load(std::memory_order_acquire) != 0; ++i) relax();
        std::unique_lock lock(mutex);
        open = false;
        finished.wait(lock, [&] { return inside.load() == 0; });
        body = nullptr;
    }
};

ThreadPool::ThreadPool(std::size_t threads) : m_state(std::make_unique<State>()) {
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    State* state = m_state.get();
    for (std::size_t i = 1; i < threads; ++i) state->workers.emplace_back([state] { state->work(); });
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
    grain = std::max<std::size_t>(grain, 1);
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
        state.next.store(0);
        state.open = true;
        ++state.generation;
    }
    state.wake.notify_all();
    state.runChunks();
    state.close();
    if (state.failure) std::rethrow_exception(std::exchange(state.failure, nullptr));
}

}  // namespace sonde::base
