#include "core/ops/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/gemm.h"

namespace sonde::ops::kernels {

namespace {

/// In place; `empty` if nothing may be attended to.
template <typename T>
void softmaxRow(T* row, std::int64_t n, T empty) {
    T largest = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = 0; i < n; ++i) largest = row[i] > largest || std::isnan(row[i]) ? row[i] : largest;
    if (largest == -std::numeric_limits<T>::infinity()) {
        std::fill(row, row + n, empty);
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

/// Scores of one block: they stay in the second-level cache.
constexpr std::int64_t kMaxScores = std::int64_t{1} << 19;
/// Queries of a block are a multiple of that, so that the rows of tiles are full.
constexpr std::int64_t kQueryUnit = 56;

/// Depends on the shape alone, and with it the order of all sums.
std::int64_t queriesOfBlock(std::int64_t queries, std::int64_t keys) {
    if (queries * keys <= kMaxScores) return std::max<std::int64_t>(queries, 1);
    return std::max(kMaxScores / keys / kQueryUnit, std::int64_t{1}) * kQueryUnit;
}

/// C [m, n] = A·B with B from memory or packed.
template <typename T>
void multiply(GemmCall<T>& call, const PackedMatrix& packed, base::ThreadPool& pool) {
    if constexpr (std::is_same_v<T, float>) {
        if (!packed.empty()) call.rightPacked = &packed;
    }
    gemm(call, pool);
}

template <typename T>
void oneHead(const AttentionCall<T>& call, base::ThreadPool& pool, std::int64_t b, std::int64_t h) {
    const std::int64_t shared = h / (call.heads / call.keyHeads), step = queriesOfBlock(call.queries, call.keys);
    const MatrixView<T> keys{call.k.data + b * call.k.batch + shared * call.k.head, 1, call.k.row};
    const MatrixView<T> values{call.v.data + b * call.v.batch + shared * call.v.head, call.v.row, 1};
    PackedMatrix packedKeys, packedValues;
    if constexpr (std::is_same_v<T, float>) {
        if (step < call.queries) {
            packedKeys = PackedMatrix::right(keys, call.headSize, call.keys, pool);
            packedValues = PackedMatrix::right(values, call.keys, call.valueSize, pool);
        }
    }
    WorkBuffer<T> buffer(static_cast<std::size_t>(std::max<std::int64_t>(step * call.keys, 1)));
    T* const scores = buffer.data();
    const auto scale = static_cast<T>(call.scale), cap = static_cast<T>(call.softcap);
    for (std::int64_t first = 0; first < call.queries; first += step) {
        if (call.stop && call.stop->stop_requested()) return;
        const std::int64_t rows = std::min(step, call.queries - first), count = rows * call.keys;
        const auto watch = [&](int at) {
            if (call.watch) call.watch(b, h, at, first, rows, scores);
        };
        GemmCall<T> product;
        product.m = rows, product.n = call.keys, product.k = call.headSize;
        product.left = {call.q.data + b * call.q.batch + h * call.q.head + first * call.q.row, call.q.row, 1};
        product.right = keys;
        product.c = scores;
        product.ldc = call.keys;
        multiply(product, packedKeys, pool);
        for (std::int64_t i = 0; i < count; ++i) scores[i] *= scale;
        watch(0);
        if (cap > 0) {
            for (std::int64_t i = 0; i < count; ++i) scores[i] = cap * std::tanh(scores[i] / cap);
        }
        watch(1);
        for (std::int64_t i = 0; call.bias && i < rows; ++i) call.bias(b, h, first + i, scores + i * call.keys);
        watch(2);
        for (std::int64_t i = 0; i < rows; ++i) softmaxRow(scores + i * call.keys, call.keys, call.emptyRow);
        watch(3);
        GemmCall<T> sum;
        sum.m = rows, sum.n = call.valueSize, sum.k = call.keys;
        sum.left = {scores, call.keys, 1};
        sum.right = values;
        sum.c = call.y.data + b * call.y.batch + h * call.y.head + first * call.y.row;
        sum.ldc = call.y.row;
        multiply(sum, packedValues, pool);
    }
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
