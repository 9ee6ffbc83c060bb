#pragma once

#include <functional>
#include <stop_token>

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// Rows of one head at data + b·batch + h·head + i·row.
template <typename T>
struct Heads {
    T* data = nullptr;
    std::int64_t batch = 0, head = 0, row = 0;
};

/// softmax(softcap(scale·Q·Kᵀ) + bias)·V for every batch and head, a block of queries at a time: long sequences need no
/// memory for all scores.
template <typename T>
struct AttentionCall {
    std::int64_t batches = 0, heads = 0, keyHeads = 0;  ///< heads / keyHeads query heads share one key head
    std::int64_t queries = 0, keys = 0, headSize = 0, valueSize = 0;
    Heads<const T> q, k, v;
    Heads<T> y;
    double scale = 1, softcap = 0;
    T emptyRow = 0;  ///< probabilities of a query that may attend to nothing
    /// Adds to (or sets to −Inf) one row of scores; may be null.
    std::function<void(std::int64_t batch, std::int64_t head, std::int64_t query, T* row)> bias;
    /// Shown the scores [count, keys] of queries from `query` on after a step: 0 product, 1 soft cap, 2 bias, 3
    /// softmax. May be null.
    std::function<void(std::int64_t batch, std::int64_t head, int step, std::int64_t query, std::int64_t count,
                       const T* scores)>
        watch;
    const std::stop_token* stop = nullptr;  ///< asked before each block; what is left then is not computed
};

template <typename T>
void attend(const AttentionCall<T>& call, base::ThreadPool& pool);

extern template void attend<float>(const AttentionCall<float>&, base::ThreadPool&);
extern template void attend<double>(const AttentionCall<double>&, base::ThreadPool&);

}  // namespace sonde::ops::kernels
