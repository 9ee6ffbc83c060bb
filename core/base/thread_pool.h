#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace sonde::base {

/// Splits loops over a fixed number of threads, the caller's among them. Chunks are handed out one by one, so uneven
/// work evens out. What a chunk computes may not depend on which thread runs it nor on how many there are.
/// One parallelFor at a time per pool: nested calls run in the calling thread.
class ThreadPool {
  public:
    /// `threads` counts the caller: 1 runs everything in place. 0 means one per processor.
    explicit ThreadPool(std::size_t threads = 0);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::size_t threads() const;

    /// Calls body(begin, end) for pieces of [0, count) of `grain` items (the last may be shorter), in parallel; returns
    /// when all are done. The cut into pieces depends on count and grain alone. What a
    /// body throws (no memory) ends the loop and is thrown again here.
    void parallelFor(std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& body);

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace sonde::base
