#include "core/ops/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/gemm.h"

namespace sonde::ops::kernels {

namespace {

/// In place; zeros if nothing may be attended to.
template <typename T>
void softmaxRow(T* row, std::int64_t n) {
    T largest = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = 0; i < n; ++i) largest = row[i] > largest || std::isnan(row[i]) ? row[i] : largest;
    if (largest == -std::numeric_limits<T>::infinity()) {
        std::fill(row, row + n, T{});
        return;
    }
    if constexpr (std::is_same_v<T, float>) {
        const float sum = floatKernels().expSum(row, largest, row, static_cast<std::size_t>(n));
        floatKernels().scaleShift(row, 1.0F / sum, 0.0F, row, static_cast<std::size_t>(n));
    } else {
        T sum{};
        for (std::int64_t i = 0; i < n; ++i) sum += row[i] = std::exp(row[i] - largest);
        for (std::int64_t i = 0; i < n; ++i) row[i] /= sum;
    }
}

template <typename T>
void oneHead(const AttentionCall<T>& call, base::ThreadPool& pool, std::int64_t b, std::int64_t h) {
    const std::int64_t shared = h / (call.heads / call.keyHeads);
    const std::int64_t count = call.queries * call.keys;
    WorkBuffer<T> buffer(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)));
    T* scores = buffer.data();
    GemmCall<T> product;
    product.m = call.queries, product.n = call.keys, product.k = call.headSize;
    product.left = {call.q.data + b * call.q.batch + h * call.q.head, call.q.row, 1};
    product.right = {call.k.data + b * call.k.batch + shared * call.k.head, 1, call.k.row};
    product.c = scores;
    product.ldc = call.keys;
    gemm(product, pool);
    const auto scale = static_cast<T>(call.scale), cap = static_cast<T>(call.softcap);
    for (std::int64_t i = 0; i < count; ++i) scores[i] *= scale;
    if (call.watch) call.watch(b, h, 0, scores);
    if (cap > 0) {
        for (std::int64_t i = 0; i < count; ++i) scores[i] = cap * std::tanh(scores[i] / cap);
    }
    if (call.watch) call.watch(b, h, 1, scores);
    if (call.bias) {
        for (std::int64_t i = 0; i < call.queries; ++i) call.bias(b, h, i, scores + i * call.keys);
    }
    if (call.watch) call.watch(b, h, 2, scores);
    for (std::int64_t i = 0; i < call.queries; ++i) softmaxRow(scores + i * call.keys, call.keys);
    if (call.watch) call.watch(b, h, 3, scores);
    GemmCall<T> sum;
    sum.m = call.queries, sum.n = call.valueSize, sum.k = call.keys;
    sum.left = {scores, call.keys, 1};
    sum.right = {call.v.data + b * call.v.batch + shared * call.v.head, call.v.row, 1};
    sum.c = call.y.data + b * call.y.batch + h * call.y.head;
    sum.ldc = call.y.row;
    gemm(sum, pool);
}

}  // namespace

template <typename T>
void attend(const AttentionCall<T>& call, base::ThreadPool& pool) {
    pool.parallelFor(static_cast<std::size_t>(call.batches * call.heads), 1, [&](std::size_t begin, std::size_t end) {
        for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end); ++task) {
            oneHead(call, pool, task / call.heads, task % call.heads);
        }
    });
}

template void attend<float>(const AttentionCall<float>&, base::ThreadPool&);
template void attend<double>(const AttentionCall<double>&, base::ThreadPool&);

}  // namespace sonde::ops::kernels
